// How somebody else starts a program so that it is recorded: what `gprof-ml env` prints.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gprofml::profile {

enum class RecipeForm : std::uint8_t { shell, docker, kubernetes, slurm };

struct RecordingRecipe {
  std::string library;                           ///< the recorder; absolute
  std::string folder;                            ///< the spools; absolute
  std::map<std::string, std::string> variables;  ///< for programs outside a container
  std::string options;     ///< what is recorded, as options_text has it; empty: the default
  bool is_paused = false;  ///< nothing is recorded until `gprof-ml control` says so
};

/// Text to paste, with comments that say where. In containers library and folder have paths of
/// their own, and the variables name those.
std::string recipe_text(const RecordingRecipe& recipe, RecipeForm form);

/// `text` as one word of a shell.
std::string shell_word(const std::string& text);

}  // namespace gprofml::profile
