#!/usr/bin/env bash
# tosac for another machine, built here.        cross.sh x86|arm|windows|wasm [TARGET...]      without targets: everything
#
#   x86      64-bit x86 under Linux, as it is released (tools/release.sh): with this machine's compiler, which is one itself
#   arm      64-bit Arm under Linux, by gcc-aarch64-linux-gnu; its libraries are Debian's packages, unpacked into build/arm/root
#   windows  64-bit Windows, by gcc-mingw-w64-x86-64-posix; its libraries are built from Debian's sources into build/windows/root:
#            libzip, libpng and libjpeg-turbo as DLLs, protobuf-c and musl's mathematics as archives.  MinGW's own sin(), cos() and
#            fma() are off by far more than a last bit.
#   wasm     WebAssembly, by emscripten; libzip, zlib, protobuf-c, libpng and libjpeg-turbo are built from Debian's sources into
#            build/wasm/root.  tosac is the command line as a module of JavaScript and a .wasm.
#
# The build is in build/MACHINE/build, and the same bytes come out in any folder.  The target tosac-static (x86, arm) is the command that
# needs no library; for it libzip is built from Debian's sources, as an archive, which Debian has not.  What is missing is brought by apt-get, as far as that is possible here; exit 3: it is not.
# TOSAC_ARM_ROOT, TOSAC_WINDOWS_ROOT, TOSAC_WASM_ROOT and TOSAC_ZIP_ROOT (of all machines' libzip archives) name roots that are there already.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=${1:?cross.sh x86|arm|windows|wasm [TARGET...]} here=$PWD
shift
work=$here/build/$machine
export TOSAC_ARM_ROOT=${TOSAC_ARM_ROOT:-$here/build/arm/root} TOSAC_WINDOWS_ROOT=${TOSAC_WINDOWS_ROOT:-$here/build/windows/root}
export TOSAC_WASM_ROOT=${TOSAC_WASM_ROOT:-$here/build/wasm/root}
export TOSAC_ZIP_ROOT=${TOSAC_ZIP_ROOT:-$here/build/zip}
mkdir -p "$work"

# ---- 64-bit Arm: Debian's packages for another machine, without touching what is installed here ----

arm_root() {
    local apt=$work/apt deb options
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/state" "$TOSAC_ARM_ROOT"
    : >"$apt/status"
    : >"$TOSAC_ARM_ROOT/versions"
    options=(-q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::Lists="$apt/lists"
        -o Dir::Cache::Archives="$apt/archives" -o Dir::State="$apt/state" -o Dir::State::status="$apt/status"
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 -o APT::Install-Recommends=false)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" -y --download-only install libzip-dev libprotobuf-c-dev libpng-dev libjpeg-dev libc6-dev libstdc++-12-dev python3-minimal \
        libpython3-stdlib
    for deb in "$apt"/archives/*.deb; do
        dpkg -x "$deb" "$TOSAC_ARM_ROOT"
        mkdir -p "$TOSAC_ARM_ROOT/var/lib/dpkg/info" # who owns what, for the packages that we make
        dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's/^\.//; s/\/$//' >"$TOSAC_ARM_ROOT/var/lib/dpkg/info/$(dpkg-deb -f "$deb" Package).list"
        dpkg-deb -W --showformat='${Package} ${Version} ${source:Package}\n' "$deb" >>"$TOSAC_ARM_ROOT/versions"
    done
    rm -r "$apt"
}

# ---- libraries from Debian's sources ----

sources() { # PACKAGE...: unpacked into the folder where we are, with Debian's patches
    local list=$PWD/sources.list
    mkdir -p lists/partial
    sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1 | sed 's/.*/deb-src & bookworm main/' >"$list"
    [ -s "$list" ] || sed -n 's/^deb \(.*\)/deb-src \1/p' /etc/apt/sources.list | head -1 >"$list"
    local options=(-q -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$PWD/lists" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" source --download-only "$@"
    local dsc
    for dsc in *.dsc; do
        dpkg-source --no-check -x "$dsc" "${dsc%%_*}" 2>&1 | grep -v '^dpkg-source: info' || true
        echo "${dsc%%_*} $(sed -n 's/^Version: //p' "$dsc" | head -1)" >>versions
    done
    export SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$1/debian/changelog" -S Timestamp) # libjpeg-turbo says when it was built
}

# libzip reads archives by zlib alone: no encryption, no other compression.
zip_options=(-DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF -DENABLE_WINDOWS_CRYPTO=OFF
    -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF)

zip_archive() { # OPTIONS...: TOSAC_ZIP_ROOT/MACHINE has libzip.a, its licence and its version
    local to=$TOSAC_ZIP_ROOT/$machine
    rm -rf "$work/source" "$to"
    mkdir -p "$work/source" "$to"
    cd "$work/source"
    sources libzip
    cmake -G Ninja -S libzip -B libzip/build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_C_FLAGS="-ffile-prefix-map=$work/source=." "${zip_options[@]}" "$@"
    ninja -C libzip/build
    cp libzip/debian/copyright "$to/copyright" && cp versions "$to/versions" && cp libzip/build/lib/libzip.a "$to/libzip.a"
    cd "$here"
    rm -r "$work/source"
}

windows_cmake() { # FOLDER OPTIONS...
    local from=$1
    shift
    cmake -G Ninja -S "$from" -B "$from/build" -DCMAKE_TOOLCHAIN_FILE="$here/cmake/windows.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS="-ffile-prefix-map=$work/source=." -DCMAKE_INSTALL_PREFIX="$TOSAC_WINDOWS_ROOT" \
        -DCMAKE_SHARED_LINKER_FLAGS="-static -Wl,--no-insert-timestamp" -DZLIB_LIBRARY=/usr/x86_64-w64-mingw32/lib/libz.a "$@"
    ninja -C "$from/build" install
}

# musl's functions of real numbers, which are those of glibc or within a last bit of them.
windows_mathematics() { # FOLDER
    local gcc=x86_64-w64-mingw32-gcc-posix name
    mkdir -p "$1/less" "$1/objects"
    printf '#define __BYTE_ORDER 1234\n#define __LITTLE_ENDIAN 1234\n#define __BIG_ENDIAN 4321\n' >"$1/less/endian.h"
    printf '#include <stdint.h>\n#define a_clz_64 __builtin_clzll\n' >"$1/less/atomic.h"
    : >"$1/less/fp_arch.h"
    : >"$1/less/features.h"
    for name in acos asin asinh atan atan2 atanh cos cosh erf erff exp exp2 expf expm1 expm1f fma fmaf fmod fmodf hypot log log10 log1p log2 \
        logf pow sin sinh tan tanh tanhf __cos __sin __tan __rem_pio2 __rem_pio2_large __expo2 exp_data exp2f_data log_data log2_data logf_data \
        pow_data __math_{divzero,invalid,oflow,uflow,xflow}{,f}; do
        $gcc -O2 -std=c99 -ffp-contract=off -fno-builtin -frounding-math -w -Dhidden= '-Dweak_alias(a,b)=' -I "$1/less" -I "$1/src/internal" \
            -c "$1/src/math/$name.c" -o "$1/objects/$name.o"
    done
    x86_64-w64-mingw32-ar rcs "$TOSAC_WINDOWS_ROOT/lib/libmusl-math.a" "$1"/objects/*.o
}

windows_root() {
    local gcc=x86_64-w64-mingw32-gcc-posix to=$TOSAC_WINDOWS_ROOT
    rm -rf "$work/source" "$to"
    mkdir -p "$work/source" "$to/lib/pkgconfig" "$to/include/protobuf-c"
    cd "$work/source"
    sources libzip protobuf-c libpng1.6 libjpeg-turbo musl
    windows_cmake libzip "${zip_options[@]}"
    windows_cmake libpng1.6 -DPNG_TESTS=OFF -DPNG_STATIC=OFF
    windows_cmake libjpeg-turbo -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF -DENABLE_STATIC=OFF
    sed -i '/^Requires/d' "$to"/lib/pkgconfig/*.pc # zlib is inside
    $gcc -O2 -w -I protobuf-c -DPACKAGE_VERSION='"1.4.1"' -DPACKAGE_STRING='"protobuf-c 1.4.1"' -c protobuf-c/protobuf-c/protobuf-c.c -o protobuf-c.o
    x86_64-w64-mingw32-ar rcs "$to/lib/libprotobuf-c.a" protobuf-c.o
    cp protobuf-c/protobuf-c/protobuf-c.h "$to/include/protobuf-c"
    printf 'prefix=${pcfiledir}/../..\nName: libprotobuf-c\nDescription: protobuf-c\nVersion: 1.4.1\nLibs: -L${prefix}/lib -lprotobuf-c\nCflags: -I${prefix}/include\n' \
        >"$to/lib/pkgconfig/libprotobuf-c.pc"
    windows_mathematics musl
    mkdir -p "$to/licenses"
    local name
    for name in libzip protobuf-c libpng1.6 libjpeg-turbo musl; do cp "$name/debian/copyright" "$to/licenses/$name"; done
    cp /usr/share/doc/libz-mingw-w64-dev/copyright "$to/licenses/libz-mingw-w64"
    cp versions "$to/versions"
    cp /usr/share/doc/mingw-w64-x86-64-dev/copyright "$to/licenses/mingw-w64" # the start of every program, and threads
    cp /usr/share/doc/gcc-mingw-w64-x86-64-posix-runtime/copyright "$to/licenses/gcc-mingw-w64"
    dpkg-query -W -f='${source:Package} ${Version}\n' libz-mingw-w64-dev mingw-w64-x86-64-dev gcc-mingw-w64-x86-64-posix-runtime >>"$to/versions"
    cd "$here"
    rm -r "$work/source"
}

wasm_cmake() { # FOLDER OPTIONS...
    local from=$1
    shift
    cmake -G Ninja -S "$from" -B "$from/build" -DCMAKE_TOOLCHAIN_FILE="$here/cmake/wasm.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS="-msimd128 -matomics -mbulk-memory -ffile-prefix-map=$work/source=." -DCMAKE_INSTALL_PREFIX="$TOSAC_WASM_ROOT" \
        -DBUILD_SHARED_LIBS=OFF "$@"
    ninja -C "$from/build" install
}

wasm_root() {
    local to=$TOSAC_WASM_ROOT name zlib
    rm -rf "$work/source" "$to"
    mkdir -p "$work/source" "$to/lib/pkgconfig" "$to/include/protobuf-c" "$to/licenses"
    cd "$work/source"
    sources libzip zlib protobuf-c libpng1.6 libjpeg-turbo
    (cd zlib && emcc -O2 -w -msimd128 -matomics -mbulk-memory -c adler32.c compress.c crc32.c deflate.c infback.c inffast.c inflate.c inftrees.c \
        trees.c uncompr.c zutil.c && emar rcs "$to/lib/libz.a" ./*.o && cp zlib.h zconf.h "$to/include")
    zlib=(-DZLIB_LIBRARY="$to/lib/libz.a" -DZLIB_INCLUDE_DIR="$to/include")
    wasm_cmake libzip "${zip_options[@]}" "${zlib[@]}"
    wasm_cmake libpng1.6 -DPNG_TESTS=OFF -DPNG_SHARED=OFF -DM_LIBRARY= "${zlib[@]}"
    wasm_cmake libjpeg-turbo -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF -DENABLE_SHARED=OFF
    sed -i '/^Requires/d' "$to"/lib/pkgconfig/*.pc # all of them are linked
    emcc -O2 -w -msimd128 -matomics -mbulk-memory -I protobuf-c -DPACKAGE_VERSION='"1.4.1"' -DPACKAGE_STRING='"protobuf-c 1.4.1"' \
        -c protobuf-c/protobuf-c/protobuf-c.c -o protobuf-c.o
    emar rcs "$to/lib/libprotobuf-c.a" protobuf-c.o
    cp protobuf-c/protobuf-c/protobuf-c.h "$to/include/protobuf-c"
    printf 'prefix=${pcfiledir}/../..\nName: libprotobuf-c\nDescription: protobuf-c\nVersion: 1.4.1\nLibs: -L${prefix}/lib -lprotobuf-c\nCflags: -I${prefix}/include\n' \
        >"$to/lib/pkgconfig/libprotobuf-c.pc"
    for name in libzip zlib protobuf-c libpng1.6 libjpeg-turbo; do cp "$name/debian/copyright" "$to/licenses/$name"; done
    cp /usr/share/doc/emscripten/copyright "$to/licenses/emscripten" # the C library, and what starts it
    cp versions "$to/versions"
    dpkg-query -W -f='${source:Package} ${Version}\n' emscripten >>"$to/versions"
    cd "$here"
    rm -r "$work/source"
}

# ---- all ----

root=
case $machine in
x86)
    tools/setup.sh demo || exit 3
    options=(-DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu)
    zip=()
    ;;
arm)
    tools/setup.sh arm || exit 3
    zip=(-DCMAKE_TOOLCHAIN_FILE="$here/cmake/aarch64.cmake")
    options=("${zip[@]}" -DCMAKE_INSTALL_LIBDIR=lib/aarch64-linux-gnu)
    for file in usr/include/{zip.h,protobuf-c/protobuf-c.h,png.h,jpeglib.h,stdlib.h} usr/bin/python3 versions; do # one from before something was added is made again
        [ -e "$TOSAC_ARM_ROOT/$file" ] || { root=missing && break; }
    done
    ;;
windows)
    tools/setup.sh windows || exit 3
    options=(-DCMAKE_TOOLCHAIN_FILE=cmake/windows.cmake)
    [ -e "$TOSAC_WINDOWS_ROOT/versions" ] || root=missing
    ;;
wasm)
    tools/setup.sh wasm || exit 3
    export NODE_PATH=/usr/share/nodejs NODE_OPTIONS=--no-experimental-fetch # emscripten's scripts are older than a node with fetch()
    options=(-DCMAKE_TOOLCHAIN_FILE=cmake/wasm.cmake)
    [ -e "$TOSAC_WASM_ROOT/versions" ] || root=missing
    ;;
*) echo "cross.sh x86|arm|windows|wasm [TARGET...]" >&2 && exit 2 ;;
esac
if [ "$root" = missing ]; then
    echo "cross: libraries for $machine"
    set +e # inside || no command's failure would end it
    (set -e && "${machine}_root") >"$work/root.log" 2>&1
    [ $? = 0 ] || { tail -5 "$work/root.log" >&2 && exit 3; }
    set -e
fi
if [[ " $* " == *" tosac-static "* ]]; then
    [ -e "$TOSAC_ZIP_ROOT/$machine/libzip.a" ] || (zip_archive "${zip[@]}") >"$work/zip.log" 2>&1 || { tail -5 "$work/zip.log" >&2 && exit 3; }
    options+=(-DTOSAC_LIBZIP_ARCHIVE="$TOSAC_ZIP_ROOT/$machine/libzip.a")
fi
command -v ccache >/dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake -S . -B "$work/build" -G Ninja "${options[@]}" -DTOSAC_RELEASE=ON -DCMAKE_SKIP_INSTALL_RPATH=ON -DTOSAC_WERROR=ON >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" && exit 1; }
tools/ninja.sh "$work/build" "$work/build.log" "$@" || { grep -E 'error:|undefined|FAILED' "$work/build.log" | head -20 && exit 1; }
if [ "$machine" = windows ]; then cp "$TOSAC_WINDOWS_ROOT"/bin/lib{zip,png16,jpeg-62}.dll "$work/build"; fi
