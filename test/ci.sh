#!/usr/bin/env bash
# ci/compare.sh, and the step of action.yml as a runner would start it, from an archive, in a repository of its own.    ci.sh TOSAC [ARCHIVE]
#
# ARCHIVE: of a release, with the static command; without one TOSAC is packed into one.
set -uo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "${1:?ci.sh TOSAC}") archive=${2:+$(realpath "$2")} here=$PWD work=$(mktemp -d) good=0 bad=0
trap 'rm -rf "$work"' EXIT
graph() { # CHANNELS
    local type="f32[1,32,32,$1]"
    printf 'graph @main(%%0 "x": %s, %%1 "y": %s) {\n  %%2 = mul %%0, %%1 : %s\n  %%3 = add %%2, %%1 alpha=1 : %s\n  return %%3\n}\n' "$type" "$type" "$type" "$type"
}
expect() { # NAME CODE TEXT COMMAND...
    local name=$1 code=$2 text=$3 found
    shift 3
    "$@" >"$work/said" 2>&1
    found=$?
    if [ $found = "$code" ] && grep -qF -- "$text" "$work/said"; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$name: exit $found" && cat "$work/said"; fi
}
mkdir "$work/repository" && cd "$work/repository" || exit 1
git init -q . && git config user.email a@b && git config user.name a
graph 160 >net.ir && git add net.ir && git commit -qm first
compare=("$here/ci/compare.sh" net.ir -t ethos-u55-128)
export TOSAC=$tosac CALIB=random:1
expect "the same model" 0 "cycles+2% | held" env LIMITS="cycles+2% sram+0" "${compare[@]}"
graph 168 >net.ir
expect "5 % slower is refused with a table" 1 "cycles+2% | **exceeded**" env LIMITS="cycles+2%" "${compare[@]}"
expect "and within 10 % it is not" 0 "cycles+10% | held" env LIMITS="cycles+10%" "${compare[@]}"
expect "a limit that is none" 2 "is not a limit" env LIMITS="speed+2%" "${compare[@]}"
cp net.ir new.ir
expect "a new model" 0 "new.ir is new since HEAD" "$here/ci/compare.sh" new.ir -t ethos-u55-128
echo 'graph' >new.ir
expect "a model that is not valid" 1 "error" "$here/ci/compare.sh" new.ir -t ethos-u55-128

# The step: its script out of action.yml, with the command from an archive.
mkdir "$work/packed" "$work/temp"
if [ -z "$archive" ]; then
    archive=$work/tosac.tar.gz
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$tosac" >"$work/packed/tosac" && chmod +x "$work/packed/tosac" && tar -czf "$archive" -C "$work/packed" tosac
fi
sed -n '/^      run: |/,$p' "$here/action.yml" | sed '1d; s/^        //' >"$work/step.sh"
step=(env -u TOSAC MODEL=net.ir WORDS="-t ethos-u55-128" BASE=HEAD ARCHIVE="$archive" RUNNER_TEMP="$work/temp" GITHUB_ACTION_PATH="$here" GITHUB_STEP_SUMMARY="$work/summary.md")
expect "the step" 1 "**exceeded**" "${step[@]}" LIMITS=cycles+2% bash "$work/step.sh"
expect "its summary" 0 "| cycles |" cat "$work/summary.md"

# The hook, by pre-commit itself from a copy of the files it is made of.
hook=$here/build/peers/hooks/bin/pre-commit left=0
if [ -x "$hook" ]; then
    export PRE_COMMIT_HOME=$work/hooks LIMITS="cycles+2% sram+0"
    mkdir -p "$work/source/ci" && cp "$here/.pre-commit-hooks.yaml" "$work/source" && cp "$here/ci/compare.sh" "$work/source/ci"
    git -C "$work/source" init -q . && git -C "$work/source" add . && git -C "$work/source" -c user.email=a@b -c user.name=a commit -qm hook
    printf 'repos:\n- repo: %s\n  rev: %s\n  hooks:\n  - id: tosac\n    files: net.ir\n    args: [net.ir, -t, ethos-u55-128]\n' "$work/source" "$(git -C "$work/source" rev-parse HEAD)" >.pre-commit-config.yaml
    git add .pre-commit-config.yaml net.ir
    expect "the hook refuses" 1 "cycles+2% | **exceeded**" "$hook" run
    git checkout -q HEAD net.ir && echo >>net.ir && git add net.ir
    expect "the hook passes" 0 "Passed" "$hook" run
else
    left=1 && echo "there is no pre-commit: tools/setup.sh hooks"
fi
echo "$good passed, $bad failed$([ $left = 0 ] || echo ", $left skipped")"
[ $bad = 0 ]
