#!/usr/bin/env bash
# The whole road: a trained digit classifier, calibrated on real digits, compiled for two NPUs and as TOSA, run on
# 1,000 test digits beside PyTorch's float result.
#
# It brings what tosac is compiled with and nothing else: Python is not asked.
set -uo pipefail
cd "$(dirname "$0")/.."
digits=test/fixture/digits out=build/demo begun=$SECONDS code=0
mkdir -p build $out

tools/setup.sh demo || exit 1
options=()
[ -e build/CMakeCache.txt ] || ! command -v ccache >/dev/null || options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
echo "# compiling tosac"
cmake -G Ninja -S . -B build "${options[@]}" >/dev/null && tools/ninja.sh build $out/build.log tosac score || { tail -20 $out/build.log && exit 1; }

say() { echo "\$ ${*//$PWD\//}" && "$@" || code=1; }
run_and_score() { # PROGRAM
    say build/tosac run "$1" -i $digits/test.npz -o $out
    say build/score $out/output_0.npy $digits/test_label.npy $digits/test_logits.npy
}

echo
echo "# float, as PyTorch computes it"
run_and_score $digits/model.pt2
echo
echo "# int8 as TOSA, each step checked on the calibration data"
say build/tosac compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --check -o $out/digits.tosa
say build/tosac compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o $out/digits-tosa.pte
run_and_score $out/digits-tosa.pte
say build/tosac verify $out/digits.tosa -t TOSA-1.0+INT
echo
echo "# int8 for an Ethos-U85: quantize, split, lower, command stream, and a program that ExecuTorch loads"
npu=(--calib $digits/calib.npz --emit pte+tosa)
say build/tosac compile $digits/model.pt2 -t ethos-u85-256 "${npu[@]}" -o $out/digits-u85.pte --report $out/report.html
say build/tosac explain $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz
run_and_score $out/digits-u85.pte
echo
echo "# the same for an Ethos-U55"
say build/tosac compile $digits/model.pt2 -t ethos-u55-128 "${npu[@]}" -o $out/digits-u55.pte
run_and_score $out/digits-u55.pte
echo
for file in $digits/model.pt2 $out/digits.tosa $out/digits-u85.pte $out/digits-u55.pte; do
    [ ! -e $file ] || printf '%9d bytes  %s\n' "$(stat -c %s $file)" $file
done
echo "report: file://$PWD/$out/report.html"
echo "$((SECONDS - begun)) s"
exit $code
