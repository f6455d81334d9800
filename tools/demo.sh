#!/usr/bin/env bash
# The whole road: a trained digit classifier, calibrated on real digits, compiled for an NPU and as TOSA, run on
# 1,000 test digits beside PyTorch's float result.
set -euo pipefail
cd "$(dirname "$0")/.."
digits=test/fixture/digits out=build/demo
say() { echo "\$ ${*//$PWD\//}" && "$@"; }
tools/setup.sh judges
export TOSAC_VELA=${TOSAC_JUDGES:-$PWD/build/peers/judges}/bin/vela
mkdir -p $out

echo "# float, as PyTorch computes it"
say build/tosac run $digits/model.pt2 -i $digits/test.npz -o $out
say build/score $out/output_0.npy $digits/test_label.npy $digits/test_logits.npy
echo
echo "# int8 for an Ethos-U85: quantize, split, lower, Vela, and a program that ExecuTorch loads"
say build/tosac compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz --emit pte+tosa -o $out/digits-u85.pte
say build/tosac explain $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz
say build/tosac run $out/digits-u85.pte -i $digits/test.npz -o $out
say build/score $out/output_0.npy $digits/test_label.npy $digits/test_logits.npy
echo
echo "# the same as TOSA, each step checked on the calibration data"
say build/tosac compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --check -o $out/digits.tosa
say build/tosac verify $out/digits.tosa -t TOSA-1.0+INT
ls -l $digits/model.pt2 $out/digits-u85.pte $out/digits.tosa | awk '{printf "%9d bytes  %s\n", $5, $9}'
