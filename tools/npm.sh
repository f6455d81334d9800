#!/usr/bin/env bash
# The npm package: npm.sh FOLDER          FOLDER/tosac-VERSION.tgz, and its content in FOLDER/package
#
# Exit 3: emscripten, its libraries or npm cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
to=${1:?npm.sh FOLDER} version=$(sed -n 's/^#define TOSAC_VERSION_[MP].* \([0-9]*\).*/\1/p' include/tosac/base.h | paste -sd.)
tools/cross.sh wasm tosac
rm -rf "$to/package"
mkdir -p "$to/package/licenses"
sed "s/@version@/$version/" npm/package.json >"$to/package/package.json"
cp npm/cli.js npm/index.js npm/index.d.ts web/run.js build/wasm/build/tosac.js build/wasm/build/tosac.wasm LICENSE "$to/package"
cp "${TOSAC_WASM_ROOT:-build/wasm/root}"/licenses/* "$to/package/licenses"
chmod 755 "$to/package/cli.js" && chmod 644 "$to/package/tosac.wasm"
if command -v npm >/dev/null; then (cd "$to" && npm pack ./package >/dev/null); fi
echo "$to/tosac-$version.tgz"
