#!/usr/bin/env bash
# A stranger's first minutes, timed: a fresh Debian 12 with python3-venv and nothing else; the wheel by pip, the tutorial's ten
# lines, a .pte, a report; then ExecuTorch's own runtime loads the .pte and gives the same numbers.
#       check-fresh.sh [WHEEL [ROOT]]
#
# WHEEL: build/dist's.  ROOT: a fresh system that is there already, as `mmdebstrap --variant=minbase --include=python3-venv
# bookworm ROOT` makes it; without, one is made, and removed.  Where that cannot be (no mmdebstrap, not root, no network) a
# fresh environment with an empty PATH takes its place, and the first line says so.  Packages come from pip's own configuration;
# folders of packages that it names are shown to the new system.  TOSAC_TORCH names a Python with executorch.
set -uo pipefail
cd "$(dirname "$0")/.."
here=$PWD work=$(mktemp -d) good=0 bad=0 left=0 made=
wheel=$(realpath "${1:-$(ls build/dist/tosac-*.whl 2>/dev/null | head -1)}") || { echo "there is no wheel: make wheel" && exit 1; }
root=${2:-}
torch=${TOSAC_TORCH:-$here/build/peers/anchor/bin/python}
mounts=()
clean() {
    local m
    for m in "${mounts[@]}"; do umount "$m" 2>/dev/null; done
    [ -z "$made" ] || rm -rf --one-file-system "$made"
    [ -z "$root" ] || rm -rf --one-file-system "$root/first"
    rm -rf "$work"
}
trap clean EXIT

check() { # WORDS COMMAND...: with its time on the clock, and of the processor
    local words=$1 rc TIMEFORMAT='%R %U %S'
    shift
    { time "$@" >"$work/log" 2>&1; rc=$?; } 2>"$work/time"
    awk -v words="$words" '{printf "%7.1f s (%.1f s of processor)  %s\n", $1, $2 + $3, words}' "$work/time"
    if [ $rc = 0 ]; then good=$((good + 1)); else bad=$((bad + 1)) && tail -15 "$work/log"; fi
    return $rc
}

if [ -z "$root" ] && [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; then
    made=$work/debian
    mmdebstrap --variant=minbase --include=python3-venv bookworm "$made" >"$work/log" 2>&1 && root=$made || { made='' && tail -2 "$work/log"; }
fi
if [ -n "$root" ]; then
    echo "a fresh Debian $(cat "$root/etc/debian_version"), $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null
    mkdir -p "$root/first" "$root/etc/ssl/certs"
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    cp /etc/pip.conf "$root/etc/pip.conf" 2>/dev/null
    for folder in $({ pip config list 2>/dev/null || python3 -m pip config list; } | grep -oE "/opt/[a-z-]+" | sort -u) /proc /dev; do
        mkdir -p "$root$folder" && mount --bind "$folder" "$root$folder" && mounts+=("$root$folder")
    done
    inside() { chroot "$root" /usr/bin/env -i HOME=/first PATH=/usr/bin:/bin TMPDIR=/tmp $(env | grep -E '^(PIP_|https?_proxy)') /bin/sh -c "cd /first && $1"; }
    first=$root/first python=/usr/bin/python3
else
    echo "no fresh system can be made here: a fresh environment with an empty PATH"
    first=$work/first python=$(command -v python3)
    mkdir -p "$first"
    inside() { env -i HOME="$first" PATH= $(env | grep -E '^(PIP_|https?_proxy)') /bin/sh -c "cd $first && $1"; }
fi
cp -r test/fixture/digits "$first/digits"
cp "$wheel" "$first/"
# The ten lines of the tutorial that need numpy alone, with the paths of this place.
sed -n '/^## 5/,$p' doc/tutorial.md | sed -n '/^```python$/,/^```$/p' | sed '/^```/d; s|test/fixture/digits|digits|g' >"$first/ten.py"

begun=$SECONDS
check "python3 -m venv" inside "$python -m venv env" &&
    check "pip install of the wheel ($(stat -c %s "$wheel") bytes)" inside "env/bin/pip install -q ./${wheel##*/}" &&
    check "the tutorial's ten lines" inside "mkdir -p tutorial && env/bin/python ten.py" && cat "$work/log" &&
    check "tosac doctor: Ethos-U works" inside "env/bin/tosac doctor | grep -q '^ok *targets .*ethos-u85'" &&
    check "a report" inside "test -s tutorial/digits.html" &&
    check "for an Ethos-U55, by the command line" inside "env/bin/tosac compile digits/model.pt2 -t ethos-u55-128 --calib digits/calib.npz -o u55.pte" && cat "$work/log" &&
    check "its stream runs" inside "env/bin/tosac run u55.pte -i digits/test.npz -o u55" &&
    check "for an Ethos-U85, by the command line" inside "env/bin/tosac compile digits/model.pt2 -t ethos-u85-256 --calib digits/calib.npz -o u85.pte --report u85.html" && cat "$work/log"
echo "$((SECONDS - begun)) s in all"

if [ -x "$torch" ] && "$torch" -c 'import executorch.runtime' 2>/dev/null; then
    # A program for the CPU: the portable runtime has no delegates.  The same numbers as ours, within a step of the output.
    check "for ExecuTorch's own kernels" inside "env/bin/python -c \"import tosac; tosac.compile('digits/model.pt2', 'cpu', 'digits/calib.npz', 'int8').save('cpu.pte')\""
    inside "env/bin/tosac run cpu.pte -i digits/test.npz -o ours" >/dev/null 2>&1
    cat >"$work/load.py" <<END
import sys, numpy as np, torch
import executorch.kernels.quantized  # noqa: F401
from executorch.runtime import Runtime
runtime = Runtime.get()
for name in ("tutorial/digits.pte", "u85.pte"):
    print(name, runtime.load_program(sys.argv[1] + "/" + name).method_names)
method = runtime.load_program(sys.argv[1] + "/cpu.pte").load_method("forward")
x = np.load(sys.argv[1] + "/digits/test.npz")["x"][:20]
got = np.concatenate([method.execute([torch.from_numpy(v[None].copy())])[0].numpy() for v in x])
want = np.load(sys.argv[1] + "/ours/output_0.npy")[:20]
print("largest difference", np.abs(got - want).max())
assert np.abs(got - want).max() < 0.1 and (got.argmax(1) == want.argmax(1)).all()
END
    check "ExecuTorch's runtime loads the programs, and computes the same" "$torch" "$work/load.py" "$first"
    cat "$work/log" | grep -E "pte|difference"
else
    echo "there is no ExecuTorch: TOSAC_TORCH names a Python that has it"
    left=1
fi
echo "$good passed, $bad failed, $left skipped"
[ $bad = 0 ]
