#!/usr/bin/env bash
# 64-bit Arm: cross build, then unit, golden and conformance tests under qemu-user; the files that it writes are those of
# this machine, byte for byte; and the NEON kernels ran.        check-arm.sh [--all] [BUILD of this machine]
#
# Emulation is some thirty times slower than the machine, so every fifth golden file, TOSA case and operator is run, and
# the unit tests of the library's own functions, which run whole models over many samples, are left out; --all runs all.
# What is left out is counted as skipped.
#
# Needs gcc-aarch64-linux-gnu and qemu-user.  libzip, protobuf-c, libpng and libjpeg for Arm are unpacked from Debian's packages into build/arm/root.
set -uo pipefail
cd "$(dirname "$0")/.."
every=5 whole_models='api_compile|api_context|api_model|api_quantize|api_run|quant_parts'
[ "${1:-}" != --all ] || { every=1 whole_models=none && shift; }
here=${1:-build} arm=$PWD/build/arm
export TOSAC_ARM_ROOT=${TOSAC_ARM_ROOT:-$arm/root}
good=0 bad=0 left=0
mkdir -p "$arm"

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "there is no $tool (apt-get install gcc-aarch64-linux-gnu qemu-user)"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
done

# Debian's packages for another machine, without touching what is installed here.
fetch_root() {
    local apt=$arm/apt deb options
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/state" "$TOSAC_ARM_ROOT"
    : >"$apt/status"
    options=(-q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::Lists="$apt/lists"
        -o Dir::Cache::Archives="$apt/archives" -o Dir::State="$apt/state" -o Dir::State::status="$apt/status"
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 -o APT::Install-Recommends=false)
    apt-get "${options[@]}" update && apt-get "${options[@]}" -y --download-only install libzip-dev libprotobuf-c-dev libpng-dev libjpeg-dev libc6-dev libstdc++-12-dev || return 1
    for deb in "$apt"/archives/*.deb; do dpkg -x "$deb" "$TOSAC_ARM_ROOT" || return 1; done
    rm -r "$apt"
}

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$arm/log" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "$words"
        grep -vE '^\[[0-9]+/[0-9]+\]' "$arm/log" | tail -20
    fi
}

on_arm() { # PROGRAM ARGUMENTS...
    qemu-aarch64 -L "$TOSAC_ARM_ROOT" "$@"
}

make_it() {
    local more=()
    command -v ccache >/dev/null && more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B "$arm/build" -G Ninja "${more[@]}" -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DTOSAC_ONEDNN=OFF -DTOSAC_WERROR=ON &&
        ninja -k 0 -C "$arm/build"
}

# What a program says about itself, added to ours.
counted() { # WORDS COMMAND...
    local words=$1 g b
    shift
    "$@" >"$arm/log" 2>&1
    local code=$?
    read -r g b < <(grep -oE '[0-9]+ passed, [0-9]+ failed' "$arm/log" | awk '{g += $1; b += $3} END {print g + 0, b + 0}')
    [ $code = 0 ] || [ "$b" != 0 ] || b=1
    [ "$g" != 0 ] || b=$((b + 1))
    [ "$b" = 0 ] || { echo "$words"; tail -20 "$arm/log"; }
    good=$((good + g)) bad=$((bad + b))
}

# Golden files run tosac as a program: here through a script that emulates it.
emulated() {
    printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s/build/tosac "$@"\n' "$TOSAC_ARM_ROOT" "$arm" >"$arm/tosac" && chmod +x "$arm/tosac"
}

same_file() { # TARGET EXTENSION
    local digits=test/fixture/digits
    on_arm "$arm/build/tosac" compile $digits/model.pt2 -t "$1" --calib $digits/calib.npz --kernels reference -o "$arm/arm.$2" &&
        "$here/tosac" compile $digits/model.pt2 -t "$1" --calib $digits/calib.npz --kernels reference -o "$arm/here.$2" &&
        cmp "$arm/arm.$2" "$arm/here.$2"
}

# Everything that the build asks for; a root from before something was added is fetched again.
has_root() {
    local header
    for header in zip.h protobuf-c/protobuf-c.h png.h jpeglib.h stdlib.h; do
        [ -e "$TOSAC_ARM_ROOT/usr/include/$header" ] || return 1
    done
}

has_root || fetch_root >"$arm/log" 2>&1 || { tail -5 "$arm/log"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
check "the cross build" make_it
[ $bad = 0 ] || { echo "there is no build, so nothing runs"; echo "0 passed, 1 failed, 1 skipped"; exit 1; }
emulated
for test in "$arm"/build/unit-*; do
    [[ ! ${test##*/} =~ ^unit-($whole_models)$ ]] || { left=$((left + 1)) && continue; }
    counted "${test##*/} on Arm" on_arm "$test"
done
check "the NEON kernels ran" grep -q '^neon:' <(on_arm "$arm/build/unit-fast_int8")
tools/cases.sh
counted "golden files on Arm" "$here/golden" --tosac "$arm/tosac" --every $every test/golden
counted "TOSA suite on Arm" on_arm "$arm/build/conformance-tosa" build/cases/suites/public --every $every
for suite in aten lowered programs; do
    counted "operators ($suite) on Arm" on_arm "$arm/build/conformance" $suite --cases build/cases --every $every -j "$(nproc)"
done
counted "ONNX node tests on Arm" on_arm "$arm/build/conformance-onnx" build/cases/suites/onnx
counted "TensorFlow Lite operators on Arm" on_arm "$arm/build/conformance-onnx" build/cases/suites/tflite
[ $every = 1 ] || left=$((left + 5)) # suites of which a part was run
check "the same .tosa" same_file TOSA-1.0+INT tosa
check "the same .vgf" same_file vgf vgf
check "the same .pte" same_file cpu pte
[ $left = 0 ] || echo "not asked: $left unit tests and suites in part or whole; check-arm.sh --all runs them"
echo "$good passed, $bad failed$([ $left = 0 ] || echo ", $left skipped")"
[ $bad = 0 ]
