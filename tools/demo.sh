#!/usr/bin/env bash
# A small trained network on 1,000 handwritten digits, beside what PyTorch gave.
set -euo pipefail
cd "$(dirname "$0")/.."
digits=test/fixture/digits out=build/demo
say() { echo "$ $*" && "$@"; }
say build/tosac run $digits/model.pt2 -i $digits/test.npz -o $out
say build/score $out/output_0.npy $digits/test_label.npy $digits/test_logits.npy
