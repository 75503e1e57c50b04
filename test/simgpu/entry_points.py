#!/usr/bin/env python3
"""Writes the entry points of the simulated driver or runtime from NVIDIA's own parameter headers.

entry_points.py driver|runtime INCLUDE_DIR OUTPUT IMPLEMENTATION.cpp...

Each function that CUPTI can trace has a struct of its parameters in generated_*_meta.h: its fields
are the function's arguments. An entry point wraps the implementation of the same name, found in the
sources as a definition at the start of a line, with everything a call is: time, correlation, what
observers are told. _ptsz and _ptds twins come by themselves. A runtime function that nobody
implements says so when it is called; a driver function that nobody implements does not exist.
"""

import pathlib
import re
import sys

STRUCT = re.compile(r"typedef struct (\w+)_params_st \{(.*?)\} \w+;", re.S)
TWIN = re.compile(r"_(ptsz|ptds)$")
# Traced, but without parameters and hence without a struct.
WITHOUT_PARAMETERS = {
    "runtime": ["cudaDeviceReset_v3020", "cudaDeviceSynchronize_v3020", "cudaProfilerStart_v4000",
                "cudaProfilerStop_v4000"],
    "driver": ["cuCtxSynchronize", "cuProfilerStart", "cuProfilerStop"],
}
# Written by hand: they return no error code, or must not become the last error.
BY_HAND = {"cudaGetErrorString", "cudaGetErrorName", "cudaCreateChannelDesc", "cudaGetLastError",
           "cudaPeekAtLastError"}


def parse(header):
    """(name with version, [(type, argument)]) of each function in a header."""
    for name, body in STRUCT.findall(header.read_text(encoding="utf-8", errors="replace")):
        fields = [line.strip().rstrip(";") for line in body.strip().splitlines() if line.strip()]
        yield name, [re.fullmatch(r"(.*?)(\w+)", field).groups() for field in fields]


def implemented(sources, result_type):
    """Names of the functions that the sources define."""
    pattern = re.compile(r"^%s (cu\w+)\(" % result_type, re.M)
    return {name for source in sources for name in pattern.findall(source.read_text(encoding="utf-8"))}


def entry(kind, name, arguments, has_struct, known):
    """One entry point, or '' when the function shall not exist."""
    symbol = re.sub(r"_v\d+$", "", name) if kind == "runtime" else name
    base = TWIN.sub("", symbol)
    if symbol in BY_HAND or (kind == "driver" and base not in known):
        return "", "", ""
    result, enum = {"runtime": ("cudaError_t", "CUPTI_RUNTIME_TRACE_CBID_"),
                    "driver": ("CUresult", "CUPTI_DRIVER_TRACE_CBID_")}[kind]
    declared = ", ".join(f"{type_}{argument}" for type_, argument in arguments)
    passed = ", ".join(argument for _, argument in arguments)
    body = f"{kind}::{base}({passed})" if base in known else f'not_supported("{symbol}")'
    declaration = f"{result} {base}({declared});" if base in known and base == symbol else ""
    structure = f"const {name}_params parameters{{{passed}}};" if has_struct else "const char parameters = 0;"
    definition = f"""{result} {symbol}({declared}) {{
  {structure}
  return {kind}_call({{ApiCall::Domain::{kind}, {enum}{name}, "{name}", "{base}", {str(base != symbol).lower()}}},
                      parameters, [&] {{ return {body}; }});
}}
"""
    return declaration, definition, symbol


def main(kind, include_dir, output, sources):
    include_dir = pathlib.Path(include_dir)
    header, cbids, result = {
        "runtime": ("generated_cuda_runtime_api_meta.h", "cupti_runtime_cbid.h", "cudaError_t"),
        "driver": ("generated_cuda_meta.h", "cupti_driver_cbid.h", "CUresult")}[kind]
    known = implemented([pathlib.Path(source) for source in sources], result) - BY_HAND
    functions = [(name, arguments, True) for name, arguments in parse(include_dir / header)]
    functions += [(name, [], False) for name in WITHOUT_PARAMETERS[kind]]
    declarations, definitions, symbols = zip(*(entry(kind, *function, known) for function in functions))
    symbols = sorted(symbol for symbol in symbols if symbol)
    unknown = known - {TWIN.sub("", symbol) for symbol in symbols}
    if unknown:
        sys.exit(f"{header} knows no {', '.join(sorted(unknown))}")
    table = "\n".join(f'    {{"{symbol}", reinterpret_cast<void*>(&::{symbol})}},' for symbol in symbols)
    pathlib.Path(output).write_text(f"""// Written by entry_points.py from NVIDIA's {header}.
{'#define __CUDA_API_VERSION_INTERNAL  // the types of old versions' if kind == 'driver' else ''}
#include <{header}>
#include <{cbids}>

#include "test/simgpu/{'cudart' if kind == 'runtime' else 'cuda'}/entry_points.hpp"

namespace gprofml::simgpu::{kind} {{
{chr(10).join(line for line in declarations if line)}
}}  // namespace gprofml::simgpu::{kind}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old functions exist all the same
using namespace gprofml::simgpu;
extern "C" {{
{chr(10).join(definition for definition in definitions if definition)}
}}  // extern "C"

namespace gprofml::simgpu::{kind} {{
const std::vector<EntryPoint>& entry_points() {{
  static const std::vector<EntryPoint> all = {{
{table}
  }};
  return all;
}}
}}  // namespace gprofml::simgpu::{kind}
""", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
