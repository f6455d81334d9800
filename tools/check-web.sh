#!/usr/bin/env bash
# WebAssembly: the npm package from its archive in an empty folder, the hashes of digits in node, the page in Chromium.    check-web.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/.."
here=$PWD build=$(realpath "${1:?check-web.sh BUILD}") digits=$PWD/test/fixture/digits work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/setup.sh wasm && tools/npm.sh build/npm >"$work/npm.log" 2>&1 || {
    tail -5 "$work/npm.log"
    echo "there is no emscripten, or no libraries for it"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
good=0 bad=0 left=0
try() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/said" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$name:" && tail -10 "$work/said"; fi
}
fails() { # CODE TEXT COMMAND...: it ends with that code and says that
    local code=$1 text=$2
    shift 2
    "$@" >"$work/failed" 2>&1
    [ $? = "$code" ] && grep -qF -- "$text" "$work/failed" || { cat "$work/failed" && return 1; }
}

if command -v npm >/dev/null; then
    mkdir "$work/empty" && cd "$work/empty"
    try "installed from its archive" npm install --offline --no-audit --no-fund "$here"/build/npm/tosac-*.tgz
    try "npx tosac --version" grep -qx "$("$build/tosac" --version)" <(npx --offline tosac --version)
    try "npx tosac compile" npx --offline tosac compile "$digits/model.pt2" -t ethos-u85-256 --calib "$digits/calib.npz" -o ours.pte
    "$build/tosac" compile "$digits/model.pt2" -t ethos-u85-256 --calib "$digits/calib.npz" -o native.pte --quiet
    try "the same bytes" cmp ours.pte native.pte
    try "a file that is not there" fails 1 "no-such.pt2: error:" npx --offline tosac compile no-such.pt2 -t cpu -o x.pte
    try "an option that is none" fails 2 "[usage]" npx --offline tosac compile --no-such-option
    try "a graph from standard input" sh -c 'printf "graph @main(%%0: f32[2]) {\n  %%1 = abs %%0 : f32[2]\n  return %%1\n}\n" | npx --offline tosac compile - -t TOSA-1.0+FP --emit ir -o - | grep -q abs'
    cat >functions.js <<'END'
const tosac = require("tosac"), assert = require("assert"), fs = require("fs");
const [model, data, test] = process.argv.slice(2);
(async () => {
  let steps = 0;
  const {result} = await tosac.compile(model, {board: "alif-e7-hp", calib: data, output: "module.pte", onProgress: () => { steps++; }});
  assert(result.verdict.fits && steps > 0 && fs.statSync("module.pte").size === result.bytes);
  await tosac.run("module.pte", {input: data, output: "out.npz"});
  assert(fs.statSync("out.npz").size > 0);
  assert((await tosac.profile(model, {target: "ethos-u55-128", calib: data})).result);
  await assert.rejects(tosac.compile("no-such.pt2", {target: "cpu", output: "x.pte"}), e => e instanceof tosac.TosacError && e.code === 1 && e.messages[0].file === "no-such.pt2");
})().catch(e => { console.error(e); process.exit(1); });
END
    try "functions" node functions.js "$digits/model.pt2" "$digits/calib.npz"
    if npm install --no-audit --no-fund typescript @types/node >"$work/said" 2>&1; then
        cp "$here"/test/npm/*.ts .
        tsc=(npx --offline tsc --noEmit --strict --target es2022 --module nodenext --types node)
        try "types, as a caller uses them" "${tsc[@]}" use.ts
        try "types refuse what is wrong" [ "$("${tsc[@]}" wrong.ts | grep -c 'error TS')" = 4 ]
    else
        left=$((left + 2)) && echo "there is no TypeScript: $(tail -1 "$work/said")"
    fi
    cd "$here"
fi
test/same_bytes.sh build/npm/package/cli.js node
hashes=$?
tools/cross.sh wasm tosac-threads && python3 web/build.py build/wasm/build build/web
python3 test/web.py "$build/tosac" build/web
page=$?
echo "$good passed, $bad failed$([ $left = 0 ] || echo ", $left skipped")"
[ $bad = 0 ] && [ $hashes = 0 ] && [ $page = 0 ]
