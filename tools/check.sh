#!/usr/bin/env bash
# Runs every test program and adds up.        check.sh [quick|full|rest|long [PATTERN]]
#
# With a PATTERN only those tests whose names it matches, as grep -E does: check.sh long '64-bit Arm|build types'.
#
#   quick  one build; unit tests, golden files, command line, fuzz corpora, operators, conformance (within a minute)
#   full   gcc and sanitizer builds, judges, random graphs, trained models (within a quarter of an hour)
#   rest   what full leaves aside to stay within that: clang's build and the same tests in more builds, the longest ones (CI runs both)
#   long   full and rest, with every sample, every region and every random graph; every build type
#
# Builds come first; then the tests, as many at a time as there are cores, what took long the last time before the rest.  A test
# ends with "N passed, N failed" or "N passed, N failed, N skipped"; so does this one.  What cannot be run here is counted
# as skipped, and the reason is said.
set -uo pipefail
cd "$(dirname "$0")/.."
mode=${1:-quick} wanted=${2:-}
shared=${TOSAC_SHARED:-../shared}
cases=build/cases
python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
micro=${TOSAC_MICRO:-build/peers/micro}/bin/python
jobs=$(nproc)
passed=0 failed=0 skipped=0 begun=$SECONDS work=$(mktemp -d) seconds=build/check-seconds
trap 'rm -rf "$work"' EXIT

tell() { # NAME PASSED FAILED SKIPPED [WORDS [SECONDS]]
    printf '%-48s %6d passed, %d failed' "$1" "$2" "$3"
    [ "$4" = 0 ] || printf ', %d skipped' "$4"
    printf '%s%s\n' "${5:+: $5}" "${6:+ ($6 s)}"
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

# Tests that a quarter of an hour has no room for, by their names.
aside='^the documents as a site$|^build-clang: |, clang$|^build-asan: (command line|slow unit tests)$|^out of memory, sanitized$|^operators.*, sanitized$|, every preset$'

is_wanted() { # NAME
    [ -z "$wanted" ] || grep -qE "$wanted" <<<"$1" || return 1
    case $mode in
    full) ! grep -qE "$aside" <<<"$1" ;;
    rest) grep -qE "$aside" <<<"$1" ;;
    esac
}

skip() { # NAME REASON
    is_wanted "$1" || return 0
    tell "$1" 0 0 1 "$2"
}

# ---- builds ----

build() { # FOLDER TARGETS OPTIONS...; TARGETS: '' is everything
    local dir=$1 targets=$2 more=()
    shift 2
    command -v ccache >/dev/null && more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    command -v ld.lld >/dev/null && more+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
    # shellcheck disable=SC2086
    if cmake -S . -B "$dir" -G Ninja -DTOSAC_WERROR=ON "${more[@]}" "$@" >"$work/build" 2>&1 && tools/ninja.sh "$dir" "$work/build" $targets; then
        return 0
    fi
    echo "$dir: the build failed"
    grep -vE '^\[[0-9]+/[0-9]+\]' "$work/build" | tail -40
    tell "$dir" 0 1 0
    skip "$dir, its tests" "the build failed"
    return 1
}

units() { # FOLDER: the targets of the unit tests
    local file
    for file in test/unit/*.c; do
        file=${file##*/}
        printf 'unit-%s ' "${file%.c}"
    done
}

# ---- tests: a queue of names and commands ----

names=() commands=()
later() { # NAME COMMAND...
    is_wanted "$1" || return 0
    names+=("$1")
    shift
    commands+=("$(printf '%q ' "$@")")
}

begin() { # NUMBER: into the background
    (
        local since=$SECONDS
        if [ "$(type -t "${commands[$1]%% *}")" = function ]; then eval "${commands[$1]}"; else eval "timeout 1200 ${commands[$1]}"; fi >"$work/$1.log" 2>&1
        echo $? $((SECONDS - since)) >"$work/$1.ended" && mv "$work/$1.ended" "$work/$1.rc"
    ) &
}

# The closing lines of a test, added up; one that says nothing about itself has failed.
tally() { # NUMBER
    local log=$work/$1.log rc took good bad left
    read -r rc took <"$work/$1.rc"
    read -r good bad left < <(grep -oE '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | awk '{n++; g += $1; b += $3; s += $5} END {print g + 0, n ? b + 0 : -1, s + 0}')
    if [ "$bad" = -1 ] || { [ "$rc" != 0 ] && [ "$bad" = 0 ]; }; then
        bad=1
        echo "${names[$1]}: exit $rc"
    fi
    [ "$bad" = 0 ] || tail -40 "$log"
    printf '%s\t%s\n' "$took" "${names[$1]}" >>"$work/seconds"
    tell "${names[$1]}" "$good" "$bad" "$left" "$([ "$left" = 0 ] || grep -m 1 -E '^(not asked|there is no|[0-9]+ have inputs|.*known failures)' "$log")" "$took"
}

# The numbers of the tests, those that took longest the last time first.  Where nothing is known of a test, it comes before
# the others, and before all of these what takes minutes.
by_seconds() {
    local i took
    for i in "${!names[@]}"; do
        took=$(awk -F'\t' -v name="${names[$i]}" '$2 == name {print $1; exit}' "$seconds" 2>/dev/null)
        [ -n "$took" ] || case ${names[$i]} in
            'random models' | 'build-asan: command line' | 'trained models'*) took=90000 ;;
            *) took=80000 ;;
        esac
        echo "$took $i"
    done | sort -k1,1nr -k2,2n | cut -d' ' -f2
}

run_queue() {
    local next=0 running=0 i order
    mapfile -t order < <(by_seconds)
    while [ $next -lt ${#names[@]} ] || [ $running -gt 0 ]; do
        while [ $next -lt ${#names[@]} ] && [ $running -lt "$jobs" ]; do
            begin "${order[$next]}"
            next=$((next + 1)) running=$((running + 1))
        done
        wait -n
        for i in "${order[@]:0:$next}"; do
            [ -e "$work/$i.rc" ] && [ ! -e "$work/$i.told" ] || continue
            tally $i
            : >"$work/$i.told"
            running=$((running - 1))
        done
    done
}

# Unit tests that take more than two seconds, as whole models are compiled again and again.  The quick run leaves them out.
slow_units='api_advise api_compile api_context api_generate api_model api_quantize api_run api_threads board codegen cycles
    fast_eltwise fast_int8 file lower_eltwise npu_encode odd place quant_methods quant_parts text tflite_write'

units_of() { # FOLDER [quick|slow]: all of them, or some
    local test code=0 is
    for test in "$1"/unit-*; do
        [ -x "$test" ] || continue
        if [[ " ${slow_units//[[:space:]]/ } " == *" ${test##*/unit-} "* ]]; then is=slow; else is=quick; fi
        [ "${2:-$is}" = $is ] || continue
        "$test" || { echo "$test: exit $?" && code=1; }
    done
    return $code
}

corpora() { # FOLDER
    local test name code=0
    for test in "$1"/fuzz-*; do
        name=${test##*/fuzz-}
        if [ -x "$test" ] && [ -d "fuzz/corpus/$name" ]; then "$test" "fuzz/corpus/$name" || code=1; fi
    done
    return $code
}

programs() { # FOLDER: what every build runs; the command line, which takes a minute, with clang only in the long run
    [ "$1" = build-clang ] && [ "$mode" != long ] || later "$1: command line" python3 test/cli.py -j 1 $([ "$mode" = quick ] && echo --quick) "$1/tosac"
    later "$1: golden files" "$1/golden" test/golden
    case $mode-$1 in
    quick-*) later "$1: unit tests" units_of "$1" quick ;;
    *-build-asan)
        later "$1: unit tests" units_of "$1" quick
        later "$1: slow unit tests" units_of "$1" slow
        ;;
    *) later "$1: unit tests" units_of "$1" ;;
    esac
}

operators() { # FOLDER WORDS
    later "operators$2" "$1/conformance" aten --cases $cases -j 1
    later "operators, compiled$2" "$1/conformance" lowered --cases $cases -j 1
    later "operators, as programs$2" "$1/conformance" programs --cases $cases -j 1
}

# The pages that are made from tables say what the tables say.
pages() {
    local fresh good=0 bad=0 page
    fresh=$(mktemp -d)
    build/gen-docs "$fresh"
    python3 python/headers.py reference include/tosac "$fresh/reference-c.md"
    python3 python/reference.py "$fresh/reference-python.md"
    python3 tools/assessors.py doc/assessors.md "$fresh/assessors.md"
    for page in "$fresh"/*.*; do
        if cmp -s "$page" "doc/${page##*/}"; then good=$((good + 1)); else bad=$((bad + 1)) && echo "doc/${page##*/} is not current: make docs"; fi
    done
    build/tosac --dump-options | build/gen-cli "$fresh/share"
    for page in "$fresh"/share/*; do
        if cmp -s "$page" "share/${page##*/}"; then good=$((good + 1)); else bad=$((bad + 1)) && echo "share/${page##*/} is not current: make docs"; fi
    done
    rm -r "$fresh"
    echo "$good passed, $bad failed"
    [ $bad = 0 ]
}

# Arm's suite of TOSA files; what is written and computed goes to the judges in the same job.
suite_judged() { # EVERY VGF
    build/conformance-tosa $cases/suites/public --rewrite build/tosa-written --results build/tosa-results --vgf build/vgf-written || return 1
    "$python" tools/peer/tosa_suite.py $cases/suites/public build/tosa-written build/tosa-results --every "$1" || return 1
    "$python" tools/peer/vgf_suite.py $cases/suites/public build/vgf-written --count "$2" --jobs 1
}

# TOSA 1.1 before its own reference model, where there is one: the suite's cases, every operator and type, random graphs.
newer_judged() { # EVERY RANDOM VGF
    local newest=${TOSAC_TOSA11:-build/peers/tosa11}/bin/python
    [ -x "$newest" ] || { echo "no reference model of TOSA 1.1: tools/setup.sh tosa11"; echo "0 passed, 0 failed, 1 skipped"; return 0; }
    build/conformance-tosa $cases/suites/public 1.1 --rewrite build/tosa11-written --results build/tosa11-results --vgf build/vgf11-written || return 1
    build/conformance-tosa $cases/suites/tosa11 --vgf build/vgf11-recorded || return 1
    "$python" tools/peer/vgf_suite.py $cases/suites/public build/vgf11-written --count "$3" || return 1
    "$python" tools/peer/vgf_suite.py $cases/suites/tosa11 build/vgf11-recorded --count "$3" || return 1
    "$newest" tools/peer/tosa_suite.py $cases/suites/public build/tosa11-written build/tosa11-results --every "$1" || return 1
    "$newest" tools/peer/tosa11_suite.py build/tosac || return 1
    "$newest" tools/peer/tosa11_suite.py build/tosac --random "$2" || return 1
    "$newest" tools/peer/dynamic_suite.py build/tosac $cases/suites/dynamic
}

# Every region of the compiled operator cases before the reference model and tosa-opt; in the long run before Vela too.
regions_judged() { # EVERY [VELA'S TARGETS]
    rm -rf build/lowered
    build/conformance lowered --cases $cases -j 1 --written build/lowered >/dev/null 2>&1
    "$python" tools/peer/lowered_suite.py build/tosac build/lowered --every "$1" --vela "${2:-}"
}

# Compute shaders of VGF files: one of every so many operators, and networks of several regions.
shaders_judged() { # EVERY
    "$python" tools/peer/vgf_shaders.py operators build/tosac --every "$1" || return 1
    "$python" tools/peer/vgf_shaders.py chains build/tosac --every $((4 * $1)) || return 1
    "$python" tools/peer/vgf_shaders.py networks build/tosac
}

# Images as inputs and outputs of VGF files: one of every so many formats and layouts, and networks (one of three but in the long run).
images_judged() { # EVERY
    "$python" tools/peer/vgf_images.py formats build/tosac --every "$1" || return 1
    "$python" tools/peer/vgf_images.py networks build/tosac $([ "$mode" = long ] || echo --only unet)
}

# Random models through every target, some of their regions before the judges.
random_models() { # COUNT
    rm -rf build/models-written
    build/models --count "$1" --kept test/models/kept --known test/models/known.txt --found build/found-models -j 1 --written build/models-written --every 40 || return 1
    [ ! -x "$python" ] || "$python" tools/peer/lowered_suite.py build/tosac build/models-written
}

queue_gcc() {
    operators build ''
    later "every operator, every target" build/models --table test/golden/lower --left 772 --known test/models/known.txt --found build/found-models -j 1
    later "Ethos-U back end" test/codegen.sh build/npu-own $cases/suites/public $mode
    later "TOSA 1.1, recorded" build/conformance-tosa $cases/suites/tosa11
    later "C for a Cortex-M, TOSA suite" python3 test/cortexm_suite.py build/tosac $cases/suites/public --every $([ "$mode" = quick ] && echo 20 || echo 1)
    [ "$mode" = quick ] || later "C for a Cortex-M with floats and branches" python3 test/cortexm_float.py build/tosac
    [ "$mode" = quick ] || later "C for a Cortex-M beside an Ethos-U" python3 test/cortexm_npu.py build/tosac
    [ "$mode" = quick ] || later "C for a Cortex-M beside an Ethos-U, TOSA suite" python3 test/cortexm_suite.py build/tosac $cases/suites/public --target ethos-u55-128+cortex-m55 --every 4
    later "programs for a Cortex-M, TOSA suite" python3 test/cortexm_pte.py build/tosac $cases/suites/public --every $([ "$mode" = quick ] && echo 20 || echo 1)
    later "programs for a Cortex-M, TFLite suite" python3 test/cortexm_pte.py build/tosac $cases/suites/tflite --every $([ "$mode" = quick ] && echo 10 || echo 1)
    [ "$mode" = quick ] || later "C for a Cortex-M that calls CMSIS-NN" python3 test/cortexm_cmsis.py build/tosac
    [ "$mode" = quick ] || later "C for a Cortex-M, networks, in QEMU" python3 test/cortexm.py build/tosac
    [ "$mode" = quick ] || later "examples/firmware, in QEMU" test/firmware.sh build/tosac
    [ "$mode" = quick ] || later "firmware with an Ethos-U, in QEMU" python3 test/emulate.py build/tosac
    [ "$mode" = quick ] || later "Linux's driver for Ethos-U" "$python" test/device.py "$PWD/build"
    [ "$mode" = quick ] || later "packs and libraries" python3 test/packs.py build/tosac
    [ "$mode" = quick ] || later "logs of a cycle counter" python3 test/counted.py build/tosac
    later "firmware that takes a file or not" python3 test/firmware_fit.py build/tosac
    [ "$mode" = quick ] || later "C for a Cortex-M, operators on an M55" python3 test/cortexm_suite.py build/tosac $cases/suites/public --target cortex-m55 --qemu --per-operator 3
    [ "$mode" = quick ] || later "C for a Cortex-M, operators on an M4" python3 test/cortexm_suite.py build/tosac $cases/suites/public --target cortex-m4 --qemu --per-operator 3
    later "bug families" build/conformance fixtures --cases $cases -j 1
    later "models from the world" build/conformance world --cases $cases -j 1
    later "quantizer, bug families" test/quantize.sh build/tosac $cases/fixtures
    programs build
    # with sanitizers these say more, and take their place
    [ "$mode" = full ] && [ -x build-asan/oom ] || later "build: fuzz corpora" corpora build
    later "generated pages" pages
    later layers tools/check-layers.sh
    later "README, tosac.h and the words" tools/check-front.sh build/tosac
    later "colours of the report" python3 test/report/contrast.py
    later "symbols of the library" tools/check-symbols.sh
    later "stable interface" python3 test/abi.py
    [ "$mode" = quick ] || later "the same bytes" test/same_bytes.sh build/tosac
    later "no mutable globals" tools/check-globals.sh build/libtosac.a
    later "no functions of the C library" tools/check-math.sh build/libtosac.a
    later "rules and passes have golden files" tools/check-golden.sh
}

# With the first build too, but not within a minute.
queue_slow() {
    if [ "$mode" = full ]; then
        later "compile = quantize + compile" test/roads.sh build/tosac test/fixture
    else
        later "compile = quantize + compile, every preset" test/roads.sh --all build/tosac test/fixture
    fi
    later "eight threads" eight_threads build
    later "full disks, errors, closed pipes" test/faults.sh build/tosac build/faults.so
    # with sanitizers it says more
    [ "$mode" = full ] && [ -x build-asan/oom ] || later "out of memory" no_memory build 5
    later "a step in CI, a hook" step_in_ci
    later "a model in a CMake project" test/add_model.sh build/tosac
    later "report in Chromium" python3 test/report/report.py build/tosac
    later "an operator more, in a copy of the tree" python3 test/new_operator.py $cases
    later "a target more, in a copy of the tree" python3 test/new_target.py
}

queue_zoo() {
    local samples=40
    [ "$mode" = long ] && samples=100000
    if [ -d "$shared/zoo" ]; then
        later "trained models, compiled" test/zoo.sh build/tosac build/score "$shared/zoo" "$mode"
        later "trained models" build/conformance zoo --shared "$shared" -j 1 --samples $samples
    else
        skip "trained models" "there is no folder '$shared/zoo' (TOSAC_SHARED)"
        skip "trained models, compiled" "there is no folder '$shared/zoo' (TOSAC_SHARED)"
    fi
}

queue_micro() {
    tools/setup.sh micro || true
    if [ -x "$micro" ]; then
        later "TensorFlow Lite Micro" "$micro" tools/peer/tflm_suite.py build/tosac
        later "TFLM's audio operators" "$micro" tools/peer/tflm_signal.py build/tosac --count 4 --seed 9
    else
        skip "TensorFlow Lite Micro" "tflite-micro and ai-edge-litert are not there (tools/setup.sh micro)"
    fi
}

queue_judges() {
    local graphs=1000 vgf=24 shaders=9 every=4 suite=2 models=1000 own=500 vela=
    [ "$mode" = long ] && own=10000 graphs=20000 vgf=650 shaders=1 every=1 suite=1 models=10000 vela=ethos-u85-256
    tools/setup.sh judges
    tools/setup.sh tosa11 || true
    if [ ! -x "$python" ]; then
        later "random models" random_models $models
        later "TOSA suite" build/conformance-tosa $cases/suites/public
        skip "judges" "the reference model, Vela and Arm's VGF tools are not there (tools/setup.sh judges)"
        return
    fi
    later "Ethos-U back end, streams before tosac_check" "$python" test/second_opinion.py build/npu-own $cases/suites/public --every $([ "$mode" = long ] && echo 3 || echo 40) --damage build/tosac
    [ "$mode" = quick ] || later "logarithms and roots of 32 bits, every machine" "$python" test/wide_functions.py build/tosac
    later "typed programs computed again" "$python" test/typed_program.py build/tosac --damage $([ "$mode" = long ] && echo 9 || echo 2)
    later "certificates and their files before tosac_check" "$python" test/certified.py build/tosac --damage $([ "$mode" = long ] && echo "9 --zoo $shared/zoo" || echo 1)
    later "operators, compiled, judged" regions_judged $every $vela
    later "TOSA and VGF suites, judged" suite_judged $suite $vgf
    later "VGF shaders, judged" shaders_judged $shaders
    later "VGF images, judged" images_judged $shaders
    later "TOSA 1.1, judged" newer_judged $suite 200 $vgf
    later "random models" random_models $models
    later "TOSA's accuracy rule" "$python" test/tosa_rule.py
    later "TOSA, random graphs" "$python" tools/peer/tosa_diff.py build/tosac --count $graphs
    later "TOSA, random graphs, reference kernels" "$python" tools/peer/tosa_diff.py build/tosac --count $graphs --seed 2 --run=--reference
    later "Ethos-U back end, random graphs" "$python" tools/peer/own_diff.py build/npu-own --count $own --keep build/found-own
    later "VGF, files of others" "$python" tools/peer/vgf_field.py build/tosac $([ "$mode" = long ] && echo --all)
    later "VGF, random graphs" "$python" tools/peer/vgf_diff.py build/tosac --count $vgf
    later "VGF, segments of the model converter" "$python" tools/peer/vgf_segments.py build/tosac --random $vgf
}

# Every allocation of a whole quantize, compile and run fails once: of a small model always, of digits and swin48 in
# the long run.
no_memory() { # FOLDER EVERY
    "$1/oom" --every "$2" test/fixture/pt2-2.8/model.pt2 random:1 TOSA-1.0+INT "$1/oom.pte"
}
no_memory_long() {
    build/oom --every 500 test/fixture/digits/model.pt2 random:1 TOSA-1.0+INT build/oom-digits.pte || return 1
    if [ -d "$shared/zoo/swin48" ]; then
        build/oom --every 20000 --blocks 50 "$shared/zoo/swin48/model.pt2" random:1 TOSA-1.0+INT build/oom-swin.pte
    fi
}

eight_threads() { # FOLDER
    mkdir -p "$1/threads-out" && "$1/threads-at-once" test/fixture/digits/model.pt2 random:1 cpu "$1/threads-out"
}

step_in_ci() {
    tools/setup.sh hooks || true
    test/ci.sh build/tosac
}

# Only the long run has time for these.
every_build() {
    tools/check-builds.sh
}
on_arm() {
    tools/check-arm.sh build
}
on_web() {
    tools/check-web.sh build
}
on_windows() {
    tools/check-windows.sh build
}
site() {
    tools/setup.sh site || { echo "there is no mkdocs" && echo "0 passed, 0 failed, 1 skipped" && return 0; }
    python3 tools/site.py build/site build/peers/site/bin/mkdocs && echo "1 passed, 0 failed"
}
installed() {
    tools/check-install.sh $([ "$mode" = long ] && echo --release)
}
python_package() {
    tools/check-python.sh build
}

on_clusters() {
    tools/check-cluster.sh build
}

a_release() { # longer than twenty minutes on a machine with other work
    tools/check-release.sh
}

first_minutes() {
    tools/wheel.sh build/dist && tools/check-fresh.sh
}

# Every lemma that the integer rewrites rely on: test/proofs/lemmas.py.
lemmas_proved() {
    local python=${TOSAC_PROOFS:-build/peers/proofs}/bin/python
    tools/setup.sh proofs
    [ -x "$python" ] || { echo "there is no z3: tools/setup.sh proofs"; echo "0 passed, 0 failed, 1 skipped"; return 0; }
    "$python" test/proofs/prove.py build/unit-lemmas
}

queue_long() {
    later "lemmas of the integer rewrites" lemmas_proved
    later "build types" every_build
    later "64-bit Arm" on_arm
    later "Windows" on_windows
    later "WebAssembly: node and a browser" on_web
    later "macOS, that it compiles" tools/check-macos.sh
    later "a stranger's first minutes" first_minutes
    later "Ray, Dask, Slurm, GNU parallel" on_clusters
    later "bare Debian 12" tools/check-bare.sh
    later "a release, twice" a_release
    later "out of memory, digits and swin48" no_memory_long
    build build-tsan "threads-at-once unit-file unit-api_threads" -DTOSAC_TSAN=ON && {
        later "eight threads, thread sanitizer" eight_threads build-tsan
        later "files, thread sanitizer" build-tsan/unit-file
        later "samples over threads, thread sanitizer" build-tsan/unit-api_threads
    }
}

# One function, so that the script may be edited while it runs.
main() {
    export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
    tools/cases.sh $cases
    [ "$mode" = quick ] || tools/setup.sh browser
    [ "$mode" = quick ] || tools/setup.sh emulate
    local good=false
    build build '' && good=true
    if [ "$mode" = quick ]; then
        $good && queue_gcc && later "TOSA suite" build/conformance-tosa $cases/suites/public
        $good && later "ONNX node tests" build/conformance-onnx $cases/suites/onnx
        $good && later "TensorFlow Lite operators" build/conformance-onnx --reference $cases/suites/tflite
        skip "slow unit tests; clang, sanitizers, judges, random graphs, failing calls, trained models, Chromium" "make check has them"
    else
        local tests
        tests="tosac golden conformance-tosa conformance-onnx $(units)"
        command -v clang >/dev/null || skip "clang" "it is not installed"
        [ "$mode" = full ] && $good && command -v clang >/dev/null && later "every file, by clang" python3 tools/clang-warnings.py build
        [ "$mode" != full ] && command -v clang >/dev/null && build build-clang "$tests" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Check -DCMAKE_C_FLAGS_CHECK=-O2 && {
            programs build-clang
            later "TOSA suite, clang" build-clang/conformance-tosa $cases/suites/public
            later "ONNX node tests, clang" build-clang/conformance-onnx $cases/suites/onnx
            later "TensorFlow Lite operators, clang" build-clang/conformance-onnx $cases/suites/tflite
        }
        build build-asan "" -DTOSAC_SANITIZE=ON && {
            operators build-asan ', sanitized'
            later "TOSA suite, sanitized" build-asan/conformance-tosa $cases/suites/public
            later "TOSA 1.1, recorded, sanitized" build-asan/conformance-tosa $cases/suites/tosa11
            later "ONNX node tests, sanitized" build-asan/conformance-onnx $cases/suites/onnx
            later "TensorFlow Lite operators, sanitized" build-asan/conformance-onnx $cases/suites/tflite
            later "TensorFlow Lite operators, reference kernels" build-asan/conformance-onnx --reference $cases/suites/tflite
            programs build-asan
            later "build-asan: fuzz corpora" corpora build-asan
        }
        [ -x build-asan/oom ] && later "out of memory, sanitized" no_memory build-asan 5
        later "installed" installed
        later "the documents as a site" site
        [ "$mode" = long ] && queue_long
        $good && queue_zoo && queue_judges && queue_micro && queue_gcc && queue_slow
        $good && later "Python package" python_package
        [ "$mode" != full ] || skip "clang; operators, command line, slow unit tests and out of memory with sanitizers; every preset" "make check-rest has them"
    fi
    run_queue
    touch "$work/seconds" "$seconds"
    awk -F'\t' '!seen[$2]++' "$work/seconds" "$seconds" >"$work/kept" && mv "$work/kept" "$seconds"
    echo "$((SECONDS - begun)) s"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
main; exit
