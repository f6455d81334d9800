#!/usr/bin/env bash
# A model of this tree beside that of another commit: compiled both, compared, refused by limits.
#
#   compare.sh MODEL [WORDS FOR tosac compile...]
#
#   TOSAC       the command (tosac)
#   BASE        the commit to compare with (HEAD)
#   CALIB       calibration data, files of the tree that both use as they are in it now
#   LIMITS      "cycles+2% sram+0 db-0.5", as tosac report --fail-on takes them
#
# The table goes to standard output, and to GITHUB_STEP_SUMMARY where that is set.  Exit: 0 within the limits, or MODEL is new or
# the same; 1 a limit is exceeded, or the model is not valid; others as tosac's.
set -uo pipefail
model=${1:?compare.sh MODEL [WORDS...]} tosac=${TOSAC:-tosac} base=${BASE:-HEAD} work=$(mktemp -d)
shift
trap 'rm -rf "$work"' EXIT
mkdir "$work/before" "$work/after"
words=("$@")
for file in ${CALIB:-}; do words+=(--calib "$file"); done
compile() { # MODEL FOLDER
    "$tosac" compile "$1" "${words[@]}" -o "$2/model.pte" --report "$2/report.json" --quiet
}
name=${model##*/}
compile "$model" "$work/after" || exit $?
if ! git cat-file -e "$base:./$model" 2>/dev/null; then
    echo "$model is new since $base"
    exit 0
fi
git show "$base:./$model" >"$work/$name" || exit 1
compile "$work/$name" "$work/before" || { echo "$model of $base does not compile: nothing to compare with" && exit 0; }
limits=()
for limit in ${LIMITS:-}; do limits+=(--fail-on "$limit"); done
"$tosac" report "$work/before/report.json" "$work/after/report.json" "${limits[@]}" --markdown "$work/table.md" --quiet
code=$?
[ -e "$work/table.md" ] || exit $code
{
    echo "### $model since $base"
    echo
    cat "$work/table.md"
} | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit $code
