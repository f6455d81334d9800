#!/usr/bin/env bash
# A Debian package of the command, the libraries and the headers.
#       deb.sh [FOLDER [BUILD]]: where it goes (build), and a build to take them from; build/arm/build (tools/cross.sh) gives one for arm64
#
# Without BUILD they are built for it: optimised, without assertions, below /usr/lib/<machine>.  With SOURCE_DATE_EPOCH the same build
# gives the same package, byte for byte.
# What it depends on is read from what was linked: the packages that own the libraries, and the oldest C library with
# the symbols that are used.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build}
dir=${2:-build-deb}
stage=$dir/stage
machine=$(dpkg --print-architecture)
tool='' root=''
umask 022

if [ -z "${2:-}" ]; then
    triple=$(gcc -print-multiarch 2>/dev/null || true)
    launcher=()
    command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B $dir -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_INSTALL_LIBDIR="lib${triple:+/$triple}" -DCMAKE_SKIP_INSTALL_RPATH=ON >/dev/null
    ninja -C $dir tosac libtosac libtosac-shared >/dev/null
fi
if [ "$(od -An -tu1 -j18 -N1 "$dir/libtosac.so" | tr -d ' ')" = 183 ] && [ "$machine" != arm64 ]; then
    machine=arm64 tool=aarch64-linux-gnu- root=${TOSAC_ARM_ROOT:-$(dirname "$dir")/root}
fi
libdir=usr/$(sed -nE 's/^CMAKE_INSTALL_LIBDIR:[A-Z]+=//p' "$dir/CMakeCache.txt")
rm -rf $stage
DESTDIR=$(realpath -m $stage) cmake --install $dir --prefix /usr >/dev/null
find $stage -name '*.1' -exec gzip -9n {} +
${tool}strip --strip-unneeded $stage/usr/bin/tosac "$stage/$libdir"/libtosac.so.*.*.*
${tool}strip --strip-debug "$stage/$libdir"/libtosac.a

owner() { # NAME of a library: the package it is in
    local path
    if [ -n "$root" ]; then
        path=$(realpath "$(find "$root" -name "$1" -path '*/aarch64-linux-gnu/*' | head -1)")
        path=${path#"$(realpath "$root")"}
        (cd "$root/var/lib/dpkg/info" && grep -lxF -e "$path" -e "/usr$path" -e "${path#/usr}" ./*.list | head -1 | sed 's/^..//; s/\.list$//')
        return
    fi
    path=$(realpath "$(ldconfig -p | awk -v n="$1" '$1 == n {print $NF; exit}')")
    dpkg -S "$path" "/usr$path" "${path#/usr}" 2>/dev/null | head -1 | cut -d: -f1
}

# Packages that own the libraries which are named in the files, or loaded when they are wanted.
owners() {
    local name
    { ${tool}objdump -p $stage/usr/bin/tosac "$stage/$libdir"/libtosac.so.*.*.* | awk '/NEEDED/ {print $2}' && cat $dir/late.txt; } | sort -u |
        while read -r name; do
            [[ $name == libtosac.so* ]] && continue
            owner "$name"
        done | sort -u
}
glibc=$(${tool}objdump -T $stage/usr/bin/tosac "$stage/$libdir"/libtosac.so.*.*.* | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
depends=
for package in $(owners); do
    if [ "$package" = libc6 ]; then
        depends+="${depends:+, }libc6 (>= ${glibc#GLIBC_})"
    else
        depends+="${depends:+, }$package"
    fi
done
version=$(sed -nE 's/^#define TOSAC_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' include/tosac/base.h | paste -sd.)
doc=$stage/usr/share/doc/tosac
mkdir -p $stage/DEBIAN $doc
cp LICENSE $doc/copyright
gzip -9n <CHANGELOG.md >$doc/changelog.gz
cat >$stage/DEBIAN/control <<END
Package: tosac
Version: $version
Architecture: $machine
Maintainer: The tosac authors <tosac@localhost>
Installed-Size: $(find $stage/usr -printf '%y %s\n' | awk '{n += $1 == "f" ? int(($2 + 1023) / 1024) : 1} END {print n}')
Depends: $depends
Recommends: libprotobuf-c-dev
Section: science
Priority: optional
Description: quantizing ahead-of-time compiler for Arm machine-learning targets
 Turns PyTorch exports (.pt2) and ONNX models into TOSA flatbuffers, VGF files, Ethos-U command
 streams and ExecuTorch programs, and quantizes them on the way.
 .
 This package holds the command, the shared and the static library, the
 headers, manual pages and completions.
END
printf 'activate-noawait ldconfig\n' >$stage/DEBIAN/triggers
dpkg-deb --root-owner-group --threads-max=1 --build $stage "$out/tosac_${version}_$machine.deb" >/dev/null
echo "$out/tosac_${version}_$machine.deb: needs $depends"
