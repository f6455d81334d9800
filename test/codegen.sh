#!/usr/bin/env bash
# Our own Ethos-U back end: streams verified, executed, beside the reference kernels.   codegen.sh NPU-OWN CASES [quick]
#
# The integer cases of TOSA's suite in CASES: on every machine of codegen/floor.txt those that it says, none wrong, and at least as many
# equal as it says.  Then codegen/*.ir on all machines: equal, or refused as codegen/refused.txt has it.
# quick: one machine each.  Ends with "N passed, N failed".
set -uo pipefail
own=$1 cases=$2 mode=${3:-full}
here=$(dirname "$0")
passed=0 failed=0

# Runs a list of cases; sets equal, wrong, refused and other.
try() { # MACHINE CASE...
    local out code
    out=$("$own" -v "$@" 2>&1)
    code=$?
    equal=$(grep -c ': equal' <<<"$out")
    wrong=$(grep -c ': WRONG' <<<"$out")
    refused=$(grep ': refused' <<<"$out")
    other=$(grep ': not tried' <<<"$out")
    grep ': WRONG' <<<"$out"
    if [ $code -gt 1 ]; then
        wrong=$((wrong + 1))
        echo "$1: exit $code behind: $(tail -1 <<<"$out")"
    fi
    passed=$((passed + equal)) failed=$((failed + wrong))
}

fault() {
    echo "$*"
    failed=$((failed + 1))
}

suite() { # MACHINE EVERY FLOOR
    mapfile -t list < <(find "$cases" -mindepth 1 -maxdepth 1 -type d ! -name '*ERRORIF*' | LC_ALL=C sort | grep -vE '_(bf16|f16|f32|fp8e4m3|fp8e5m2)' |
        awk -v every="$2" 'NR % every == 0')
    try "$1" "${list[@]}"
    echo "$1: $equal of ${#list[@]} equal, $(grep -c . <<<"$refused") refused"
    [ "$equal" -ge "$3" ] || fault "$1: $equal cases are equal, codegen/floor.txt says $3"
}

graphs() { # MACHINE
    try "$1" "$here"/codegen/*.ir
    local file product
    product=$(cut -d- -f1,2 <<<"$1")
    while read -r _ file _; do
        [ -n "$file" ] || continue
        file=$(basename "$file" .ir:)
        if grep -qE "^$product $file( |$)" "$here/codegen/refused.txt"; then
            passed=$((passed + 1))
        else
            fault "$(grep "/$file.ir" <<<"$refused")"
        fi
    done <<<"$refused"
    [ -z "$other" ] || fault "$other"
    echo "$1: $equal graphs equal, $(grep -c . <<<"$refused") refused"
}

while read -r machine every floor; do
    [ -n "$machine" ] && [ "${machine:0:1}" != '#' ] || continue
    if [ "$mode" = quick ] && [ "$machine" != ethos-u85-256 ]; then continue; fi
    suite "$machine" "$every" "$floor"
done <"$here/codegen/floor.txt"
# What breaks rules of TOSA does no harm.
mapfile -t list < <(find "$cases" -mindepth 1 -maxdepth 1 -type d -name '*ERRORIF*' | LC_ALL=C sort)
[ ${#list[@]} = 0 ] || try ethos-u85-256 "${list[@]}"
# Products of two activations as convolutions, where --optimise asks for them.
mapfile -t list < <(find "$cases" -mindepth 1 -maxdepth 1 -type d -name '*matmul*_i8*' ! -name '*ERRORIF*' | LC_ALL=C sort)
[ ${#list[@]} = 0 ] || try ethos-u55-128:products "${list[@]}"
machines="ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256 ethos-u65-256 ethos-u65-512 ethos-u85-128 ethos-u85-256 ethos-u85-512 ethos-u85-1024 ethos-u85-2048
    ethos-u55-128:products ethos-u65-512:products"
[ "$mode" != quick ] || machines=ethos-u55-128
for machine in $machines; do graphs $machine; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
