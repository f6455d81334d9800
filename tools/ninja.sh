#!/usr/bin/env bash
# Builds, and shows how far it is.        ninja.sh FOLDER LOG [TARGET...]: what ninja says goes to the file LOG
#
# On a terminal one line that moves; elsewhere a line for every tenth, so that a log stays short.  Nothing where there is
# nothing to do.
set -uo pipefail
folder=$1 log=$2
shift 2
moves=0
[ ! -t 1 ] || moves=1
ninja -k 0 -C "$folder" "$@" 2>&1 | tee "$log" | awk -v name="$folder" -v moves=$moves '
    BEGIN { FS = "[][/ ]" }
    /^\[[0-9]+\/[0-9]+\]/ {
        if ($3 < 20) next                               # what takes seconds needs no words
        tenth = int(10 * $2 / $3)
        if (moves) printf "\r%s: %d of %d ", name, $2, $3
        else if (tenth > told) printf "%s: %d of %d (%d %%)\n", name, $2, $3, 10 * tenth
        told = tenth; shown = 1
        fflush()
    }
    END { if (moves && shown) printf "\r%*s\r", length(name) + 20, "" }'
exit "${PIPESTATUS[0]}"
