#!/usr/bin/env bash
# Our own quantizer on the recorded cases, with what each of them must show.        quantize.sh TOSAC FIXTURES
set -uo pipefail
tosac=$1 cases=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$dir/log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "$what: failed: $*"
        tail -3 "$dir/log"
    fi
}

data() { # OPTION CASE: the first vector's inputs, each with the option before it
    local file
    for file in "$cases/$2"/t0_in*.npy; do [ -e "$file" ] && printf '%s %s\n' "$1" "$file"; done
}

quantize() { # CASE CONFIG: typed.ir and q.json in the working folder
    "$tosac" quantize "$cases/$1/model.pt2" $(data --calib "$1") -q "$2" -o "$dir/typed.ir" --qparams "$dir/q.json"
}

results() { # CASE: runs typed.ir on the case's inputs
    rm -rf "$dir/out"
    "$tosac" run "$dir/typed.ir" $(data -i "$1") -o "$dir/out"
}

same_numbers() { # FILE FILE: .npy files that end in the same N bytes, N from the smaller one's data
    local n=$(($(stat -c %s "$1") - 128))
    cmp <(tail -c "$n" "$1") <(tail -c "$n" "$2")
}

parameter() { # VALUE: "scale zero_point" of it
    sed -n "s/^  \"$1\": {\"scale\": \([^,]*\), \"zero_point\": \([^,]*\),.*/\1 \2/p" "$dir/q.json"
}

# PyTorch sums a convolution in an order of its own, which may move a scale by its last bit.
has() { # VALUE "SCALE ZERO_POINT"
    [ "$(parameter "$1")" = "$2" ] || awk -v ours="$(parameter "$1")" -v theirs="$2" 'BEGIN {
        split(ours, a, " "); split(theirs, b, " "); by = a[1] / b[1] - 1; exit !(a[2] == b[2] && by < 2 ^ -23 && by > -(2 ^ -23)) }'
}

# Constants joined: codes of one fixed scale, each part with its own numbers.
echo '{"activations": {"dtype": "int8", "qmin": -127, "qmax": 127, "scale": 0.007874015748031496, "zero_point": 0}, "io": "int8"}' >"$dir/fixed.json"
for case in seed0 seed0/cat_dim0 seed0/cat_hh_duplicate seed0/cat_three seed0/stack_dim1; do
    check "$case" quantize "$case" "$dir/fixed.json"
    check "$case" results "$case"
    check "$case: codes" same_numbers "$cases/$case/t0_q0.npy" "$dir/out/output_0.npy"
done

# The anchor's parameters: conv -> relu -> cat in one domain whose zero point is not the least code.
echo '{"preset": "anchor", "activations": {"qmin": -127, "qmax": 127}}' >"$dir/symmetric.json"
echo '{"io": "int8"}' >"$dir/io.json"
check seed1 quantize seed1 "$dir/symmetric.json"
check 'seed1: relu' has relu '0.003929885104298592 -111'
check 'seed1: cat' has cat '0.003929885104298592 -111'
check 'seed1: conv2d_1' has conv2d_1 '0.0024768554139882326 -7'

# An export that went through PT2E keeps its parameters.
check 'seed1, PT2E' "$tosac" quantize "$cases/seed1/quantized.pt2" -o "$dir/typed.ir" --qparams "$dir/q.json"
check 'seed1, PT2E: relu' has relu '0.003929885104298592 -111'

# Factories.
for case in "$cases"/seed2 "$cases"/seed2/*/; do
    case=${case#"$cases"/} case=${case%/}
    [ -e "$cases/$case/model.pt2" ] || continue
    check "$case" quantize "$case" int8
    check "$case" results "$case"
    check "$case, integers at the borders" quantize "$case" "$dir/io.json"
done

# Infinities survive in float parts; 16-bit scales below 2^-12 exist; the order of statements does not matter.
check D6 quantize defects/D6_where_neg_inf_softmax_fp int8
check D6 results defects/D6_where_neg_inf_softmax_fp
check 'D6: masked scores' same_numbers "$cases/defects/D6_where_neg_inf_softmax_fp/t0_float1.npy" "$dir/out/output_1.npy"
check D11 quantize defects/D11_conv_small_a16w8 a16w8
check 'D11: a scale below 2^-12' awk '/torch.int16/ { if (substr($3, 1, length($3) - 1) + 0 < 2 ^ -12) found = 1 } END { exit !found }' "$dir/q.json"
check D12 quantize defects/D12_two_conv_relu_sequential int8
grep -o '"scale": [^,]*, "zero_point": [^,]*' "$dir/q.json" | sort >"$dir/one"
check D12 quantize defects/D12_two_conv_relu_interleaved int8
grep -o '"scale": [^,]*, "zero_point": [^,]*' "$dir/q.json" | sort >"$dir/other"
check 'D12: the same parameters' cmp "$dir/one" "$dir/other"

echo "quantizer: $passed passed, $failed failed"
[ "$failed" = 0 ]
