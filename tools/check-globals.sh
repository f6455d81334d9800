#!/usr/bin/env bash
# The library keeps nothing that can change between calls: no writable data in its object files but
# what is named here with its reason.        check-globals.sh [LIBTOSAC.A]
set -uo pipefail
cd "$(dirname "$0")/.."
library=${1:-build/libtosac.a}

# object symbol, why it may stay
declare -A reason=(
    [isa.c.o best]="the processor's level, written once under pthread_once"
    [isa.c.o once]="pthread_once"
    [archive.c.o libzip]="functions of libzip, written once under pthread_once"
    [archive.c.o libzip_here]="says that they are written"
    [archive.c.o once]="pthread_once"
    [picture.c.o libpng]="functions of libpng, written once under pthread_once"
    [picture.c.o libpng_here]="says that they are written"
    [picture.c.o png_once]="pthread_once"
    [picture.c.o libjpeg]="functions of libjpeg, written once under pthread_once"
    [picture.c.o libjpeg_here]="says that they are written"
    [picture.c.o jpeg_once]="pthread_once"
    [command.c.o row]="an index of a constant table, the same whoever writes it first"
    [command.c.o ready]="says that it is written; atomic"
)

good=0 bad=0
while read -r object section symbol; do
    if [ -n "${reason[$object ${symbol%%.*}]:-}" ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "$object: '$symbol' in $section can change: put it into the context, or give the reason in $0"
    fi
done < <(objdump -t "$library" | awk '
    /file format/ { object = $1; sub(/:$/, "", object) }
    /\t/ {
        split(substr($0, 26), part, /[ \t]+/)
        if (part[1] ~ /^\.(t?data|t?bss)/ && part[1] !~ /rel\.ro/ && $NF !~ /^(\.|__)/)
            print object, part[1], $NF
    }')
[ $good = 0 ] && bad=$((bad + 1)) && echo "nothing was found in $library: is it the library?"
echo "$good passed, $bad failed"
[ $bad = 0 ]
