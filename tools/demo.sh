#!/usr/bin/env bash
# The whole road: a trained digit classifier, calibrated on real digits, compiled for an NPU and as TOSA, run on
# 1,000 test digits beside PyTorch's float result.
#
# It brings what it needs and nothing else: what tosac is compiled with, and Vela.  Without Vela (no network, say) the NPU's
# part is left out, in one line; float and integer TOSA need neither.
set -uo pipefail
cd "$(dirname "$0")/.."
digits=test/fixture/digits out=build/demo begun=$SECONDS code=0
mkdir -p build $out

tools/setup.sh demo || exit 1
tools/setup.sh vela >$out/vela.log 2>&1 & # beside the compiler
options=()
command -v ccache >/dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
[ -e build/CMakeCache.txt ] || find /usr/lib /usr/local/lib -name 'libdnnl.so' 2>/dev/null | grep -q . || {
    echo "demo: oneDNN is missing (libdnnl-dev): our own kernels compute instead"
    options+=(-DTOSAC_ONEDNN=OFF)
}
echo "# compiling tosac"
cmake -G Ninja -S . -B build "${options[@]}" >/dev/null && ninja -C build tosac score >$out/build.log || { tail -20 $out/build.log && exit 1; }
wait
cat $out/vela.log

for vela in "${TOSAC_VELA:-}" "$(command -v vela)" "${TOSAC_JUDGES:-$PWD/build/peers/judges}/bin/vela" "$PWD/build/peers/vela/bin/vela"; do
    [ -x "$vela" ] && break
done

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
target=TOSA-1.0+INT
if [ -x "$vela" ]; then
    export TOSAC_VELA=$vela target=ethos-u85-256
    echo "# int8 for an Ethos-U85: quantize, split, lower, Vela, and a program that ExecuTorch loads"
    say build/tosac compile $digits/model.pt2 -t $target --calib $digits/calib.npz --emit pte+tosa -o $out/digits-u85.pte --report $out/report.html
    say build/tosac explain $digits/model.pt2 -t $target --calib $digits/calib.npz
    run_and_score $out/digits-u85.pte
else
    echo "demo: without Vela nothing is compiled for Ethos-U here: pip install ethos-u-vela==5.2.0"
    say build/tosac compile $digits/model.pt2 -t $target --calib $digits/calib.npz --report $out/report.html
fi
echo
for file in $digits/model.pt2 $out/digits.tosa $out/digits-u85.pte; do
    [ ! -e $file ] || printf '%9d bytes  %s\n' "$(stat -c %s $file)" $file
done
echo "report: file://$PWD/$out/report.html"
echo "$((SECONDS - begun)) s"
exit $code
