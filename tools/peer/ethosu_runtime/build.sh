#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds `runner`: the C++ runtime that ExecuTorch 1.5.1's package brings, EthosUBackend from ExecuTorch's sources, our executor as its machine.
#
#   build.sh PYTHON SOURCES BUILD RUNNER    PYTHON: one with executorch 1.5.1 (or later); SOURCES: a checkout of ExecuTorch, of which
#                                           backends/arm/runtime is used; BUILD: tosac's build folder with libtosac.a; RUNNER: what is written
set -euo pipefail
python=$1 sources=$2 build=$3 runner=$4 here=$(cd "$(dirname "$0")" && pwd)
package=$("$python" -c 'import importlib.util as u; print(u.find_spec("executorch").submodule_search_locations[0])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/executorch/backends/arm"
cp -r "$sources/backends/arm/runtime" "$work/executorch/backends/arm/runtime"
cc -std=c11 -O2 -I "$here/../../../src" -I "$here/../../../include" -c "$here/npu.c" -o "$work/npu.o"
arm=$work/executorch/backends/arm/runtime
c++ -std=c++17 -O1 -w -DC10_USING_CUSTOM_GENERATED_MACROS -I "$work" -I "$package/include" -I "$package/include/executorch/runtime/core/portable_type/c10" \
    "$here/runner.cpp" "$arm/EthosUBackend.cpp" "$arm/VelaBinStream.cpp" "$arm/EthosUBackend_IoMemcpy.cpp" "$work/npu.o" "$build/libtosac.a" \
    -L "$package/lib" -Wl,-rpath,"$package/lib" -Wl,--no-as-needed -lexecutorch -lexecutorch_kernels_optimized -lexecutorch_kernels_quantized -lexecutorch_threadpool \
    -Wl,--as-needed -lz -lm -lpthread -ldl -o "$runner"
