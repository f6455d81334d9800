#!/usr/bin/env bash
# The shared library shows the names in tools/symbols.txt and no others; each is declared by a public header, and every
# function that a public header declares is there.  Nor does the library end the process or print.
#                                                                     check-symbols.sh [LIBRARY]      --bless: rewrite the list
set -euo pipefail
cd "$(dirname "$0")/.."
library=${1:-build/libtosac.so} list=tools/symbols.txt
[ "$library" != --bless ] || library=build/libtosac.so
wrong=0
fail() { echo "symbols: error: $*" >&2 && wrong=$((wrong + 1)); }

shown=$(nm -D --defined-only "$library" | awk '$2 ~ /^[A-Z]$/ { print $3 }' | grep -vE '^(_init|_fini|__asan|__odr_asan|_edata|_end|__bss_start)' | LC_ALL=C sort)
declared=$(cat include/tosac/*.h | grep -v '#define' | tr '\n' ' ' | grep -oE 'TC_API [^;{]*[;{]' | sed -E 's/\(.*//; s/.*[ *]//' | LC_ALL=C sort)
[ "${1:-}" != --bless ] || printf '%s\n' "$shown" >"$list"

for name in $(comm -23 <(printf '%s\n' "$shown") "$list"); do fail "$library shows '$name', which is not in $list"; done
for name in $(comm -13 <(printf '%s\n' "$shown") "$list"); do fail "$list has '$name', which $library does not show"; done
for name in $(comm -3 <(printf '%s\n' "$declared") "$list"); do fail "'$name' is in $list or in a public header, not in both"; done

# assert() may end the process: it is about mistakes of ours; _exit() ends a child that could not start Vela.  Text goes to the caller, never to a stream.
ends='exit|abort|quick_exit|_Exit|printf|vprintf|fprintf|vfprintf|puts|putchar|fputs|fputc|putc|perror|stdout|stderr|__(v|f|vf)?printf_chk'
for name in $(nm -D --undefined-only "$library" | sed -E 's/@.*//; s/.* //' | grep -xE "$ends" || true); do
    fail "$library uses '$name'"
done
echo "symbols: $(wc -l <"$list") passed, $wrong failed"
[ "$wrong" = 0 ]
