#!/usr/bin/env bash
# A Debian package of the command, the libraries and the headers.
#       deb.sh [FOLDER [BUILD]]: where it goes (build), and a build to take them from
#
# Without BUILD they are built for it: optimised, without assertions, below /usr/lib/<machine>.
# What it depends on is read from what was linked: the packages that own the libraries, and the oldest C library with
# the symbols that are used.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build}
dir=${2:-build-deb}
stage=$dir/stage
machine=$(dpkg --print-architecture)
triple=

if [ -z "${2:-}" ]; then
    triple=$(gcc -print-multiarch 2>/dev/null || true)
    launcher=()
    command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S . -B $dir -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_INSTALL_LIBDIR="lib${triple:+/$triple}" -DCMAKE_SKIP_INSTALL_RPATH=ON >/dev/null
    ninja -C $dir tosac libtosac libtosac-shared >/dev/null
fi
rm -rf $stage
DESTDIR=$PWD/$stage cmake --install $dir --prefix /usr >/dev/null
find $stage -name '*.1' -exec gzip -9n {} +
strip --strip-unneeded $stage/usr/bin/tosac "$stage/usr/lib${triple:+/$triple}"/libtosac.so.*.*.*
strip --strip-debug "$stage/usr/lib${triple:+/$triple}"/libtosac.a

# Packages that own the libraries which are named in the files, or loaded when they are wanted.
owners() {
    local name path
    { objdump -p $stage/usr/bin/tosac "$stage/usr/lib${triple:+/$triple}"/libtosac.so.*.*.* | awk '/NEEDED/ {print $2}' && cat $dir/late.txt; } | sort -u |
        while read -r name; do
            [[ $name == libtosac.so* ]] && continue
            path=$(ldconfig -p | awk -v n="$name" '$1 == n {print $NF; exit}')
            path=$(realpath "$path")
            dpkg -S "$path" "/usr$path" "${path#/usr}" 2>/dev/null | head -1 | cut -d: -f1
        done | sort -u
}
glibc=$(objdump -T $stage/usr/bin/tosac "$stage/usr/lib${triple:+/$triple}"/libtosac.so.*.*.* | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
depends=
for package in $(owners); do
    if [ "$package" = libc6 ]; then
        depends+="${depends:+, }libc6 (>= ${glibc#GLIBC_})"
    else
        depends+="${depends:+, }$package"
    fi
done
version=$($dir/tosac --version | awk '{print $2}')
doc=$stage/usr/share/doc/tosac
mkdir -p $stage/DEBIAN $doc
cp LICENSE $doc/copyright
gzip -9n <CHANGELOG.md >$doc/changelog.gz
cat >$stage/DEBIAN/control <<END
Package: tosac
Version: $version
Architecture: $machine
Maintainer: The tosac authors <tosac@localhost>
Installed-Size: $(du -k -s $stage/usr | cut -f1)
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
dpkg-deb --root-owner-group --build $stage "$out/tosac_${version}_$machine.deb" >/dev/null
echo "$out/tosac_${version}_$machine.deb: needs $depends"
