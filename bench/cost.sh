#!/usr/bin/env bash
# Cycles of every trained model on four machines, by our model of the machine and by Vela's own figures; how many of Vela's
# scheduled operations are within 5 %, and the share of cycles that those have.        cost.sh [MODEL...]
#
# TOSAC_SHARED names the folder with the models (default ../shared); Vela is wanted in PATH.
set -uo pipefail
cd "$(dirname "$0")/.."
shared=${TOSAC_SHARED:-../shared}
work=$(mktemp -d "${TMPDIR:-/tmp}/tosac-cost.XXXXXX")
trap 'rm -rf "$work"' EXIT
models=("$@")
[ $# -gt 0 ] || models=("$shared"/zoo/*/ "$shared"/zoo/small/*/)

printf '%-34s %-14s %12s %12s %9s   %s\n' 'cost' machine 'by Vela' ours apart 'operations within 5 %'
for row in 'ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram' 'ethos-u65-256 Ethos_U65_High_End Dedicated_Sram_384KB' \
    'ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only' 'ethos-u85-1024 Ethos_U85_SYS_DRAM_Mid Sram_Only'; do
    read -r machine system mode <<<"$row"
    for folder in "${models[@]}"; do
        [ -e "$folder/model.pt2" ] || continue
        name=$(basename "$folder") data=random:2
        for f in "$folder"/calib.np[yz]; do [ -e "$f" ] && data=$f; done
        dir=$work/$name-$machine
        mkdir "$dir"
        if ! build/tosac compile "$folder/model.pt2" -t "$machine" --calib="$data" --dump-dir "$dir" -o "$dir/m.pte" >"$dir/said" 2>&1; then
            printf '%-34s %-14s %s\n' "$name" "$machine" "$(head -c 100 "$dir/said")"
            continue
        fi
        rm -f "$dir"/*.ir "$dir"/*.bin
        for tosa in "$dir"/*.tosa; do
            [ -e "$tosa" ] || continue
            mv "$tosa" "$dir/$name-$(basename "$tosa")"
            tosa=$dir/$name-$(basename "$tosa")
            vela --accelerator-config="$machine" --config=Arm/vela.ini --output-format=raw --system-config="$system" --memory-mode="$mode" \
                --enable-debug-db --output-dir="$dir" "$tosa" >"$dir/said" 2>&1 || continue
            build/npu-cost "$system" "$mode" "${tosa%.tosa}_vela.npz"
        done
        rm -rf "$dir"
    done
done
