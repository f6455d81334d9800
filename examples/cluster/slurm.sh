#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --cpus-per-task=1 --requeue
# Calibration in parts as two arrays of a Slurm cluster: the bytes of one run over all the data.
#
#   slurm.sh MODEL OUT.ir PART...
#
# Prints the number of the job that writes OUT.ir; squeue shows how far the arrays are.  Parts, MODEL and the folder WORK
# (./observations) are paths that every node can read.  A part whose node is lost is queued again by Slurm, alone;
# one whose process is killed is begun again where it was, three times at most.
# TOSAC names the command, OPTIONS more options of `tosac quantize`, SBATCH more of sbatch.
set -euo pipefail
tosac=${TOSAC:-tosac}
read -ra options <<<"${OPTIONS:-}"
read -ra more <<<"${SBATCH:-}"

if [ -n "${STEP:-}" ]; then # a job of ours: one part of a pass, or the end
    model=$1 out=$2
    shift 2
    case $STEP in
    first) merge=() ;;
    second) merge=(--merge "$WORK"/first.*.obs) ;;
    end)
        exec "$tosac" quantize "$model" --merge "$WORK"/second.*.obs "${@/#/--calib=}" "${options[@]}" -o "$out"
        ;;
    esac
    shift "$SLURM_ARRAY_TASK_ID"
    for _ in 1 2 3; do
        "$tosac" quantize "$model" --calib "$1" --observe-only --threads 1 "${merge[@]}" "${options[@]}" \
            -o "$WORK/$STEP.$SLURM_ARRAY_TASK_ID.obs" && exit 0
        code=$?
        [ $code -gt 128 ] || exit $code
    done
    exit $code
fi

[ $# -ge 3 ] || { sed -n '6s/^# *//p' "$0" >&2 && exit 2; }
WORK=$(realpath -m "${WORK:-observations}")
export WORK
mkdir -p "$WORK"
array=0-$(($# - 3))
submit() { # STEP OPTIONS... of sbatch
    local step=$1
    shift
    STEP=$step sbatch --parsable --export=ALL --output="$WORK/$step.%a.log" "$@" "${more[@]}" "$(realpath "$0")" "${given[@]}"
}
given=("$@")
first=$(submit first --array="$array")
second=$(submit second --array="$array" --dependency="afterok:$first")
submit end --dependency="afterok:$second"
