#include "libprofile/capture/recording_recipe.hpp"

#include <fmt/format.h>

#include "libprofile/capture/environment.hpp"
#include "libprofile/spool/options.hpp"

namespace gprofml::profile {
namespace {

constexpr char kLibraryInside[] = "/opt/gprof-ml/libgprofml_injection.so";
constexpr char kFolderInside[] = "/opt/gprof-ml/spool";

/// The variables as they are to be inside a container, whatever is set outside.
std::map<std::string, std::string> variables_inside(const RecordingRecipe& recipe) {
  std::map<std::string, std::string> variables =
      recording_environment(kLibraryInside, kFolderInside, [](const char*) {
        return static_cast<const char*>(nullptr);
      }).variables;
  if (!recipe.options.empty()) variables[spool::kOptionsVariable] = recipe.options;
  return variables;
}

std::string collect_command(const RecordingRecipe& recipe) {
  return "gprof-ml recover " + shell_word(recipe.folder) + " -o run.db";
}

/// A line of its own; empty where there is nothing to be done.
std::string meanwhile(const RecordingRecipe& recipe) {
  if (!recipe.is_paused) return {};
  return fmt::format("# To record while it runs: gprof-ml control start --folder {}\n",
                     shell_word(recipe.folder));
}

std::string exports(const RecordingRecipe& recipe) {
  std::string out;
  for (const auto& [name, value] : recipe.variables) {
    out += fmt::format("export {}={}\n", name, shell_word(value));
  }
  if (!recipe.options.empty()) {
    out += fmt::format("export {}={}\n", spool::kOptionsVariable, shell_word(recipe.options));
  }
  return out;
}

std::string shell_text(const RecordingRecipe& recipe) {
  return fmt::format(
      "# What this shell starts from here on records itself.\n"
      "{}# Afterwards: {}\n{}",
      meanwhile(recipe), collect_command(recipe), exports(recipe));
}

std::string docker_text(const RecordingRecipe& recipe) {
  std::string options;
  const auto mount = [&](const std::string& outside, const char* inside, const char* rights) {
    options +=
        fmt::format("  -v {} \\\n", shell_word(fmt::format("{}:{}{}", outside, inside, rights)));
  };
  mount(recipe.library, kLibraryInside, ":ro");
  mount(recipe.folder, kFolderInside, "");
  for (const auto& [name, value] : variables_inside(recipe)) {
    options += fmt::format("  -e {} \\\n", shell_word(name + "=" + value));
  }
  return fmt::format(
      "# Put image, program and your own options into this. Images need glibc (Alpine has none).\n"
      "{}# Afterwards: {}\n"
      "docker run --gpus all \\\n{}  IMAGE PROGRAM\n",
      meanwhile(recipe), collect_command(recipe), options);
}

/// A double-quoted YAML scalar.
std::string yaml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string kubernetes_text(const RecordingRecipe& recipe) {
  std::string variables;
  for (const auto& [name, value] : variables_inside(recipe)) {
    variables += fmt::format("        - name: {}\n          value: {}\n", name, yaml_text(value));
  }
  return fmt::format(
      "# Save as gprof-ml.yaml, put in the container's name, and:\n"
      "#   kubectl patch deployment NAME --patch-file gprof-ml.yaml\n"
      "# Library and folder must be on the node that runs the pod.\n"
      "{}# Afterwards, on that node: {}\n"
      "spec:\n"
      "  template:\n"
      "    spec:\n"
      "      containers:\n"
      "      - name: CONTAINER\n"
      "        env:\n{}"
      "        volumeMounts:\n"
      "        - name: gprof-ml-recorder\n"
      "          mountPath: {}\n"
      "          readOnly: true\n"
      "        - name: gprof-ml-spool\n"
      "          mountPath: {}\n"
      "      volumes:\n"
      "      - name: gprof-ml-recorder\n"
      "        hostPath:\n"
      "          path: {}\n"
      "          type: File\n"
      "      - name: gprof-ml-spool\n"
      "        hostPath:\n"
      "          path: {}\n"
      "          type: DirectoryOrCreate\n",
      meanwhile(recipe), collect_command(recipe), variables, kLibraryInside, kFolderInside,
      yaml_text(recipe.library), yaml_text(recipe.folder));
}

std::string slurm_text(const RecordingRecipe& recipe) {
  return fmt::format(
      "# In the batch script before srun. Library and folder must be on a file system that all\n"
      "# nodes see. With --container-image add to srun:\n"
      "#   --container-mounts={}\n"
      "{}# Afterwards: {}\n"
      "{}"
      "export SLURM_EXPORT_ENV=ALL\n",
      shell_word(fmt::format("{0}:{0}:ro,{1}:{1}", recipe.library, recipe.folder)),
      meanwhile(recipe), collect_command(recipe), exports(recipe));
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string recipe_text(const RecordingRecipe& recipe, RecipeForm form) {
  switch (form) {
    case RecipeForm::shell:
      return shell_text(recipe);
    case RecipeForm::docker:
      return docker_text(recipe);
    case RecipeForm::kubernetes:
      return kubernetes_text(recipe);
    case RecipeForm::slurm:
      return slurm_text(recipe);
  }
  return {};
}

}  // namespace gprofml::profile
