#!/usr/bin/env bash
# Whether the sources compile for macOS, by the clang and the headers of Darwin's C library that come with Zig.
#       check-macos.sh [BUILD of this machine]: it has the generated files
#
# Zig's clang, newer than Debian's, warns of constants from an enum in sums of floats; that is C, on every machine.
# The headers of libzip, protobuf-c, libpng and libjpeg are those of this machine.  Nothing is linked.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build} zig=build/peers/zig
good=0 bad=0
tools/setup.sh zig || { echo "there is no Zig (ziglang on PyPI)" && echo "0 passed, 0 failed, 1 skipped" && exit 0; }
headers=build/macos/headers
rm -rf $headers && mkdir -p $headers/protobuf-c
for name in zip.h zipconf.h png.h pngconf.h pnglibconf.h jpeglib.h jmorecfg.h jerror.h jconfig.h protobuf-c/protobuf-c.h; do
    for path in /usr/include/$name /usr/include/libpng16/$name /usr/include/x86_64-linux-gnu/$name; do
        [ ! -e $path ] || { cp $path $headers/$name && break; }
    done
done
one() { # TARGET FILE
    build/peers/zig/bin/python -m ziglang cc -target "$1" -std=c11 -c -O0 -Wall -Wno-enum-float-conversion -Werror \
        -D_POSIX_C_SOURCE=200809L -D_DARWIN_C_SOURCE -D_FILE_OFFSET_BITS=64 -DTOSAC_PICTURES=1 \
        -DTOSAC_LIBZIP='"libzip.dylib"' -DTOSAC_LIBPNG='"libpng16.dylib"' -DTOSAC_LIBJPEG='"libjpeg.dylib"' -I include -isystem "$BUILD/generated" \
        -isystem "$HEADERS" "$2" -o "$WORK/object/${2//\//_}.o" >"$WORK/${2//\//_}.$1" 2>&1 || { echo "$1 $2" && head -5 "$WORK/${2//\//_}.$1"; }
}
export -f one
export BUILD=$build HEADERS=$headers WORK=build/macos
mkdir -p build/macos/object
for target in aarch64-macos; do
    git ls-files 'src/*.c' | grep -vE 'cortexm/kernels/|base/windows/|wire/static/' >build/macos/files
    xargs -a build/macos/files -n 1 -P "$(nproc)" bash -c 'one "$@"' one $target >build/macos/said
    wrong=$(grep -c "^$target " build/macos/said || true)
    bad=$((bad + wrong)) good=$((good + $(wc -l <build/macos/files) - wrong))
    cat build/macos/said
done
echo "$good passed, $bad failed"
[ $bad = 0 ]
