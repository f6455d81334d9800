#!/usr/bin/env bash
# Runs every test program and adds up.        check.sh [quick|full|long]
#
#   quick  one build; unit tests, command line, fuzz corpora, operators (within a minute)
#   full   gcc, clang and sanitizer builds, all of that in each, trained models
#   long   full, with every sample of the trained models
#
# Each program ends with "N passed, N failed"; so does this one.
set -uo pipefail
cd "$(dirname "$0")/.."
mode=${1:-quick}
shared=${TOSAC_SHARED:-../shared}
jobs=$(nproc)
passed=0 failed=0 log=$(mktemp)
trap 'rm -f "$log"' EXIT

# What ran, how it ended, and its closing lines added up; a program without one counts as one check.
tally() { # NAME STATUS
    local good bad
    good=$(grep -oE '[0-9]+ passed, [0-9]+ failed$' "$log" | awk '{n += $1} END {print n + 0}')
    bad=$(grep -oE '[0-9]+ passed, [0-9]+ failed$' "$log" | awk '{n += $3} END {print n + 0}')
    if [ "$2" != 0 ] && [ "$bad" = 0 ]; then
        bad=1
        echo "$1: exit $2"
    fi
    [ "$bad" = 0 ] || tail -40 "$log"
    printf '%-44s %6d passed, %d failed\n' "$1" "$good" "$bad"
    passed=$((passed + good)) failed=$((failed + bad))
}

run() { # NAME COMMAND...
    local name=$1
    shift
    if [ "$(type -t "$1")" = function ]; then "$@" >"$log" 2>&1; else timeout 1200 "$@" >"$log" 2>&1; fi
    tally "$name" $?
}

build() { # FOLDER OPTIONS...
    local dir=$1
    shift
    local launcher=
    command -v ccache >/dev/null && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
    if ! { cmake -S . -B "$dir" -G Ninja $launcher "$@" && ninja -k 0 -C "$dir"; } >"$log" 2>&1; then
        echo "$dir: the build failed"
        grep -vE '^\[[0-9]+/[0-9]+\]' "$log" | tail -40
        failed=$((failed + 1))
        return 1
    fi
}

programs() { # FOLDER: what every build runs
    local dir=$1
    for test in "$dir"/unit-*; do
        [ -x "$test" ] && run "$test" "$test"
    done
    [ -x "$dir/golden" ] && run "$dir/golden" "$dir/golden" test/golden
    run "$dir: command line" test/cli.sh "$dir/tosac"
    for test in "$dir"/fuzz-*; do
        name=${test##*/fuzz-}
        [ -x "$test" ] && [ -d "fuzz/corpus/$name" ] && run "$test" "$test" "fuzz/corpus/$name"
    done
    return 0
}

# Arm's suite of TOSA files is an archive; it is unpacked once.
tosa_suite() { # FOLDER
    local dir=$1 archive=$shared/suites/tosa/public.tar.xz
    [ -e "$archive" ] || return 0
    [ -d build/suites/public ] || { mkdir -p build/suites && tar -xf "$archive" -C build/suites; }
    run "$dir: TOSA suite" "$dir/conformance-tosa" build/suites/public --rewrite "$dir/tosa-written" --results "$dir/tosa-results" \
        --vgf "$dir/vgf-written"
}

# What was written and computed there, before the reference model and tosa_verify, where they are.
tosa_judges() {
    local python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
    [ -x "$python" ] && [ -d build/tosa-written ] || return 0
    run "TOSA suite, reference model" "$python" tools/peer/tosa_suite.py build/suites/public build/tosa-written build/tosa-results
}

# The pages that are made from tables say what the tables say.
pages() {
    local fresh good=0 bad=0 page
    fresh=$(mktemp -d)
    build/gen-docs "$fresh"
    for page in "$fresh"/*; do
        if cmp -s "$page" "doc/${page##*/}"; then good=$((good + 1)); else bad=$((bad + 1)) && echo "doc/${page##*/} is not current: make docs"; fi
    done
    if cmp -s <(grep '^|' "$fresh/support.md") <(sed -n '/<!-- begin:/,/<!-- end/p' README.md | grep '^|'); then
        good=$((good + 1))
    else
        bad=$((bad + 1)) && echo "README.md's table is not current: make docs"
    fi
    rm -r "$fresh"
    echo "$good passed, $bad failed"
    [ $bad = 0 ]
}

# Random TOSA graphs, the quick kernels and then the reference ones beside the reference model.
tosa_random() { # COUNT
    local python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
    [ -x "$python" ] || return 0
    run "TOSA, random graphs" "$python" tools/peer/tosa_diff.py build/tosac --count "$1"
    run "TOSA, random graphs, reference kernels" "$python" tools/peer/tosa_diff.py build/tosac --count "$1" --seed 2 --run "--kernels reference"
}

# VGF files before Arm's tools: of the suite where that is there, of random graphs always.
vgf_judges() { # CASES
    local python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
    [ -x "$python" ] || return 0
    [ -d build/vgf-written ] && run "VGF, TOSA suite" "$python" tools/peer/vgf_suite.py build/suites/public build/vgf-written --count "$1" --jobs "$jobs"
    run "VGF, random graphs" "$python" tools/peer/vgf_diff.py build/tosac --count "$1"
}

# Every region of the compiled operator cases before the reference model and tosa-opt; in the long run before Vela too.
lowered_judges() { # EVERY [VELA'S TARGETS]
    local python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
    [ -x "$python" ] && [ -d "$shared/suites/aten" ] || return 0
    rm -rf build/lowered
    build/conformance lowered --shared "$shared" -j "$jobs" --written build/lowered >/dev/null 2>&1
    run "operators, compiled, judged" "$python" tools/peer/lowered_suite.py build/tosac build/lowered --every "$1" --vela "${2:-}"
}

# One function, so that the script may be edited while it runs.
main() {
    export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
    run layers tools/check-layers.sh
    if build build; then
        programs build
        run "generated pages" pages
        run "operators" build/conformance aten --shared "$shared" -j "$jobs"
        run "operators, compiled" build/conformance lowered --shared "$shared" -j "$jobs"
        run "bug families" build/conformance fixtures --shared "$shared" -j "$jobs"
        [ -d "$shared/fixtures" ] && run "quantizer, bug families" test/quantize.sh build/tosac "$shared/fixtures"
        tosa_suite build
    fi
    if [ "$mode" != quick ]; then
        samples=40 graphs=1000 vgf=40
        [ "$mode" = long ] && samples=100000 graphs=20000 vgf=650
        run "trained models" build/conformance zoo --shared "$shared" -j "$jobs" --samples $samples
        tools/setup.sh judges
        tosa_judges
        tosa_random $graphs
        if [ "$mode" = long ]; then lowered_judges 1 ethos-u85-256; else lowered_judges 4; fi
        [ -d "$shared/zoo" ] && run "trained models, compiled" test/zoo.sh build/tosac build/score "$shared/zoo" "$mode"
        vgf_judges $vgf
        build build-clang -DCMAKE_C_COMPILER=clang && programs build-clang && tosa_suite build-clang
        build build-asan -DTOSAC_SANITIZE=ON && programs build-asan &&
            run "operators, sanitized" build-asan/conformance aten --shared "$shared" -j "$jobs" &&
            run "operators, compiled, sanitized" build-asan/conformance lowered --shared "$shared" -j "$jobs" && tosa_suite build-asan
    fi
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
main; exit
