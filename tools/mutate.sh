#!/usr/bin/env bash
# Programs with a few bytes changed through the verbs of the command line.        mutate.sh BUILD COUNT SEED [FILE...]
#
# The files are compiled from test/fixture, with those of fuzz/corpus and any that are named; what fails is kept in BUILD/found-mutated.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1 count=$2 seed=$3
shift 3
dir=$build/mutate-seeds digits=test/fixture/digits code=0
mkdir -p "$dir"
if [ ! -e "$dir/made" ]; then
    make() { "$build/tosac" compile "$@" >/dev/null 2>&1 || echo "mutate: cannot compile $*"; }
    for target in cpu TOSA-1.0+INT ethos-u55-128 ethos-u85-256; do
        make $digits/model.pt2 -t $target --calib $digits/calib.npz -o "$dir/digits-$target.pte"
        make test/fixture/tflite/uint8_sums.tflite -t $target -o "$dir/sums-$target.pte"
        make test/fixture/tflite/curves16.tflite -t $target -o "$dir/curves-$target.pte"
    done
    for target in cpu ethos-u55-128 ethos-u85-256; do
        make $digits/model.pt2 -t $target --calib $digits/calib.npz -o "$dir/digits-$target.tflite"
        make test/fixture/tflite/uint8_sums.tflite -t $target -o "$dir/sums-$target.tflite"
    done
    for ext in vgf tosa; do
        make $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o "$dir/digits-int.$ext"
        make $digits/model.pt2 -t TOSA-1.0+FP -o "$dir/digits-fp.$ext"
        make test/fixture/tflite/uint8_sums.tflite -t TOSA-1.0+INT -o "$dir/sums-int.$ext"
    done
    cp test/fixture/tflite/*.tflite fuzz/corpus/tflite/*.tflite fuzz/corpus/vgf/*.vgf fuzz/corpus/pte/*.pte "$dir"
    for model in fuzz/corpus/onnx/test_*; do cp "$model" "$dir/${model##*/test_}.onnx"; done
    touch "$dir/made"
fi
"$build/mutate" --first "$seed" --count "$count" --found "$build/found-mutated" "$dir"/*.tflite "$dir"/*.pte "$dir"/*.vgf "$dir"/*.tosa \
    "$dir"/*.onnx $digits/model.pt2 "$@" || code=1
exit $code
