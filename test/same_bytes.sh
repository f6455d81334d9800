#!/usr/bin/env bash
# The same bytes on every machine: digits, from float, as a stream in a .pte, as .tflite, as .vgf and as C for a Cortex-M55, at each level
# of vector instructions, on one thread and on three; their hashes are those in test/fixture/digits/hashes.txt.
#
#   same_bytes.sh TOSAC [WORDS OF A RUNNER...]      qemu-aarch64 -L ROOT: in front of TOSAC
#   same_bytes.sh --bless TOSAC                     writes the hashes: look at why they are others
#   same_bytes.sh --of MODEL CALIB TOSAC [RUNNER]   prints the hashes of another model, at TOSAC_ISA
set -uo pipefail
cd "$(dirname "$0")/.."
bless='' only='' model=test/fixture/digits/model.pt2 calib=test/fixture/digits/calib.npz list=test/fixture/digits/hashes.txt
case ${1:-} in
--bless) bless=yes && shift ;;
--of) only=yes model=$2 calib=$3 && shift 3 ;;
esac
tosac=$(realpath "${1:?same_bytes.sh TOSAC [RUNNER...]}")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
good=0 bad=0

# target          options   file
files='
ethos-u85-256     -         model.pte
ethos-u55-128     -         model.tflite
vgf               -         model.vgf
cortex-m55        --emit=c  model.c
'

# One line a file: its hash and its name; several are one by the hash of all.
hashes() { # LEVEL THREADS RUNNER...
    local target options name level=$1 threads=$2
    shift 2
    while read -r target options name; do
        [ -n "$target" ] || continue
        rm -rf "$work/out" && mkdir "$work/out"
        [ "$options" != - ] || options=--quiet
        TOSAC_ISA=$level "$@" "$tosac" compile "$model" -t "$target" --calib "$calib" "$options" --quiet --threads "$threads" \
            -o "$work/out/$name" >"$work/log" 2>&1 || {
            cat "$work/log" >&2
            [ -n "$only" ] || return 1
            echo "none  $name"
            continue
        }
        printf '%s  %s\n' "$(cd "$work/out" && sha256sum ./* | LC_ALL=C sort -k 2 | sha256sum | cut -c 1-64)" "$name"
    done <<<"$files"
}

[ -z "$only" ] || { hashes "${TOSAC_ISA:-}" 2 "$@" && exit; exit 1; }
# The levels that this machine has: asked for one that it has not, tosac takes the best below.
levels=(plain)
if [ $# = 0 ]; then
    for level in avx2 avx512 neon dot; do
        TOSAC_ISA=$level "$tosac" doctor 2>/dev/null | grep -qE "machine .*, $level\$" && levels+=("$level")
    done
else
    levels=("") # the emulated machine's best
fi
[ -z "$bless" ] || hashes plain 1 >"$list" || exit 1
for level in "${levels[@]}"; do
    for threads in 1 3; do
        [ $# = 0 ] || [ $threads = 1 ] || continue # emulation is slow
        if hashes "$level" $threads "$@" >"$work/now" && diff "$list" "$work/now" >"$work/diff"; then
            good=$((good + 1))
        else
            bad=$((bad + 1))
            echo "${level:-best} on $threads: other bytes than $list"
            cat "$work/now" "$work/diff"
        fi
    done
done
echo "$good passed, $bad failed"
[ $bad = 0 ] && [ $good != 0 ]
