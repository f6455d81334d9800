#!/usr/bin/env bash
# 64-bit Arm: cross build, then unit, golden and conformance tests under qemu-user; the files that it writes are those of
# this machine, byte for byte; and the NEON kernels ran.        check-arm.sh [--all] [--part PART] [BUILD of this machine]
#
# Emulation is some thirty times slower than the machine, so every fifth golden file, TOSA case and operator is run, and the
# unit tests that run whole models over many samples are left out; --all runs all.  What is left out is counted as skipped.
# PART is one of units, golden, suites, files, which may run abreast; how long each step took is in build/arm/times-PART.
#
# tools/cross.sh brings the compiler, the emulation and the libraries, and builds.
set -uo pipefail
cd "$(dirname "$0")/.."
every=5 part=all
whole_models='api_advise|api_compile|api_context|api_model|api_quantize|api_run|api_threads|board|cycles|quant_methods|quant_parts|road|tflite_write'
[ "${1:-}" != --all ] || { every=1 whole_models=none && shift; }
[ "${1:-}" != --part ] || { part=$2 && shift 2; }
case $part in all | units | golden | suites | files) ;; *) echo "check-arm.sh: no part is called '$part'" >&2 && exit 2 ;; esac
here=${1:-build} arm=$PWD/build/arm
export TOSAC_ARM_ROOT=${TOSAC_ARM_ROOT:-$arm/root}
good=0 bad=0 left=0
mkdir -p "$arm"
: >"$arm/times-$part"
asked() { [ "$part" = all ] || [ "$part" = "$1" ]; }
took() { printf '%6d s  %s\n' $((SECONDS - $1)) "$2" >>"$arm/times-$part"; } # SINCE WORDS

check() { # WORDS COMMAND...
    local words=$1 since=$SECONDS
    shift
    if "$@" >"$arm/log-$part" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "$words"
        grep -vE '^\[[0-9]+/[0-9]+\]' "$arm/log-$part" | tail -20
    fi
    took "$since" "$words"
}

on_arm() { # PROGRAM ARGUMENTS...
    qemu-aarch64 -L "$TOSAC_ARM_ROOT" "$@"
}

# What a program says about itself, added to ours.
counted() { # WORDS COMMAND...
    local words=$1 g b since=$SECONDS
    shift
    "$@" >"$arm/log-$part" 2>&1
    local code=$?
    read -r g b < <(grep -oE '[0-9]+ passed, [0-9]+ failed' "$arm/log-$part" | awk '{g += $1; b += $3} END {print g + 0, b + 0}')
    [ $code = 0 ] || [ "$b" != 0 ] || b=1
    [ "$g" != 0 ] || b=$((b + 1))
    [ "$b" = 0 ] || { echo "$words"; tail -20 "$arm/log-$part"; }
    good=$((good + g)) bad=$((bad + b))
    took "$since" "$words"
}

# Golden files run tosac as a program: here through a script that emulates it.
emulated() {
    printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s/build/tosac "$@"\n' "$TOSAC_ARM_ROOT" "$arm" >"$arm/tosac-$part" && chmod +x "$arm/tosac-$part"
}

# With 32 random samples: over the 128 of the fixture a compile takes more than a minute of emulation.
same_file() { # TARGET EXTENSION
    local digits=test/fixture/digits
    on_arm "$arm/build/tosac" compile $digits/model.pt2 -t "$1" --calib random:1 -o "$arm/arm.$2" &&
        "$here/tosac" compile $digits/model.pt2 -t "$1" --calib random:1 -o "$arm/here.$2" &&
        cmp "$arm/arm.$2" "$arm/here.$2"
}

# The package for Python and the one for Debian, unpacked and run by an Arm Python and by itself.
wheel_works() {
    rm -rf "$arm/dist" "$arm/unpacked" && python3 python/wheel.py "$arm/build" "$arm/dist" && mkdir -p "$arm/unpacked" || return 1
    python3 -m zipfile -e "$arm"/dist/tosac-*_aarch64.whl "$arm/unpacked" || return 1
    chmod +x "$arm/unpacked/tosac/_lib/tosac"
    on_arm "$arm/unpacked/tosac/_lib/tosac" compile test/fixture/digits/model.pt2 -t ethos-u85-256 --calib random:1 -o "$arm/wheel.pte" &&
        "$here/tosac" compile test/fixture/digits/model.pt2 -t ethos-u85-256 --calib random:1 -o "$arm/here.pte" &&
        cmp "$arm/wheel.pte" "$arm/here.pte"
}
library_in_python() { # without NumPy, which Debian's Python here has not: the bindings and the library
    QEMU_LD_PREFIX="$TOSAC_ARM_ROOT" qemu-aarch64 -L "$TOSAC_ARM_ROOT" -E PYTHONHOME="$TOSAC_ARM_ROOT/usr" "$TOSAC_ARM_ROOT"/usr/bin/python3 -c "
import ctypes, platform, sys
assert platform.machine() == 'aarch64'
lib = ctypes.CDLL('$arm/unpacked/tosac/_lib/libtosac.so')
lib.tc_version.restype = ctypes.c_char_p
assert lib.tc_version().startswith(b'tosac ')"
}
package_works() {
    tools/deb.sh "$arm" "$arm/build" && rm -rf "$arm/installed" && dpkg-deb -x "$arm"/tosac_*_arm64.deb "$arm/installed" || return 1
    dpkg-deb -f "$arm"/tosac_*_arm64.deb Depends | grep -q libprotobuf-c1 || return 1
    QEMU_SET_ENV=LD_LIBRARY_PATH="$arm/installed/usr/lib" on_arm "$arm/installed/usr/bin/tosac" --version
}

flock "$arm/lock" tools/cross.sh arm >"$arm/log-$part" 2>&1
case $? in
0) good=1 ;;
3) tail -5 "$arm/log-$part" && echo "0 passed, 0 failed, 1 skipped" && exit 0 ;;
*) tail -20 "$arm/log-$part" && echo "there is no build, so nothing runs" && echo "0 passed, 1 failed, 1 skipped" && exit 1 ;;
esac
emulated
units() {
    local test
    for test in "$arm"/build/unit-*; do
        [[ ! ${test##*/} =~ ^unit-($whole_models)$ ]] || { left=$((left + 1)) && continue; }
        counted "${test##*/} on Arm" on_arm "$test"
    done
    check "the NEON kernels ran" grep -q '^neon:' <(on_arm "$arm/build/unit-fast_int8")
}
golden() {
    counted "golden files on Arm" "$here/golden" --tosac "$arm/tosac-$part" --every $every test/golden
    [ $every = 1 ] || left=$((left + 1))
}
suites() {
    local suite
    tools/cases.sh
    counted "TOSA suite on Arm" on_arm "$arm/build/conformance-tosa" build/cases/suites/public --every $every
    for suite in aten lowered programs; do
        counted "operators ($suite) on Arm" on_arm "$arm/build/conformance" $suite --cases build/cases --every $every -j "$(nproc)"
    done
    counted "ONNX node tests on Arm" on_arm "$arm/build/conformance-onnx" build/cases/suites/onnx
    counted "TensorFlow Lite operators on Arm" on_arm "$arm/build/conformance-onnx" build/cases/suites/tflite
    [ $every = 1 ] || left=$((left + 4)) # suites of which a part was run
}
files() {
    check "no function of the C library decides a byte, no product is fused with a sum" tools/check-math.sh "$arm/build/libtosac.a" aarch64-linux-gnu-objdump
    counted "the kept hashes" test/same_bytes.sh "$arm/build/tosac" qemu-aarch64 -L "$TOSAC_ARM_ROOT"
    check "the same .tosa" same_file TOSA-1.0+INT tosa
    check "the same .vgf" same_file vgf vgf
    check "the same .pte" same_file cpu pte
    check "the same stream for an Ethos-U85" same_file ethos-u85-256 pte
    check "the wheel" wheel_works
    check "the library in an Arm Python" library_in_python
    check "the Debian package" package_works
}
for each in units golden suites files; do
    if asked $each; then $each; else left=$((left + 1)); fi
done
[ $left = 0 ] || echo "not asked: $left unit tests and suites in part or whole; check-arm.sh --all runs them"
echo "$good passed, $bad failed$([ $left = 0 ] || echo ", $left skipped")"
[ $bad = 0 ]
