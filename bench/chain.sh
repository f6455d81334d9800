#!/usr/bin/env bash
# Time and memory over the number of nodes: a chain of 1,000, 10,000 and 100,000 operators, in floats and as quantized
# values, read, verified, shown, run, simplified and compiled.  Processor seconds, so that neighbours do not count.
#
#   chain.sh [TOSAC]      exit 1 where 100,000 nodes take more than 10 s or 2 GB, or more than 20 times what 10,000 take
set -euo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "${1:-build/tosac}")
work=$(mktemp -d "${TMPDIR:-/tmp}/tosac-chain.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# chain N TYPE: four operators of one operand, then one that reads the program's input too
chain() {
    awk -v n="$1" -v t="$2" 'BEGIN {
        split("relu neg abs tanh", op, " ")
        printf "graph @main(%%0: %s) {\n", t
        for (i = 0; i < n; i++)
            if (i % 5 == 4) printf "  %%%d = add %%%d, %%0 alpha=1 : %s\n", i + 1, i, t
            else printf "  %%%d = %s %%%d : %s\n", i + 1, op[i % 5 + 1], i, t
        printf "  return %%%d\n}\n", n }'
}
for n in 1000 10000 100000; do
    chain $n 'f32[1,8]' >float.$n.ir
    chain $n 'i8[1,8] q(0.05:-3)' >typed.$n.ir
done
{ # one sample, [1, 8] of f32
    header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf '\x00\x00\x00\x3f%.0s' 1 2 3 4 5 6 7 8
} >x.npy

wrong=0
# measure WORDS COMMAND...: @ stands for the number of nodes; processor seconds and megabytes for each of the three
measure() {
    local words=$1 n line='' before='' seconds mb
    shift
    for n in 1000 10000 100000; do
        if ! /usr/bin/time -o time -f '%U %S %M' "$tosac" "${@//@/$n}" >/dev/null 2>said; then
            printf '%-44s %s\n' "$words" "$(head -1 said)"
            wrong=1
            return
        fi
        read -r seconds mb < <(awk 'END { print $1 + $2, $3 / 1024 }' time)
        line+=$(printf '%9.2f s %6.0f MB' "$seconds" "$mb")
        if [ $n = 100000 ] && ! awk -v s="$seconds" -v mb="$mb" -v b="$before" \
            'BEGIN { exit !(s <= 10 && mb <= 2048 && s <= 20 * (b > 0.05 ? b : 0.05)) }'; then
            line+='  too much'
            wrong=1
        fi
        before=$seconds
    done
    printf '%-44s%s\n' "$words" "$line"
}
printf '%-44s%20s%20s%20s\n' 'a chain of' '1,000' '10,000' '100,000 nodes'
measure 'read and inspect' inspect float.@.ir
measure 'simplify and print' opt --pass=tidy float.@.ir
measure 'run' run float.@.ir -i x.npy -o out
measure 'compile, TOSA-1.0+FP' compile float.@.ir -t TOSA-1.0+FP -o o.@.tosa
measure 'read and verify that' verify o.@.tosa
measure 'quantize' quantize float.@.ir --calib x.npy -o q.ir
measure 'compile, TOSA-1.0+INT, quantized' compile typed.@.ir -t TOSA-1.0+INT -o o.tosa
measure 'compile, ethos-u85-256, regions' compile typed.@.ir -t ethos-u85-256 --emit tosa -o o.tosa
measure 'compile, vgf' compile float.@.ir -t vgf -o o.vgf
measure 'compile, cpu' compile float.@.ir -t cpu -o o.@.pte
measure 'run that' run o.@.pte -i x.npy -o out
exit $wrong
