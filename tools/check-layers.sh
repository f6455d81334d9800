#!/usr/bin/env bash
# Headers are included in one direction only:
#
#   base < num < fast < ir < run < target < { read tidy quant split lower executorch < tflm, emit } < cost < drive < show < advise < report
#   include/tosac < cli
#   base < { num wire } < npu < codegen < { emit cortexm }; npu < { read cost }; base < { num wire } < shader; the table of operators (ir) names kernels of npu and shader
#   base < wire < { read quant lower emit text }; text < api
#
# The one look upward is num/kernels.h, which reads the table ir/op.def.       check-layers.sh [SRC]
set -euo pipefail
src=${1:-src}
core="base num fast ir run target"
stages="$core wire npu read tidy quant split lower sizes executorch tflm codegen cortexm emit"
declare -A may=(
    [base]="base" [num]="base num" [fast]="base num fast" [ir]="base num fast ir"
    [run]="base num fast ir run" [target]="$core" [wire]="base wire"
    [npu]="base num wire npu" [shader]="base num wire shader"
    [read]="$core wire npu read" [tidy]="$core tidy" [quant]="$core wire quant" [split]="$core split" [lower]="$core wire lower" [sizes]="base num ir sizes"
    [executorch]="$core executorch" [tflm]="$core executorch tflm" [codegen]="$core npu codegen" [cortexm]="$core codegen cortexm" [emit]="$core wire npu codegen emit"
    [cost]="$core wire npu read cost" [text]="base num wire text"
    [drive]="$stages cost drive"
    [show]="$stages cost drive show"
    [api]="$stages cost drive show text api"
    [advise]="$core npu quant tidy cost drive advise" # what could be changed
    [report]="$core wire npu executorch cost drive advise report" # a page about what was made
    [cli]="cli" # and the public headers: the command line is a client like any other
)
looked=0 wrong=0
# "FILE FOLDER-OF-THE-FILE HEADER FOLDER-OF-THE-HEADER" for every include.
includes() {
    grep -roHE --include='*.[ch]' --include='*.def' '^ *# *include "[^"]*"' "$src" |
        awk -v src="$src/" -F: '{
            file = $1; header = $2; gsub(/^[^"]*"|"$/, "", header)
            n = split(substr(file, length(src) + 1), part, "/") - 1 # the last one is the name
            m = split(header, word, "/")
            for (i = 1; i <= m; i++) { if (word[i] == "..") n--; else if (word[i] != ".") part[++n] = word[i] }
            from = substr(file, length(src) + 1); sub(/\/.*/, "", from)
            to = n < 1 ? "outside" : part[1]
            if (header ~ /^tosac\//) to = from # the public headers are for everybody
            print file, from, header, to
        }'
}
while read -r file from header to; do
    looked=$((looked + 1))
    [ "$file $header" = "$src/num/kernels.h ../ir/op.def" ] && continue
    case " ${may[$from]-} " in
    *" $to "*) ;;
    *)
        echo "$file: error: '$from' includes \"$header\", which is not below it [layers]" >&2
        wrong=$((wrong + 1))
        ;;
    esac
done < <(includes)
# Detours around Vela can be deleted one day: nothing includes them.  Forms for Ethos-U: nothing but those does.
while IFS= read -r line; do
    echo "$line: error: stands on a form for one machine or one compiler [rooms]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(grep -rnE --include='*.[ch]' '#include ".*(vela|ethosu)/' "$src" | grep -vE "^$src/lower/(vela/.*ethosu|vela/.*vela|ethosu/.*ethosu)/")
# A machine is known by its record (src/target/machine.h): nothing else asks for one by name.
while IFS= read -r line; do
    echo "$line: error: asks for a machine by name; its record has abilities and costs [machines]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(grep -rnE --include='*.[ch]' 'TC_FEATURE_U55|tc_machine_(u55|u65|u85|vgf|cpu)\b' "$src" | grep -v "^$src/target/")
# A file is known by its name alone: no two are called the same.
while IFS= read -r name; do
    echo "$(find "$src" -name "$name" | sort | paste -sd' '): error: files of one name [names]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(find "$src" \( -name '*.[ch]' -o -name '*.def' \) -printf '%f\n' | sort | uniq -d)
echo "layers: $((looked - wrong)) passed, $wrong failed"
# What is made is made in an order that the program says (check-order.py).
if command -v python3 >/dev/null; then
    python3 "$(dirname "$0")/check-order.py" "$src" || wrong=$((wrong + 1))
else
    echo "there is no python3: the order of evaluation is not looked at"
    echo "order of evaluation: 0 passed, 0 failed, 1 skipped"
fi
[ "$wrong" = 0 ] && [ "$looked" != 0 ]
