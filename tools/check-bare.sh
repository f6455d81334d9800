#!/usr/bin/env bash
# A bare Debian 12: the package installed by apt, the examples built there against it, and run.
#
#   check-bare.sh [PACKAGE]      without one, the newest build/tosac_*.deb; make deb makes it where there is none
#
# Needs mmdebstrap, root and Debian's mirror; the bare system is made anew in build/bare, a compiler and make are all
# that it gets beside the package.
set -uo pipefail
cd "$(dirname "$0")/.."
good=0 bad=0 root=$PWD/build/bare
digits=test/fixture/digits

skip() {
    echo "$1"
    echo "bare Debian 12: 0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap (apt-get install mmdebstrap)"
[ "$(id -u)" = 0 ] || skip "a system is made by root only"
trap 'rm -rf "$root"' EXIT
rm -rf "$root"
mmdebstrap --quiet --variant=minbase bookworm "$root" >build/bare.log 2>&1 || skip "there is no bare system: $(tail -1 build/bare.log)"

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >build/bare.log 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && tail -20 build/bare.log; fi
}
inside() { # COMMAND, inside the bare system
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$1"
}
says() { # TEXT COMMAND
    inside "$2" | tee build/bare.said
    grep -q -- "$1" build/bare.said
}

package=${1:-$(ls -t build/tosac_*.deb 2>/dev/null | head -1)}
if [ -z "$package" ]; then
    make -s deb >build/bare.log 2>&1
    package=$(ls -t build/tosac_*.deb 2>/dev/null | head -1)
fi
check "there is a package" test -n "$package"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tosac.deb" && cp -r examples "$root/examples" && cp -r $digits "$root/digits"
check "apt installs it" inside 'apt-get -q update && apt-get -q -y --no-install-recommends install /tosac.deb'
check "the command runs" says 'tosac 0' 'tosac --version'
check "it compiles a model" says '1 region' 'tosac compile /digits/model.pt2 --calib /digits/calib.npz -t TOSA-1.0+INT -o /digits.tosa'
check "it runs a model" says 'f32\[128,10\]' 'tosac run /digits/model.pt2 -i /digits/calib.npz'
check "a compiler, make and pkg-config" inside 'apt-get -q -y --no-install-recommends install gcc g++ libc6-dev make pkg-config'
check "the examples are built" inside 'make -s -C /examples'
check "compile" says bytes '/examples/compile /digits/model.pt2 /digits/calib.npz cpu /digits.pte'
check "run" says 'run 2, output 0' '/examples/run /digits.pte'
check "calibrate" says '1 region' '/examples/calibrate /digits/model.pt2 /digits.tosa'
check "merge" says '2 parts' '/examples/merge /digits/model.pt2 /merged.ir /digits/calib.npz /digits/test.npz'
check "apt takes it away" inside 'apt-get -q -y remove tosac && ! command -v tosac'
rm -f build/bare.log build/bare.said
echo "bare Debian 12: $good passed, $bad failed"
[ $bad = 0 ]
