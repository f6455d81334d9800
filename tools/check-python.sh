#!/usr/bin/env bash
# The wheel in fresh environments: without torch, and with the torch of another environment where there is one.
#       check-python.sh [BUILD]: a build to take the library from (build)
#
# TOSAC_TORCH names a Python that has torch; build/peers/anchor/bin/python else.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build} here=$PWD dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
torch=${TOSAC_TORCH:-$here/build/peers/anchor/bin/python}

tools/wheel.sh "$dir" "$build" || exit 1
size=$(stat -c %s "$dir"/tosac-*.whl)
[ "$size" -lt 15000000 ] || { echo "the wheel has $size bytes, 15 MB are the most" && exit 1; }
[[ $(ls "$dir"/tosac-*.whl) =~ manylinux_2_([0-9]+)_ && ${BASH_REMATCH[1]} -le 28 ]] || { echo "$(ls "$dir"): glibc 2.28 is to be enough" && exit 1; }

tests() { # PYTHON FILES...
    local python=$1
    shift
    (cd python/tests && "$python" -m pytest -q -p no:cacheprovider --basetemp="$dir/t" "$@") >"$dir/log" 2>&1
    local rc=$?
    [ $rc = 0 ] || tail -60 "$dir/log"
    awk '/(passed|failed|skipped|error)/ {last = $0} END {
        n = split(last, w, /[ ,]+/); for (i = 2; i <= n; i++) { if (w[i] ~ /^passed/) p = w[i-1]; if (w[i] ~ /^(failed|errors?)/) f += w[i-1]; if (w[i] ~ /^skipped/) s = w[i-1] }
        printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$dir/log"
    return $rc
}

code=0
if python3 -m venv "$dir/plain" && "$dir/plain/bin/pip" install -q pytest jsonschema "$dir"/tosac-*.whl >"$dir/pip" 2>&1; then
    tests "$dir/plain/bin/python" . || code=1
    if "$dir/plain/bin/pip" install -q pipx >"$dir/pip" 2>&1; then
        said=$(PIPX_HOME=$dir/pipx "$dir/plain/bin/pipx" run --spec "$dir"/tosac-*.whl tosac --version 2>"$dir/pip")
        if [[ $said == "tosac "* ]]; then echo "1 passed, 0 failed"; else echo "pipx run: $said" && tail -3 "$dir/pip" && echo "0 passed, 1 failed" && code=1; fi
    else
        echo "there is no pipx: $(tail -1 "$dir/pip")" && echo "0 passed, 0 failed, 1 skipped"
    fi
else
    tail -3 "$dir/pip" 2>/dev/null
    echo "there is no fresh environment: python3-venv, numpy and pytest are needed"
    echo "0 passed, 0 failed, 1 skipped"
fi
if [ -x "$torch" ] && "$torch" -c 'import torch, pytest' 2>/dev/null; then
    "$torch" -m venv "$dir/torch" && "$torch" -c 'import site; print(site.getsitepackages()[0])' >"$("$dir/torch/bin/python" -c 'import site; print(site.getsitepackages()[0])')/other.pth"
    "$dir/torch/bin/pip" install -q --no-deps "$dir"/tosac-*.whl >/dev/null 2>&1
    tests "$dir/torch/bin/python" test_torch.py test_qat.py || code=1
    tests "$dir/torch/bin/python" test_docs.py -k runs || code=1
else
    echo "there is no torch: TOSAC_TORCH names a Python that has it"
    echo "0 passed, 0 failed, 1 skipped"
fi
exit $code
