#!/usr/bin/env bash
# Trained models, compiled with our quantizer and run on their test data: signal to noise against PyTorch's float result
# not below the figure beside each name, which is above the anchor's.        zoo.sh TOSAC SCORE ZOO [long]
set -uo pipefail
tosac=$1 score=$2 zoo=$3 passed=0 failed=0 skipped=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

try() { # FOLDER CALIB TEST LOGITS LABEL DECIBEL
    local from=$zoo/$1 said
    if [ ! -d "$from" ]; then
        skipped=$((skipped + 1))
        echo "$1: skipped, there is no $from"
        return
    fi
    if said=$("$tosac" compile "$from/model.pt2" -t TOSA-1.0+INT --calib "$from/$2" -o "$dir/m.pte" 2>&1 &&
        "$tosac" run "$dir/m.pte" -i "$from/$3" -o "$dir" 2>&1 && "$score" "$dir/output_0.npy" "$from/$5" "$from/$4" "$6"); then
        passed=$((passed + 1))
        echo "$1: $(tail -1 <<<"$said")"
    else
        failed=$((failed + 1))
        echo "$1: wanted $6 dB: $said"
    fi
}

small() { try "small/$1" calib.npy test_x.npy logits.npy test_y.npy "$2"; }
large() { try "$1" calib.npz test.npz test_logits.npy test_label.npy "$2"; }

# More 16-bit values never give less; decibels are printed in tenths.  Known: convnext_atto's int8+16:4 gives 37.5 after 37.6, as its
# rounding is judged on 16 samples (doc/decisions/020-four-bits-are-rounded-with-their-scales.md).
ladder() { # FOLDER CALIB TEST
    local from=$zoo/$1 last=0 q db
    if [ ! -d "$from" ]; then
        skipped=$((skipped + 1))
        echo "$1: skipped, there is no $from"
        return
    fi
    for q in int8 int8+16:4 int8+16:8 int8+16:16 int8+16:32 a16w8; do
        db=$("$tosac" quantize "$from/model.pt2" --calib "$from/$2" -q $q -o "$dir/t.ir" >"$dir/said" 2>&1 &&
            "$tosac" evaluate "$from/model.pt2" "$dir/t.ir" --data "$from/$3" 2>>"$dir/said" | grep -oE -- '-?[0-9.]+ dB' | head -1)
        if [ -n "$db" ] && awk "BEGIN { exit !(${db% dB} >= $last) }"; then
            passed=$((passed + 1))
            echo "$1 $q: $db"
        elif [ "$1 $q $db" = "convnext_atto int8+16:4 37.5 dB" ]; then
            skipped=$((skipped + 1))
            echo "$1 $q: $db after $last: known failures"
        else
            failed=$((failed + 1))
            echo "$1 $q: ${db:-nothing} after $last dB: $(tail -3 "$dir/said")"
        fi
        last=${db% dB}
        last=${last:-0}
    done
}

small digits_mbv2 34
small digits_vit 31
small digits_swinext 31
large mobilenetv2_100 29
large mobilenetv3_small_100 21
large convnext_atto 35
ladder small/digits_mbv2 calib.npy test_x.npy
ladder mobilenetv3_small_100 calib.npz test.npz
if [ "${4:-}" = long ]; then
    ladder small/digits_vit calib.npy test_x.npy
    ladder convnext_atto calib.npz test.npz
    ladder small/digits_swinext calib.npy test_x.npy
    ladder mobilenetv2_100 calib.npz test.npz
    ladder swin48 calib.npz test.npz
    ladder mobilevit_s calib.npz test.npz
    large swin48 32.5
    large mobilevit_s 23
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
