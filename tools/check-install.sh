#!/usr/bin/env bash
# What a stranger does with an installed tosac: examples by pkg-config and by CMake, C and C++, shared and static; the
# package; uninstall.        check-install.sh [--no-deb|--release]
#
# The package is made of what is in build; with --release as 'make deb' makes it, which is a build of its own.
set -uo pipefail
cd "$(dirname "$0")/.."
here=$PWD dir=$(mktemp -d) good=0 bad=0
trap 'rm -rf "$dir"' EXIT
digits=$here/test/fixture/digits

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$dir/log" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && tail -20 "$dir/log"; fi
}

says() { # TEXT COMMAND...
    local text=$1
    shift
    "$@" >"$dir/said" 2>&1 || { cat "$dir/said"; return 1; }
    grep -q -- "$text" "$dir/said" || { cat "$dir/said"; return 1; }
}

# The examples do their work.
try_examples() { # FOLDER WORDS
    check "$2: compile" says 'bytes' "$1/compile" "$digits/model.pt2" "$digits/calib.npz" cpu "$dir/digits.pte"
    check "$2: run" says 'run 2, output 0' "$1/run" "$dir/digits.pte"
    check "$2: calibrate" says '1 region' "$1/calibrate" "$digits/model.pt2" "$dir/digits.tosa"
    check "$2: merge" says '2 parts' "$1/merge" "$digits/model.pt2" "$dir/merged.ir" "$digits/calib.npz" "$digits/test.npz"
    check "$2: compile fails as it should" eval "! $1/compile $dir/none.pt2 $digits/calib.npz cpu $dir/none.pte"
}

# Every header by itself, as C11 and as C++17.
headers() {
    local header language
    for header in "$dir"/prefix/include/tosac/*.h; do
        for language in "c -std=c11" "c++ -std=c++17"; do
            # shellcheck disable=SC2086
            printf '#include <tosac/%s>\n' "${header##*/}" |
                cc -x $language -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$dir/prefix/include" - || return 1
        done
    done
}

completes() { # WORDS EXPECTED: after "tosac"
    # shellcheck disable=SC2016
    bash -c '. "$0"; COMP_WORDS=(tosac $1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tosac
        [ "$(printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd" ")" = "$2" ]' "$dir/prefix/share/bash-completion/completions/tosac" "$1" "$2"
}

completions() {
    local share=$dir/prefix/share
    bash -n "$share/bash-completion/completions/tosac" || return 1
    # shellcheck disable=SC1091,SC2016
    bash -c '. "$0"; COMP_WORDS=(tosac comp); COMP_CWORD=1; _tosac; [[ " ${COMPREPLY[*]} " == *" compile "* ]]' \
        "$share/bash-completion/completions/tosac" || return 1
    # shellcheck disable=SC2016
    bash -c '. "$0"; COMP_WORDS=(tosac compile --cal); COMP_CWORD=2; _tosac; [ "${COMPREPLY[*]}" = --calib ]' \
        "$share/bash-completion/completions/tosac" || return 1
    completes 'compile -t ethos-u85-25' ethos-u85-256 && completes 'compile --board = nucleo-h7' nucleo-h743zi &&
        completes 'profile -q a16' 'a16w4 a16w8' && completes 'compile --emit tf' tflite || return 1
    if command -v zsh >/dev/null; then zsh -n "$share/zsh/site-functions/_tosac" || return 1; fi
    if command -v fish >/dev/null; then fish -n "$share/fish/vendor_completions.d/tosac.fish" || return 1; fi
    if command -v groff >/dev/null; then ! groff -man -Tutf8 -ww "$share"/man/man1/*.1 2>&1 >/dev/null | grep .; fi
}

check "make install" make -s install PREFIX="$dir/prefix"
check "the command runs from there" says 'tosac 0' "$dir/prefix/bin/tosac" --version
check "headers stand by themselves" headers
check "completions and manual pages" completions
for name in tosac tosac-compile tosac-run; do
    check "manual page $name" test -s "$dir/prefix/share/man/man1/$name.1"
done

cp -r examples "$dir/by-pkgconfig" && cp -r examples "$dir/by-cmake"
export PKG_CONFIG_PATH=$dir/prefix/lib/pkgconfig
check "examples by pkg-config" make -s -C "$dir/by-pkgconfig"
(
    export LD_LIBRARY_PATH=$dir/prefix/lib
    try_examples "$dir/by-pkgconfig" "pkg-config"
    echo "$good $bad" >"$dir/count"
)
read -r good bad <"$dir/count"
check "examples by CMake" eval "cmake -S $dir/by-cmake -B $dir/by-cmake/build -DCMAKE_PREFIX_PATH=$dir/prefix && cmake --build $dir/by-cmake/build"
try_examples "$dir/by-cmake/build" "CMake"
check "the static library" says 'bytes' "$dir/by-cmake/build/compile-static" "$digits/model.pt2" "$digits/calib.npz" cpu "$dir/static.pte"
check "moved elsewhere it is found all the same" eval "mv $dir/prefix $dir/moved && $dir/moved/bin/tosac --version && PKG_CONFIG_PATH=$dir/moved/lib/pkgconfig pkg-config --cflags tosac | grep -q $dir/moved; mv $dir/moved $dir/prefix"
check "make uninstall" make -s uninstall PREFIX="$dir/prefix"
check "nothing is left" eval "[ -z \"\$(find $dir/prefix -type f -o -type l)\" ]"
check "make install, DESTDIR" make -s install DESTDIR="$dir/stage" PREFIX=/opt/tosac
check "nothing but below DESTDIR" test -x "$dir/stage/opt/tosac/bin/tosac"

if [ "${1:-}" != --no-deb ] && command -v dpkg-deb >/dev/null; then
    if [ "${1:-}" = --release ]; then check "make deb" make -s deb; else check "a package" tools/deb.sh build build; fi
    package=$(ls -t build/tosac_*.deb 2>/dev/null | head -1)
    check "the package names what it needs" eval "dpkg-deb -f $package Depends | grep -q 'libc6 (>= .*libprotobuf-c1.*libzip4'"
    check "what it needs is what is there" eval "for p in \$(dpkg-deb -f $package Depends | tr -d ' ' | sed 's/([^)]*)//g; s/,/ /g'); do dpkg-query -W \$p >/dev/null || exit 1; done"
    check "the package unpacks" dpkg-deb -x "$package" "$dir/root"
    check "and runs" says 'tosac 0' env LD_LIBRARY_PATH="$(dirname "$(find "$dir/root/usr/lib" -name 'libtosac.so.0.*' | head -1)")" "$dir/root/usr/bin/tosac" --version
fi
echo "$good passed, $bad failed"
[ $bad = 0 ]
