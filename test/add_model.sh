#!/usr/bin/env bash
# tosac_add_model() of cmake/: a program with digits inside is built, again when the model changes, and not when nothing does.    add_model.sh TOSAC
set -uo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "${1:?add_model.sh TOSAC}") here=$PWD work=$(mktemp -d) good=0 bad=0
trap 'rm -rf "$work"' EXIT
try() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/said" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$name:" && tail -10 "$work/said"; fi
}
cp test/fixture/digits/model.pt2 "$work/digits.pt2" && cp test/fixture/digits/calib.npz "$work"
printf '#include "digits.h"\nint main(void) { return 0; }\n' >"$work/main.c"
cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(firmware C)
include($here/cmake/tosac_add_model.cmake)
set(TOSAC_COMMAND $tosac)
add_executable(fw main.c)
tosac_add_model(TARGET fw MODEL digits.pt2 BOARD nucleo-h743zi CALIB calib.npz)
END
builds() { cmake --build "$work/build"; }
idle() { builds >"$work/log" && grep -q 'no work to do' "$work/log"; }
again() { sleep 1 && touch "$1" && builds >"$work/log" && grep -q 'tosac: digits' "$work/log"; }
try "configured" cmake -G Ninja -S "$work" -B "$work/build"
try "built" builds
try "nothing to do" idle
try "the model changed" again "$work/digits.pt2"
try "the data changed" again "$work/calib.npz"
try "the model's function is inside" sh -c "nm '$work/build/fw' | grep -qi ' T .*digits'"
head -c 100 test/fixture/digits/model.pt2 >"$work/digits.pt2"
refused() { ! builds >"$work/refused" && grep -q 'error: the archive has no end record' "$work/refused"; }
try "a bad model stops the build with its message" refused
echo "$good passed, $bad failed"
[ $bad = 0 ]
