#!/usr/bin/env bash
# Random models through every target; every 100th also before the judges.        models.sh BUILD COUNT SEED
#
# What fails is made small and kept in BUILD/found-models; regions for the judges are written to BUILD/models-written.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1 count=$2 seed=$3 code=0
python=${TOSAC_JUDGES:-build/peers/judges}/bin/python
rm -rf "$build/models-written"
"$build/models" --count "$count" --seed "$seed" --kept test/models/kept --known test/models/known.txt --found "$build/found-models" \
    --written "$build/models-written" --every 100 -j "$(nproc)" || code=1
if [ -x "$python" ]; then
    "$python" tools/peer/lowered_suite.py "$build/tosac" "$build/models-written" || code=1
else
    echo "not asked: the reference model and Vela are not there (tools/setup.sh judges)"
    echo "judges: 0 passed, 0 failed, 1 skipped"
fi
exit $code
