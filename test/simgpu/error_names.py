#!/usr/bin/env python3
"""Writes the tables of error names from NVIDIA's headers: error_names.py INCLUDE_DIR OUTPUT"""

import pathlib
import re
import sys

# In a few words what the frequent ones mean; others are said by their name.
TEXTS = {
    0: "no error", 1: "invalid argument", 2: "out of memory", 3: "initialization error",
    4: "driver shutting down", 9: "invalid configuration argument", 13: "invalid device symbol",
    17: "invalid device pointer", 21: "invalid copy direction", 98: "invalid device function",
    100: "no CUDA-capable device is detected", 101: "invalid device ordinal",
    200: "device kernel image is invalid", 201: "invalid device context",
    217: "peer access is not supported between these two devices", 301: "file not found",
    400: "invalid resource handle", 401: "the operation cannot be performed in the present state",
    500: "named symbol not found", 600: "device not ready",
    704: "peer access is already enabled", 705: "peer access has not been enabled",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    720: "too many blocks in cooperative launch", 800: "operation not permitted",
    801: "operation not supported", 900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    904: "dependency created on uncaptured work in another stream",
    906: "operation would make the legacy stream depend on a capturing blocking stream",
    907: "operation not permitted on an event last recorded in a capturing stream",
    910: "the graph update was not performed because it included changes which violated constraints",
    912: "cluster misconfiguration", 999: "unknown error",
}


def enumerators(header, enum, prefix):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8", errors="replace"), flags=re.S)
    body = re.search(r"enum[^{;]*\b%s\s*\{(.*?)\}" % enum, text, re.S).group(1)
    return {int(number, 0): name for name, number in re.findall(r"(%s\w+)\s*=\s*(\w+)" % prefix, body)}


def table(name, entries):
    rows = "\n".join(f'    {{{number}, "{text}"}},' for number, text in sorted(entries.items()))
    return f"const std::map<int, const char*>& {name}() {{\n  static const std::map<int, const char*> all = {{\n{rows}\n  }};\n  return all;\n}}\n"


def main(include_dir, output):
    include_dir = pathlib.Path(include_dir)
    driver = enumerators(include_dir / "cuda.h", "cudaError_enum", "CUDA_")
    runtime = enumerators(include_dir / "driver_types.h", "cudaError", "cuda")
    texts = {number: TEXTS.get(number, name) for number, name in {**driver, **runtime}.items()}
    pathlib.Path(output).write_text(f"""// Written by error_names.py from NVIDIA's headers.
#include "test/simgpu/engine/error_names.hpp"

#include <map>

namespace gprofml::simgpu {{
namespace {{
{table("driver_names", driver)}
{table("runtime_names", runtime)}
{table("texts", texts)}
const char* look_up(const std::map<int, const char*>& all, int error) {{
  const auto found = all.find(error);
  return found != all.end() ? found->second : nullptr;
}}
}}  // namespace

const char* error_name(int error, bool driver) {{
  return look_up(driver ? driver_names() : runtime_names(), error);
}}

const char* error_text(int error) {{ return look_up(texts(), error); }}

}}  // namespace gprofml::simgpu
""", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
