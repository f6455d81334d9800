#!/usr/bin/env bash
# The Python package as a wheel.        wheel.sh [FOLDER [BUILD]]: where it goes (build/dist), and a build to take the library from
#
# Without BUILD the library is built as for the Debian package: optimised, without assertions.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/dist} from=${2:-}
if [ -z "$from" ]; then
    from=build-deb
    launcher=()
    command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B $from -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
    ninja -C $from tosac libtosac-shared >/dev/null
fi
tools/setup.sh wheel
python3 python/wheel.py "$from" "$out"
