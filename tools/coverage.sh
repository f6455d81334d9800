#!/usr/bin/env bash
# Which lines of src/ the tests run, by gcov.        coverage.sh [LEAST]
#
# A build of its own in build-coverage; unit tests, golden files, command line, failing calls and allocations, corpora,
# operators, bug families, the TOSA, ONNX and TensorFlow Lite suites; then a line for every folder of src/ and the files
# with most lines that nothing runs.  Exit 1 when fewer than LEAST (93) of a hundred lines are run.
set -euo pipefail
cd "$(dirname "$0")/.."
least=${1:-93} dir=build-coverage cases=build/cases log=$(mktemp)
trap 'rm -f "$log"' EXIT

more=()
command -v ccache >/dev/null && more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
command -v ld.lld >/dev/null && more+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
cmake -S . -B $dir -G Ninja "${more[@]}" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS=--coverage" "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1" >/dev/null
ninja -C $dir >"$log" 2>&1 || { tail -40 "$log" && exit 1; }
find $dir -name '*.gcda' -delete
tools/cases.sh $cases

tried() { # COMMAND...: what fails here fails in make check, with its words
    "$@" >"$log" 2>&1 || echo "coverage: '$*' fails; make check says why"
}
for test in $dir/unit-*; do [ -x "$test" ] && tried "$test"; done
tried $dir/golden test/golden
tried python3 test/cli.py $dir/tosac
tried test/quantize.sh $dir/tosac $cases/fixtures
tried test/codegen.sh $dir/npu-own $cases/suites/public full
for suite in aten lowered programs fixtures world; do tried $dir/conformance $suite --cases $cases; done
tried $dir/conformance-tosa $cases/suites/public
for suite in onnx tflite; do tried $dir/conformance-onnx $cases/suites/$suite; done
tried test/faults.sh $dir/tosac $dir/faults.so
tried $dir/oom --every 20 test/fixture/pt2-2.8/model.pt2 random:1 TOSA-1.0+INT $dir/oom.pte
tried python3 test/report/report.py $dir/tosac
for test in $dir/fuzz-*; do tried "$test" "fuzz/corpus/${test##*/fuzz-}"; done
tried $dir/models --count 100 --kept test/models/kept --known test/models/known.txt --found $dir/found -j "$(nproc)"

# "LINES RUN FILE" for every .c file of src/, from gcov's summaries.
find $dir -path '*/src/*' -name '*.gcno' | while read -r notes; do
    gcov -n -o "$(dirname "$notes")" "$notes" 2>/dev/null
done | awk -v top="$PWD/" '
    /^File / { file = $0; gsub(/^File .|.$/, "", file); sub(top, "", file); sub(/^(\.\.\/)+/, "", file) }
    /^Lines executed:/ && file ~ /^src\/.*\.c$/ { split($2, part, /[:%]/); lines[file] = $4; run[file] = part[2] * $4 / 100 }
    END { for (f in lines) printf "%d %.0f %s\n", lines[f], run[f], f }' | sort -k3 >$dir/coverage.txt

awk '{ split($3, part, "/"); lines[part[2]] += $1; run[part[2]] += $2 } END { for (f in lines) printf "%-12s %6d lines %6.1f %%\n", f, lines[f], 100 * run[f] / lines[f] }' $dir/coverage.txt | sort
echo "most lines that nothing runs:"
awk '{ printf "%6d  %5.1f %%  %s\n", $1 - $2, 100 * $2 / $1, $3 }' $dir/coverage.txt | sort -rn | awk 'NR <= 20'
awk -v least="$least" '{ lines += $1; run += $2 } END { printf "coverage: %.1f %% of %d lines\n", 100 * run / lines, lines; exit 100 * run / lines < least }' $dir/coverage.txt
