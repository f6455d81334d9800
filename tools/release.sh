#!/usr/bin/env bash
# Everything that a user downloads, into build/release.        release.sh [REF [FOLDER]]
#
# REF is a tag or a commit: without one, the tag of HEAD, or HEAD where it has none.  The version is that of REF's include/tosac/base.h;
# a tag must be v and that version, and CHANGELOG.md must have its section.  What is not committed is not in a release.
#
#   tosac-VERSION.tar.gz                         the sources
#   tosac-VERSION-py3-none-*.whl                 the Python package for x86-64, aarch64, Windows
#   tosac_VERSION_{amd64,arm64}.deb              command, libraries, headers for Debian 12
#   tosac-VERSION-linux-{x86_64,aarch64}.tar.gz  the command alone, which needs no library at all
#   tosac-VERSION-notes.md                       the section of CHANGELOG.md
#   tosac-VERSION.cdx.json                       what is inside each of them, with versions and licences (CycloneDX)
#   SHA256SUMS
#
# All of it is built from the archive of the sources, each machine once (tools/cross.sh), on an x86-64 Debian.  The same commit
# and the same packages of Debian give the same bytes in any folder.  Libraries of other machines are kept in build for the next time
# (TOSAC_ARM_ROOT, TOSAC_WINDOWS_ROOT, TOSAC_ZIP_ROOT).
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C TZ=UTC
here=$PWD ref=${1:-$(git describe --exact-match --tags HEAD 2>/dev/null || echo HEAD)}
out=$(realpath -m "${2:-build/release}")
fail() { echo "release: $*" >&2 && exit 1; }
[ "$(uname -m)" = x86_64 ] || fail "x86-64 is built by this machine's own compiler, and this is $(uname -m)"

commit=$(git rev-parse --verify -q "$ref^{commit}") || fail "there is no commit '$ref'"
version=$(git show "$commit:include/tosac/base.h" | sed -nE 's/^#define TOSAC_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' | paste -sd.)
notes=$(git show "$commit:CHANGELOG.md" | awk -v head="## $version (" 'index($0, "## ") == 1 {on = index($0, head) == 1} on')
[ -n "$notes" ] || fail "CHANGELOG.md has no section $version"
if git show-ref -q --verify "refs/tags/$ref"; then
    [ "$ref" = "v$version" ] || fail "the tag $ref is of version $version: call it v$version"
else
    echo "release: $version from ${commit:0:12}, which has no tag"
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
export TOSAC_ARM_ROOT=${TOSAC_ARM_ROOT:-$here/build/arm/root} TOSAC_WINDOWS_ROOT=${TOSAC_WINDOWS_ROOT:-$here/build/windows/root}
export TOSAC_ZIP_ROOT=${TOSAC_ZIP_ROOT:-$here/build/zip}

name=tosac-$version source=$out/work/$name begun=$SECONDS
made() { echo "release: $1 ($((SECONDS - begun)) s)"; }
rm -rf "$out" && mkdir -p "$out/work"
git archive --format=tar --prefix="$name/" "$commit" >"$out/work/$name.tar"
tar -x -f "$out/work/$name.tar" -C "$out/work"
gzip -9n <"$out/work/$name.tar" >"$out/$name.tar.gz"
printf '%s\n' "$notes" >"$out/$name-notes.md"
made "the sources"

static() { # MACHINE NAME TOOL: the command alone
    local to=$out/work/$name-linux-$2 licence
    mkdir -p "$to/licenses"
    "$3strip" -o "$to/tosac" "build/$1/build/tosac-static"
    cp LICENSE "$to"
    python3 tools/sbom.py inside "build/$1/build/tosac-static.map" | while read -r package _ licence; do cp "$licence" "$to/licenses/$package"; done
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out/work" -c "$name-linux-$2" | gzip -9n >"$out/$name-linux-$2.tar.gz"
    made "the static command for $2"
}

cd "$source"
tools/setup.sh wheel
for machine in x86 arm windows; do
    targets=(tosac libtosac libtosac-shared)
    [ $machine = windows ] || targets+=(tosac-static)
    tools/cross.sh $machine "${targets[@]}"
    python3 python/wheel.py build/$machine/build "$out"
    made "the wheel for $machine"
    case $machine in
    x86) static x86 x86_64 '' ;;
    arm) static arm aarch64 aarch64-linux-gnu- ;;
    esac
    [ $machine = windows ] || tools/deb.sh "$out" build/$machine/build
done
python3 tools/sbom.py write "$version" "$commit" "$out" "$out/$name.cdx.json"
cd "$out"
rm -r work
sha256sum -- *"$version"* >SHA256SUMS
made "all: $out"
cat SHA256SUMS
