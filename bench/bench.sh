#!/usr/bin/env bash
# One table: reading, one sample on one thread, peak memory, for every trained model.        bench.sh [RUNS]
#
# TOSAC_SHARED names the folder with the models (default ../shared).  With TOSAC_ANCHOR, a Python that has torch, the
# same sample is timed in PyTorch eager in the same run, and the last column is how many times faster we are.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20} shared=${TOSAC_SHARED:-../shared} anchor=${TOSAC_ANCHOR:-}
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }
first() { for f in "$@"; do [ -e "$f" ] && echo "$f" && return; done; }

printf '%-24s %8s %10s %12s %10s %12s %8s\n' model MB 'read ms' 'ms a sample' 'peak MB' 'PyTorch ms' faster
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
