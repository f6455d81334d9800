#!/usr/bin/env bash
# Every rule and every pass has its golden files.        check-golden.sh
#
#   lower.def  OPERATOR-int.ir shows the quantized rule; OPERATOR-fp.ir, or -plain.ir for integers, the plain one
#   op.def     OPERATOR-fp.ir shows the formula of a row FUNCTION; quantized, all of them are tables
#   *_pass.def under test/golden, some case of --pass=NAME gives another graph than it was given, and one the same
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0

has() { # WORDS FILE...: one of the files is there
    local words=$1 file
    shift
    for file in "$@"; do [ -e "$file" ] && passed=$((passed + 1)) && return; done
    failed=$((failed + 1))
    echo "$words has no golden file: $1"
}

at=test/golden/lower
while read -r operator quantized plain; do
    [ "$quantized" = NONE ] || has "the quantized rule of '$operator'" "$at/$operator-int.ir"
    [ "$plain" = NONE ] || has "the plain rule of '$operator'" "$at/$operator-fp.ir" "$at/$operator-plain.ir"
done < <(sed -nE 's/^LOWER\( *(\w+), *(\w+), *(\w+),.*/\1 \2 \3/p' src/lower/lower.def)
for operator in $(sed -nE 's/^FUNCTION\( *(\w+),.*/\1/p' src/ir/op.def); do
    has "the function '$operator'" "$at/$operator-fp.ir"
done

# "NAME acts" or "NAME still" for every case whose command runs passes: the first of its list is the one it is about.
# What follows it in the list only clears away.
# Long constants stand in a result by their ends: there they are not compared.
shown=$(find test/golden -name '*.ir' -exec awk '
    function bare(graph) { gsub(/const \[[^]]*\]/, "const", graph); return graph }
    function did() { return input == output || (output ~ / numbers, [0-9a-f]+\]/ && bare(input) == bare(output)) ? "still" : "acts" }
    FNR == 1 { if (name) print name, did(); name = input = output = ""; part = 0 }
    part == 0 && /^\$ tosac opt .*--pass[= ]/ { name = $0; sub(/.*--pass[= ]/, "", name); sub(/[, ].*/, "", name) }
    part == 0 && /^$/ { part = 1; next }
    /^----/ { part = 2; next }
    part == 1 { input = input $0 "\n" }
    part == 2 { output = output $0 "\n" }
    END { if (name) print name, did() }' {} +)
for pass in $(sed -nE 's/^PASS\( *\w+, *\w+, *"([^"]+)",.*/\1/p' src/*/*_pass.def); do
    for what in acts still; do
        if grep -qx "$pass $what" <<<"$shown"; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            echo "no golden file shows where the pass '$pass' $([ $what = acts ] && echo acts || echo 'stays still')"
        fi
    done
done
# A pass is called as its function is, with dashes.
for row in $(sed -nE 's/^(PASS\( *\w+,|STAGE\() *(\w+), *"([^"]+)",.*/\2:\3/p' src/*/*_pass.def src/drive/passes.def); do
    function=${row%%:*} name=${row#*:}
    if [ "${function//_/-}" = "$name" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "the pass '$name' has the function '$function'"
    fi
done
echo "golden files: $passed passed, $failed failed"
[ $failed = 0 ]
