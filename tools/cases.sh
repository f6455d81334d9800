#!/usr/bin/env bash
# Unpacks the recorded cases of test/suites once.        cases.sh [FOLDER]
#
# Into build/cases unless another folder is named.  An archive that has changed replaces what it had unpacked.
set -euo pipefail
cd "$(dirname "$0")/.."
to=${1:-build/cases}
declare -A root=([aten]=suites/aten [fixtures]=fixtures [world]=world [tosa]=suites/public [tosa11]=suites/tosa11 [rare]=suites/rare [onnx]=suites/onnx [tflite]=suites/tflite [dynamic]=suites/dynamic)
mkdir -p "$to/suites"
for archive in test/suites/*.tar.xz; do
    name=$(basename "$archive" .tar.xz)
    sum=$(sha256sum <"$archive")
    [ "$(cat "$to/.$name" 2>/dev/null)" != "$sum" ] || continue
    rm -rf "${to:?}/${root[$name]}" "$to/.$name"
    # members of tosa.tar.xz begin with public/, of the others with the folder itself
    if [ "$name" = tosa ]; then tar -xf "$archive" -C "$to/suites"; else tar -xf "$archive" -C "$to"; fi
    echo "$sum" >"$to/.$name"
done
