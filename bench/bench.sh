#!/usr/bin/env bash
# Float: reading, one sample on one thread, peak memory, for every trained model; integer graphs beside the TOSA
# reference model; TOSA files to VGF beside Arm's model converter; calibration beside plain evaluation; cycles of command
# streams by our model of the machines beside Vela's figures.        bench.sh [RUNS]
#
# TOSAC_SHARED names the folder with the models (default ../shared).  With TOSAC_ANCHOR, a Python that has torch, the
# same sample is timed in PyTorch eager in the same run, and the last column is how many times faster we are.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20} shared=${TOSAC_SHARED:-../shared} anchor=${TOSAC_ANCHOR:-}
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }
first() { for f in "$@"; do [ -e "$f" ] && echo "$f" && return; done; }

printf '%-24s %8s %10s %12s %10s %12s %8s\n' model MB 'read ms' 'ms a sample' 'peak MB' 'PyTorch ms' 'faster (aim 1.5x)'
for folder in "$shared"/zoo/*/ "$shared"/zoo/small/*/; do
    model=$folder/model.pt2
    [ -e "$model" ] || continue
    data=()
    for f in "$(first "$folder/test.npz" "$folder/test_x.npy")" "$folder/test_h.npy" "$folder/test_c.npy"; do
        [ -e "$f" ] && data+=("$f")
    done
    out=$(mktemp)
    if ! build/tosac run "$model" $(printf -- '-i %s ' "${data[@]}") --bench "$runs" --threads 1 --json >"$out" 2>&1; then
        printf '%-24s %s\n' "$(basename "$folder")" "$(head -c 100 "$out")"
        rm -f "$out"
        continue
    fi
    read_s=$(field read_s "$out") mine=$(field median_s "$out") peak=$(field peak_mb "$out") theirs=
    [ -n "$anchor" ] && theirs=$("$anchor" bench/eager.py "$model" "$runs" "${data[@]}" 2>/dev/null)
    awk -v name="$(basename "$folder")" -v bytes="$(stat -c %s "$model")" -v read="$read_s" -v mine="$mine" -v peak="$peak" \
        -v theirs="$theirs" 'BEGIN { printf "%-24s %8.1f %10.1f %12.3f %10.1f %12s %8s\n", name, bytes / 1e6, read * 1e3, mine * 1e3, peak,
        theirs == "" ? "-" : sprintf("%.3f", theirs * 1e3), theirs == "" ? "-" : sprintf("%.2fx", theirs / mine) }'
    rm -f "$out"
done

# Calibration: each pass beside plain evaluation of the same samples, in the same run, reading samples left out of both; range
# search and bias correction apart.  Processor time, beside the quickest plain run: a busy machine disturbs it least.
# The anchor's calibrate + convert are those recorded with the model.
printf '\n%-24s %12s %14s %14s %10s %10s %10s %12s\n' calibration 'plain ms' 'first (1.3x)' 'second (1.3x)' 'search s' 'bias s' 'whole s' 'anchor s'
for folder in "$shared"/zoo/*/ "$shared"/zoo/small/digits_*/; do
    model=$folder/model.pt2 data=$(first "$folder/calib.npz" "$folder/calib.npy")
    [ -e "$model" ] && [ -n "$data" ] || continue
    dir=$(mktemp -d)
    build/tosac run "$model" -i "$data" --bench "$((3 * runs))" --threads 1 --json >"$dir/run" 2>/dev/null
    build/tosac quantize "$model" --calib "$data" -o "$dir/t.ir" --threads 1 --json >"$dir/quantize" 2>/dev/null
    theirs=$(tr -d ' \n' 2>/dev/null <"$folder/anchor/anchor.json" |
        sed -n 's/.*"calibrate":{"wall":\([0-9.]*\).*"convert":{"wall":\([0-9.]*\).*/\1 \2/p' | awk '{ print $1 + $2 }')
    q() { field "$1" "$dir/quantize"; }
    awk -v name="$(basename "$folder")" -v plain="$(field min_s "$dir/run")" -v n="$(q samples)" -v a="$(q first_pass_s)" -v r="$(q read_s)" \
        -v b="$(q second_pass_s)" -v s="$(q search_s)" -v c="$(q bias_s)" -v theirs="${theirs:--}" 'BEGIN { whole = a + b + s + c; a -= r / 2; b -= r / 2; if (n && plain)
        printf "%-24s %12.3f %7.3f %5.2fx %7.3f %5.2fx %10.3f %10.3f %10.3f %12s\n", name, plain * 1e3, a / n * 1e3, a / n / plain,
        b / n * 1e3, b / n / plain, s, c, whole, theirs }'
    rm -rf "$dir"
done

python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
if [ -x "$python" ]; then
    printf '\n%-36s %12s %16s %8s\n' 'integer graph' 'ms a sample' 'reference ms' faster
    for file in "$shared"/zoo/*/anchor/model.tosa "$shared"/zoo/small/*/anchor_int8.tosa; do
        [ -e "$file" ] || continue
        dir=$(mktemp -d)
        theirs=$("$python" bench/reference.py "$file" 3 "$dir/in" 2>/dev/null | tail -1)
        mine=$(build/tosac run "$file" $(printf -- '-i %s ' "$dir"/in_*.npy) --bench "$runs" --threads 1 --json 2>/dev/null >"$dir/out" && field min_s "$dir/out")
        [ -n "$theirs" ] && [ -n "$mine" ] && awk -v name="${file#"$shared"/zoo/}" -v mine="$mine" -v theirs="$theirs" \
            'BEGIN { printf "%-36s %12.3f %16.3f %7.0fx\n", name, mine * 1e3, theirs * 1e3, theirs / mine }'
        rm -rf "$dir"
    done
    printf '\n'
    "$python" bench/vgf.py build/tosac $(ls "$shared"/zoo/*/anchor/model.tosa "$shared"/zoo/small/*/anchor_int8.tosa 2>/dev/null)
fi
[ -x "$python" ] && [ -x build/npu-cost ] && { echo; PATH=$(dirname "$python"):$PATH bash bench/cost.sh; }
exit 0
