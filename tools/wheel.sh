#!/usr/bin/env bash
# The Python package as a wheel.        wheel.sh [FOLDER [BUILD]]: where it goes (build/dist), and a build to take the library from
#
# BUILD may be a machine of tools/cross.sh, arm or windows: the library is built for it, and the wheel is one for aarch64 or win_amd64.
#
# BUILD is build unless told, so that what `make` or `make demo` compiled is not compiled again: optimised, and with its
# assertions, which end a wrong step where it is made.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/dist} from=${2:-build}
if [ -z "${2:-}" ]; then
    tools/setup.sh demo # neither clang nor what else the tests want
    launcher=()
    [ -e "$from/CMakeCache.txt" ] || ! command -v ccache >/dev/null || launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B "$from" -G Ninja "${launcher[@]}" >/dev/null
    tools/ninja.sh "$from" "$from/wheel.log" tosac libtosac-shared || { tail -20 "$from/wheel.log" && exit 1; }
fi
case $from in
arm | windows)
    tools/cross.sh "$from" tosac libtosac-shared
    from=build/$from/build
    ;;
esac
tools/setup.sh wheel
python3 python/wheel.py "$from" "$out"
