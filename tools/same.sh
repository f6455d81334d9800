#!/usr/bin/env bash
# Two builds write the same, byte for byte: every model, six targets.
#
#   same.sh [--every N] [--jobs N] [--files] [--targets "T T ..."] OLD NEW [FILE|DIR...]
#
# OLD and NEW are two tosac programs.  Models are the .pt2, .tosa and .ir files among the arguments, without any those of zoo, fixtures,
# suites and world under TOSAC_SHARED (../shared).  A float model is calibrated with calib.npz or calib.npy beside it, else
# with random:1.  TOSA, VGF and CPU targets give a .pte; Ethos-U targets the regions' .tosa.
# Compared are the files, the exit code and every message.
# --every N takes each Nth model only, for a quick look; --files leaves messages out, where their words have changed.  Differences are listed, one line each; exit 1 when there are any.
set -euo pipefail

every=1 jobs=2 words=1
targets="TOSA-1.0+INT TOSA-1.0+FP vgf cpu ethos-u55-128 ethos-u85-256"
while [ $# -gt 0 ]; do
    case $1 in
    --every) every=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --files) words=0 && shift ;;
    --targets) targets=$2 && shift 2 ;;
    -*) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
old=$(realpath "$1") new=$(realpath "$2") && shift 2
if [ $# = 0 ]; then
    shared=${TOSAC_SHARED:-$(dirname "$0")/../../shared}
    for d in zoo fixtures suites world; do [ -d "$shared/$d" ] && set -- "$@" "$shared/$d"; done
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/tosac-same.XXXXXX")
trap 'rm -rf "$work"' EXIT

# one BUILD SIDE: the model's result in $here/SIDE, with what was said and the exit code
one() {
    mkdir -p "$here/$2"
    (cd "$here/$2" && rc=0 && "$1" compile "$model" -t "$target" --calib "$calib" ${emit:+--emit $emit} -o "$out" >said 2>&1 || rc=$?
     [ "$words" = 1 ] || : >said
     echo "exit ${rc:-0}" >>said)
}

# pair TARGET MODEL: one line, "same" or what differs
pair() {
    target=$1 model=$2 emit='' out=out.pte
    case $target in ethos-*) emit=tosa out=out.tosa ;; esac
    calib=random:1
    for data in calib.npz calib.npy; do
        [ -e "$(dirname "$model")/$data" ] && calib=$(dirname "$model")/$data
    done
    here=$(mktemp -d "$work/XXXXXXXX")
    one "$old" old
    one "$new" new
    if diff -rq "$here/old" "$here/new" >"$here/diff"; then
        tail -n 1 "$here/new/said" | sed "s/^exit 0$/same/; s/^exit.*/same message/"
    elif ! cmp -s "$here/old/said" "$here/new/said"; then
        echo "DIFFERS $target $model: $(diff "$here/old/said" "$here/new/said" | grep '^[<>]' | cut -c1-160 | head -2 | tr '\n' ' ' || true)"
    else
        echo "DIFFERS $target $model: $(cd "$here" && for f in new/*; do cmp "old/${f#new/}" "$f" 2>&1; done | head -1 || true)"
    fi
    rm -rf "$here"
}
export -f one pair
export old new work words

find "$@" -type f \( -name '*.pt2' -o -name '*.tosa' -o -name '*.ir' \) -print0 | xargs -0 realpath -- | LC_ALL=C sort |
    awk -v n="$every" 'NR % n == 0' >"$work/models"
while read -r model; do
    for target in $targets; do printf '%s\0%s\0' "$target" "$model"; done
done <"$work/models" | xargs -0 -r -n 2 -P "$jobs" bash -c 'pair "$@"' pair >"$work/result"
grep '^DIFFERS' "$work/result" | LC_ALL=C sort || true
different=$(grep -c '^DIFFERS' "$work/result" || true)
printf 'same: %d models, %d results: %d files and %d messages are the same, %d differ\n' "$(wc -l <"$work/models")" \
    "$(wc -l <"$work/result")" "$(grep -c '^same$' "$work/result" || true)" "$(grep -c '^same message$' "$work/result" || true)" "$different"
[ "$different" = 0 ]
