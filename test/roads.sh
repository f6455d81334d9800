#!/usr/bin/env bash
# compile -q P writes the same bytes as quantize -q P followed by compile, for every preset.        roads.sh [--all] TOSAC FIXTURES [WORD]
#
# Both are told the target: selects, packing and costs that are its own decide before anything is quantized.
set -uo pipefail
all=
if [ "$1" = --all ]; then all=1 && shift; fi
tosac=$1 fixture=$2 word=${3-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

roads() { # MODEL DATA TARGET PRESET
    local what="$(basename "$(dirname "$1")")/$(basename "$1") $3 $4" kind=pte
    [[ $what == *"$word"* ]] || return 0
    case $3 in TOSA*) kind=tosa ;; ethos*) kind=tosa ;; esac
    local emit=(--emit $kind)
    rm -f "$dir"/*
    if ! "$tosac" compile "$1" -t "$3" -q "$4" --calib "$2" "${emit[@]}" -o "$dir/one" >"$dir/log" 2>&1; then
        echo "$what: compile: $(grep -m1 error "$dir/log")"
    elif ! "$tosac" quantize "$1" -t "$3" -q "$4" --calib "$2" -o "$dir/typed.ir" >"$dir/log" 2>&1; then
        echo "$what: quantize: $(grep -m1 error "$dir/log")"
    elif ! "$tosac" compile "$dir/typed.ir" -t "$3" "${emit[@]}" -o "$dir/two" >"$dir/log" 2>&1; then
        echo "$what: compile what was quantized: $(grep -m1 error "$dir/log")"
    elif ! same; then
        echo "$what: the files differ"
    else
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
}

same() { # every file of one is a file of two
    local file
    for file in "$dir"/one*; do
        [ "${file%.json}" = "$file" ] || continue
        cmp -s "$file" "${file/one/two}" || return 1
    done
}

for preset in int8 int8+16:3 int8+16:10% a16w8 a8w4 a16w4 anchor; do
    for target in TOSA-1.0+INT+int16+int4 ethos-u55-128 ethos-u85-256 vgf cpu; do
        [[ $preset == *% && $target =~ ^(vgf|cpu)$ ]] && continue # the cost of cycles is not known there
        [ -n "$all" ] || [[ $preset =~ ^(int8|anchor)$ || $target =~ ^(TOSA|ethos-u55) ]] || continue
        roads "$fixture/digits/model.pt2" "$fixture/digits/calib.npz" $target $preset
        [ -n "$all" ] || [[ $preset =~ ^(int8|anchor)$ && $target = ethos-u55-128 ]] || continue
        roads "$fixture/spotter/stream.pt2" "$fixture/spotter/frames.npy" $target $preset
        roads "$fixture/decoder/forward.pt2" "$fixture/decoder/calib.npy" $target $preset
        roads "$fixture/speech/encode.pt2" "$fixture/speech/mel.npy" $target $preset
    done
done
roads "$fixture/digits/model.pt2" "$fixture/digits/calib.npz" TOSA-1.0+INT+FP none
echo "roads: $passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
