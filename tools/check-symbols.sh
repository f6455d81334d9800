#!/usr/bin/env bash
# The shared library shows the names in tools/symbols.txt and no others; each is declared by a public header, and every
# function that a public header declares is there.  Nor does the library end the process or print.  Inside, a name that
# one object defines and no other uses is static, or a test, a fuzzer or a tool has it.
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

# assert() may end the process: it is about mistakes of ours.  Text goes to the caller, never to a stream.
ends='exit|abort|quick_exit|_Exit|printf|vprintf|fprintf|vfprintf|puts|putchar|fputs|fputc|putc|perror|stdout|stderr|__(v|f|vf)?printf_chk'
for name in $(nm -D --undefined-only "$library" | sed -E 's/@.*//; s/.* //' | grep -xE "$ends" || true); do
    fail "$library uses '$name'"
done

objects=${library%.so}.a
if [ -f "$objects" ]; then
    outside=$(git ls-files test fuzz tools bench | grep -E '\.[ch]$' | xargs grep -ohE '\bt[ci]_[a-z0-9_]+\b' | LC_ALL=C sort -u)
    used=$(nm -u "$objects" 2>/dev/null | awk 'NF == 2 { print $2 }' | LC_ALL=C sort -u)
    for name in $(nm -g --defined-only "$objects" 2>/dev/null | awk 'NF == 3 && $3 ~ /^t[ci]_/ && $3 !~ /^tc_onnx_pb_/ { print $3 }' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - <(printf '%s\n' "$used" "$outside" "$declared" | LC_ALL=C sort -u)); do
        fail "'$name' is used by one object alone: make it static"
    done
fi
echo "symbols: $(wc -l <"$list") passed, $wrong failed"
[ "$wrong" = 0 ]
