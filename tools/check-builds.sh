#!/usr/bin/env bash
# Every build type with gcc and clang, assertions on and off: warnings are errors, and what comes out
# passes its unit tests and golden files and writes the same bytes.        check-builds.sh [NAME...]
set -uo pipefail
cd "$(dirname "$0")/.."
base=${TOSAC_BUILDS:-build/types}
good=0 bad=0

# name          compiler  build type      more
builds='
gcc-release     gcc       Release         -DTOSAC_PICTURES=ON
gcc-debinfo     gcc       RelWithDebInfo  -DTOSAC_PICTURES=OFF
gcc-small       gcc       MinSizeRel      -DTOSAC_PICTURES=ON
gcc-debug       gcc       Debug           -DTOSAC_PICTURES=OFF
gcc-none        gcc       None            -DCMAKE_C_FLAGS=-O1;-DNDEBUG
clang-release   clang     Release         -DTOSAC_PICTURES=OFF
clang-small     clang     MinSizeRel      -DTOSAC_PICTURES=ON
clang-debug     clang     Debug           -DTOSAC_PICTURES=ON
'

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$base/log" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "$words"
        grep -vE '^\[[0-9]+/[0-9]+\]' "$base/log" | tail -30
    fi
}

make_it() { # FOLDER COMPILER TYPE MORE
    local more=()
    command -v ccache >/dev/null && more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B "$1" -G Ninja "${more[@]}" -DTOSAC_WERROR=ON -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE="$3" "${4//;/ }" &&
        ninja -k 0 -C "$1"
}

units() { # FOLDER
    local test code=0
    for test in "$1"/unit-*; do
        "$test" || { code=1 && echo "$test: exit $?"; }
    done
    return $code
}

mkdir -p "$base"
while read -r name compiler type more; do
    [ -n "$name" ] || continue
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    dir=$base/$name
    check "$name: the build" make_it "$dir" "$compiler" "$type" "$more"
    check "$name: unit tests" units "$dir"
    check "$name: golden files" "$dir/golden" test/golden
    check "$name: the same bytes as the others" test/same_bytes.sh "$dir/tosac"
    [ -n "${TOSAC_KEEP:-}" ] || rm -rf "$dir"
done <<<"$builds"
rm -f "$base/log"
echo "$good passed, $bad failed"
[ $bad = 0 ]
