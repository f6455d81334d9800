#!/usr/bin/env bash
# Ratios beside what is aimed at: start-up, int8 and 16 bits beside float and 8 bits, threads, memory of a run and of
# calibration, conversion inside a process.  Fails nothing.        aims.sh [RUNS]
#
# TOSAC_SHARED names the folder with the models (default ../shared); TOSAC_ANCHOR a Python with torch, for the curve of
# large models (LARGE=1: up to 1.3 billion parameters, 11 GB of memory to export, 7 GB of disk).  TOSAC_JUDGES: Arm's converter.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-10} shared=${TOSAC_SHARED:-../shared} anchor=${TOSAC_ANCHOR:-} tosac=$PWD/build/tosac
dir=$(mktemp -d "${TMPDIR:-/tmp}/tosac-aims.XXXXXX")
trap 'rm -rf "$dir"' EXIT
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }
row() { # WORDS VALUE UNIT AIM less|more
    awk -v w="$1" -v v="$2" -v u="$3" -v a="$4" -v way="$5" 'BEGIN { if (v == "") v = "nan"
        good = v == "nan" ? "-" : (way == "less" ? v + 0 <= a + 0 : v + 0 >= a + 0) ? "yes" : "no"
        printf "%-52s %10.2f %-4s %s %8s %-4s %s\n", w, v, u, way == "less" ? "<=" : ">=", a, u, good }'
}
wall() { # N COMMAND...: the least wall seconds of N
    local n=$1 best= t begin
    shift
    for _ in $(seq "$n"); do
        begin=$EPOCHREALTIME
        "$@" >/dev/null 2>&1
        t=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.6f", b - a }')
        best=$(awk -v a="${best:-9e9}" -v b="$t" 'BEGIN { print b < a ? b : a }')
    done
    echo "$best"
}
over() { awk -v a="${1:-}" -v b="${2:-}" 'BEGIN { if (a != "" && b + 0 > 0) print a / b }'; }
median() { "$tosac" run "$@" --bench "$runs" --threads 1 --json 2>/dev/null >"$dir/run" && field median_s "$dir/run"; }
peak() { /usr/bin/time -f %M -o "$dir/peak" "$@" >/dev/null 2>&1 && tail -1 "$dir/peak"; }
first() { for f in "$@"; do [ -e "$f" ] && echo "$f" && return; done; }
models() { for f in "$shared"/zoo/*/ "$shared"/zoo/small/*/; do [ -e "$f/model.pt2" ] && [ -n "$(first "$f"/calib.np[yz])" ] && echo "$f"; done; }

printf '%-52s %15s %16s %s\n' 'what' 'measured' 'aim' 'met'
row 'start-up: tosac --version' "$(awk -v s="$(wall 20 "$tosac" --version)" 'BEGIN { print 1e3 * s }')" ms 2 less

for folder in $(models); do
    name=$(basename "$folder") calib=$(first "$folder"/calib.np[yz])
    "$tosac" quantize "$folder/model.pt2" --calib "$calib" -q int8 -o "$dir/8.ir" >/dev/null 2>&1 || continue
    "$tosac" compile "$dir/8.ir" -t TOSA-1.0+INT -o "$dir/8.tosa" >/dev/null 2>&1
    float=$(median "$folder/model.pt2" -i "$calib") int=$(median "$dir/8.tosa" -i random:1)
    row "int8 run beside float run: $name" "$(over "$int" "$float")" x 1 less
    "$tosac" quantize "$folder/model.pt2" --calib "$calib" -q a16w8 -o "$dir/16.ir" >/dev/null 2>&1 || continue
    "$tosac" compile "$dir/16.ir" -t TOSA-1.0+INT+int16 -o "$dir/16.tosa" >/dev/null 2>&1
    row "16-bit run beside int8 run: $name" "$(over "$(median "$dir/16.tosa" -i random:1)" "$int")" x 3 less
done
lm=$shared/zoo/lm
if [ -e "$lm/tiny/forward.pt2" ]; then
    for q in int8 a16w8; do
        "$tosac" quantize "$lm/tiny/forward.pt2" --calib "$lm/calib.npy" -q $q -o "$dir/$q.ir" >/dev/null 2>&1
        "$tosac" compile "$dir/$q.ir" -t TOSA-1.0+INT+int16 -o "$dir/$q.tosa" >/dev/null 2>&1
    done
    row '16-bit run beside int8 run: decoder of zoo/lm' "$(over "$(median "$dir/a16w8.tosa" -i random:1)" "$(median "$dir/int8.tosa" -i random:1)")" x 3 less
fi

# Two threads beside one, wall time: more cores are not asked for.
for folder in $(models | head -5); do
    name=$(basename "$folder") calib=$(first "$folder"/calib.np[yz]) model=$folder/model.pt2
    both() { # WORDS COMMAND...
        local words=$1
        shift
        row "two threads, $words: $name" "$(over "$(wall 3 "$@" --threads 1)" "$(wall 3 "$@" --threads 2)")" x 1.8 more
    }
    both run "$tosac" run "$model" -i "$calib" -o "$dir/out"
    both quantize "$tosac" quantize "$model" --calib "$calib" -o "$dir/t.ir"
    both compare "$tosac" compare "$model" "$dir/t.ir" -i "$calib"
    [ ! -e "$folder/test.npz" ] || both evaluate "$tosac" evaluate "$model" "$dir/t.ir" --data "$folder/test.npz"
done

# Peak of the whole process beside the file; the aim is 1.3 of that and 1.2 of what the plan needs, so files that are small
# beside the process itself are left out.
for folder in $(models); do
    name=$(basename "$folder") calib=$(first "$folder"/calib.np[yz]) model=$folder/model.pt2
    file=$(stat -c %s "$model")
    [ "$file" -ge 5000000 ] || continue
    run=$(peak "$tosac" run "$model" -i random:1 --threads 1) quantize=$(peak "$tosac" quantize "$model" --calib "$calib" --threads 1 -o "$dir/t.ir")
    beside() { awk -v p="$1" -v f="$file" 'BEGIN { if (p != "") print p * 1024 / f }'; }
    row "peak memory of a run beside the file: $name" "$(beside "$run")" x 1.3 less
    row "peak memory of calibration beside the file: $name" "$(beside "$quantize")" x 1.3 less
done

# Inside a process, beside Arm's converter as a program.
converter=$(first "${TOSAC_CONVERTER:-}" "$(dirname "${anchor:-/nowhere/python}")/model-converter" "${TOSAC_JUDGES:-build/peers/judges}/bin/model-converter")
spec=TOSA-1.0+INT+FP+int16+int4+bf16
if [ -n "$converter" ] && [ -x build/bench-convert ]; then
    for file in "$shared"/zoo/*/anchor/model.tosa "$shared"/zoo/small/*/anchor_int8.tosa; do
        [ -e "$file" ] && "$tosac" compile "$file" -t $spec -o "$dir/m.tosa" >/dev/null 2>&1 || continue
        theirs=$(wall 3 "$converter" -i "$dir/m.tosa" -o "$dir/theirs.vgf")
        name=${file#"$shared"/zoo/}
        row "TOSA to VGF, program: ${name%/*}" "$(over "$theirs" "$(wall 10 "$tosac" compile "$dir/m.tosa" -t vgf:$spec -o "$dir/ours.vgf")")" x 50 more
        row "TOSA to VGF, library: ${name%/*}" "$(over "$theirs" "$(build/bench-convert "$dir/m.tosa" vgf:$spec 20 2>/dev/null)")" x 200 more
    done
fi

# Decoders of random weights: quantized to a8w8 and a16w4, and written.
sizes='768 4 2000 1024 16 16000'
[ -n "${LARGE:-}" ] && sizes+=' 2048 24 32000'
set -- $sizes
while [ -n "$anchor" ] && [ $# -ge 3 ]; do
    if "$anchor" bench/decoder.py "$1" "$2" "$3" 16 "$dir/m.pt2" >/dev/null 2>&1; then
        file=$(stat -c %s "$dir/m.pt2")
        aim=$(awk -v f="$file" 'BEGIN { a = 1.2 * f / 1e6; print int(a < 4000 ? a : 4000) }')
        for q in int8 a16w4; do
            /usr/bin/time -f '%U %M' -o "$dir/spent" "$tosac" quantize "$dir/m.pt2" --calib "$dir/m.npy" -q $q --threads 1 -o "$dir/t.ir" >/dev/null 2>&1
            read -r seconds kb < <(tail -1 "$dir/spent")
            row "decoder of $((file / 4000000)) M parameters, $q: $seconds s, peak" "$(awk -v k="$kb" 'BEGIN { print k * 1024 / 1e6 }')" MB "$aim" less
        done
        rm -f "$dir"/m.pt2 "$dir"/t.ir*
    fi
    shift 3
done
exit 0
