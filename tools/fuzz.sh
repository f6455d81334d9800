#!/usr/bin/env bash
# Every fuzz target for so many seconds; what it finds stays in the build folder.        fuzz.sh BUILD SECONDS
set -euo pipefail
build=$1 seconds=$2
for target in "$build"/fuzz-*; do
    [ -x "$target" ] || continue
    name=${target##*/fuzz-}
    mkdir -p "$build/corpus/$name" "$build/found" "fuzz/corpus/$name"
    echo "fuzz: $name for $seconds s"
    "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -artifact_prefix="$build/found/$name-" \
        -print_final_stats=1 "$build/corpus/$name" "fuzz/corpus/$name" 2>&1 | tail -8
done
