#!/usr/bin/env bash
# What a newcomer sees first: README.md, include/tosac/tosac.h, and the words of messages and pages.    check-front.sh [TOSAC]
#
#   CONTRIBUTING's folder table names every folder of src, and no other; README's commands print what it says they print
#   CHANGELOG.md has a section for each version, and its entries an area and no figures of measurements
#   the example in tosac.h compiles as C and C++; with TOSAC_STABLE_ONLY experimental functions warn, stable ones do not
#   tools/check-words.sh finds none of its phrases
set -uo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "${1:-build/tosac}") good=0 bad=0 dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$dir/log" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && head -20 "$dir/log"; fi
}

folders() { diff <(ls -d src/*/ | sed 's,/$,,') <(grep -oE '^\| `src/[a-z]+`' CONTRIBUTING.md | tr -d '|` ' | sort); }
# CHANGELOG: a line names its area; figures of measurements are in doc/figures/gains.md.
entries() { ! grep -nE '^- [^:]*$|[0-9] dB |[0-9] M cycles' CHANGELOG.md; }
# Sections by version, newest first and dated; the newest is that of base.h.  No entry twice, no list in two pieces, and nothing
# is fixed in the first version.
versions() {
    local heads now
    now=$(sed -nE 's/^#define TOSAC_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' include/tosac/base.h | paste -sd.)
    ! grep -E '^## ' CHANGELOG.md | grep -vE '^## [0-9]+\.[0-9]+\.[0-9]+ \(20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$' || return 1
    heads=$(sed -nE 's/^## ([0-9.]+) .*/\1/p' CHANGELOG.md)
    [ "$(head -1 <<<"$heads")" = "$now" ] || { echo "the first section is not $now" && return 1; }
    diff <(echo "$heads") <(sort -ruV <<<"$heads") || return 1
    ! grep '^- ' CHANGELOG.md | sort | uniq -d | grep . || return 1
    awk '/^- / && gap && last ~ /^(- |  )/ {print FILENAME ":" FNR ": a blank line inside a list"; bad = 1}
         {gap = /^$/} !gap {last = $0} /^## / {fixed = 0} /^### Fixed/ {fixed = 1}
         END {if (fixed) print "the first version has nothing to fix"; exit bad || fixed}' CHANGELOG.md
}
# What a program prints, in a block marked text, is as long as it is.
narrow() { ! awk '/^```/ {printed = /^```text/} !printed && length > 140 {print FILENAME ":" FNR ":" $0}' README.md CHANGELOG.md | grep .; }

# The commands of the block marked sh, run in an empty folder; every line of the block marked text is among what they print.
printed() {
    local top=$PWD line
    ln -s "$top/test" "$dir/test"
    (
        cd "$dir" || exit 1
        awk '/^```sh/ {on = 1; next} /^```/ {on = 0} on' "$top/README.md" | sed "s,^build/tosac ,$tosac ," >commands
        [ -s commands ] && bash -e commands >out 2>&1
    ) || { cat "$dir/out" && return 1; }
    awk '/^```text/ {on = 1; next} /^```/ {on = 0} on' README.md >"$dir/said"
    [ -s "$dir/said" ] || return 1
    while IFS= read -r line; do
        grep -qxF -- "$line" "$dir/out" || { echo "not printed: $line" && cat "$dir/out" && return 1; }
    done <"$dir/said"
}

example() { # COMPILER OPTIONS...: the example of tosac.h
    sed -n '/^ \* EXAMPLE/,/^ \*   }$/p' include/tosac/tosac.h | sed '1d; s/^ \* \{0,3\}//' >"$dir/example.c"
    grep -q 'int main' "$dir/example.c" && "$@" -Wall -Wextra -Werror -fsyntax-only -Iinclude "$dir/example.c"
}

experimental() { # a call of an experimental function warns, and of all others none
    echo '#include <tosac/tosac.h>
int f(tc_ctx *c, tc_generated *g) { return (int)tc_generate(c, 0, g); }' >"$dir/unstable.c"
    "${CC:-cc}" -Werror -fsyntax-only -Iinclude "$dir/unstable.c" &&
        ! "${CC:-cc}" -Werror -DTOSAC_STABLE_ONLY -fsyntax-only -Iinclude "$dir/unstable.c"
}

check "CONTRIBUTING.md's table of folders is not that of src" folders
check "lines of more than 140 columns" narrow
check "CHANGELOG.md has an entry without area, or with figures" entries
check "CHANGELOG.md: sections" versions
check "README.md does not say what its commands print" printed
check "the example of include/tosac/tosac.h does not compile" example "${CC:-cc}" -std=c11 -DTOSAC_STABLE_ONLY
check "the example of include/tosac/tosac.h does not compile as C++" example "${CXX:-c++}" -x c++ -std=c++17
check "TC_EXPERIMENTAL does not warn" experimental
check "words" tools/check-words.sh
echo "$good passed, $bad failed"
[ $bad = 0 ]
