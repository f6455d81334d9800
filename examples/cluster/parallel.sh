#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calibration in parts with GNU parallel, here or over ssh: the bytes of one run over all the data.
#
#   parallel.sh MODEL OUT.ir PART... [-- OPTIONS OF tosac quantize]
#
# Parts and MODEL are paths that every host can read.  PARALLEL holds more options: PARALLEL='-S host1,host2 --bar'.
# A part whose host is lost is begun again, three times at most.  TOSAC names the command, WORK the folder for observations.
set -euo pipefail
usage() { sed -n '5,6s/^# *//p' "$0" >&2 && exit 2; }
[ $# -ge 3 ] || usage
export model=$1 tosac=${TOSAC:-tosac}
out=$2
shift 2
parts=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do parts+=("$1") && shift; done
[ $# = 0 ] || shift
[ ${#parts[@]} -gt 0 ] || usage
work=${WORK:-$(mktemp -d)}

# pass NAME MERGE...: each part's observations to WORK/NAME.K.obs
pass() {
    local name=$1 merge=()
    shift
    [ $# = 0 ] || merge=(--merge "$@")
    parallel --will-cite --retries 3 --halt soon,fail=1 --joblog "$work/$name.log" \
        "$tosac" quantize "$model" --calib {} --observe-only --threads 1 "${merge[@]}" "${options[@]}" -o "$work/$name.{#}.obs" ::: "${parts[@]}" >/dev/null
}
options=("$@")
pass first
pass second "$work"/first.*.obs
calib=()
for part in "${parts[@]}"; do calib+=(--calib "$part"); done
"$tosac" quantize "$model" --merge "$work"/second.*.obs "${calib[@]}" "${options[@]}" -o "$out"
