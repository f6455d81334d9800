#!/usr/bin/env bash
# A release, made twice: in two clones in folders of different lengths, without a compiler's cache.        check-release.sh [FOLDER]
#
#   every file is the same, byte for byte, and is in SHA256SUMS and in the list of what is inside
#   the static command asks for no library; it compiles, runs and judges models in an empty root, and for aarch64 under QEMU
#   a tag of another version is refused
#
# With FOLDER (a release that was made from HEAD before) only that one is looked at.  Libraries that are built for a release (for Windows,
# libzip) are built in both clones, Debian's packages for Arm are unpacked once.  A quarter of an hour on two cores.
set -uo pipefail
cd "$(dirname "$0")/.."
here=$PWD good=0 bad=0 skipped=0 dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$dir/log" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && tail -20 "$dir/log"; fi
}
done_with() {
    echo "release: $good passed, $bad failed, $skipped skipped"
    [ $bad = 0 ]
    exit
}

make_in() { # FOLDER: a clone there, and its release
    git clone -q "$here" "$1" && (cd "$1" && env -u TOSAC_WINDOWS_ROOT -u TOSAC_ZIP_ROOT CCACHE_DISABLE=1 \
        TOSAC_ARM_ROOT="${TOSAC_ARM_ROOT:-$here/build/arm/root}" tools/release.sh) >"$dir/release.log" 2>&1
    local code=$?
    [ $code = 0 ] || tail -5 "$dir/release.log"
    return $code
}
wrong_tag() {
    git clone -q "$here" "$dir/tagged" && (cd "$dir/tagged" && git tag v99.0.0 && ! tools/release.sh v99.0.0 2>&1) | grep -q 'the tag v99.0.0 is of version'
}
check "a tag of another version is not refused" wrong_tag

first=${1:-}
if [ -z "$first" ]; then
    first=$dir/a/build/release
    make_in "$dir/a"
    case $? in
    0) ;;
    3) echo "there is no compiler or library for another machine" && skipped=1 && done_with ;;
    *) bad=$((bad + 1)) && done_with ;;
    esac
    check "a second release is not made" make_in "$dir/a/longer/and/deeper"
    for file in "$first"/*; do check "${file##*/} is not the same twice" cmp "$file" "$dir/a/longer/and/deeper/build/release/${file##*/}"; done
fi

cd "$first" || exit 1
check "checksums" sha256sum --quiet -c SHA256SUMS
check "eight files, notes, what is inside" test "$(wc -l <SHA256SUMS)" = 10
check "what is inside each file" python3 - <<'END'
import hashlib, json, pathlib
bom = json.load(open(next(pathlib.Path(".").glob("*.cdx.json"))))
listed = {c["name"]: c for c in bom["components"]}
files = [p for p in pathlib.Path(".").iterdir() if p.is_file() and p.name != "SHA256SUMS" and not p.name.endswith(".cdx.json")]
assert bom["bomFormat"] == "CycloneDX" and sorted(listed) == sorted(p.name for p in files)
for p in files:
    c = listed[p.name]
    assert c["hashes"][0]["content"] == hashlib.sha256(p.read_bytes()).hexdigest(), p
    assert all(i["version"] and i["licenses"] for i in c["components"]), p
    names = {i["name"] for i in c["components"]}
    assert "tosac" in names and ("-linux-" not in p.name or {"glibc", "libzip", "zlib", "protobuf-c"} <= names), (p, names)
END

# ---- the static command ----

needs_nothing() { # FILE
    ! readelf -d "$1" | grep -q NEEDED && ! readelf -l "$1" | grep -q INTERP
}
inside() { # ARGUMENTS...: the command in the root, with nothing else there and no environment
    if [ "$machine" = x86_64 ]; then env -i "$(command -v chroot || echo /usr/sbin/chroot)" "$root" /tosac "$@"; else (cd "$root" && env -i "$(command -v qemu-aarch64)" -L /nowhere ./tosac "${@/#\//.\/}"); fi
}
says() { # TEXT ARGUMENTS...
    local text=$1
    shift
    inside "$@" >"$dir/said" 2>&1
    local code=$?
    cat "$dir/said"
    [ $code = 0 ] && grep -q -- "$text" "$dir/said"
}
fixture=$here/test/fixture
for machine in x86_64 aarch64; do
    root=$dir/root-$machine
    mkdir -p "$root/pictures" && tar -x -C "$root" --strip-components=1 -f tosac-*-linux-$machine.tar.gz
    check "$machine: there is a file with licences" test -s "$root/licenses/glibc"
    check "$machine: it asks for a library" needs_nothing "$root/tosac"
    if [ $machine = x86_64 ] && [ "$(id -u)" != 0 ]; then skipped=$((skipped + 1)) && echo "not asked: an empty root is for root only" && continue; fi
    if [ $machine = aarch64 ] && ! command -v qemu-aarch64 >/dev/null; then skipped=$((skipped + 1)) && echo "not asked: there is no QEMU" && continue; fi
    cp "$fixture"/digits/{model.pt2,calib.npz,test.npz,test_label.npy} "$fixture/tflite/curves16.tflite" "$root"
    cp "$fixture/dynamic/onnx/pooled/model.onnx" "$root" && cp "$fixture"/pictures/00* "$root/pictures"
    printf 'graph @main(%%0 "x": f32[1,3,24,24]) {\n  %%1 = mean %%0 axes=[2,3] keepdim=false : f32[1,3]\n  return %%1\n}\n' >"$root/mean.ir"
    check "$machine: --version" says 'tosac [0-9]' --version
    check "$machine: PNG and JPEG" says 'f32\[10,3\]' run /mean.ir -i /pictures --preprocess 'resize=28 crop=24'
    check "$machine: ONNX" says 'operator set 17' inspect /model.onnx
    check "$machine: a model in TensorFlow Lite's bits" says 'region' compile /curves16.tflite -t ethos-u55-128 -o /curves.tflite
    if [ -x "$here/build/tosac" ]; then
        (cd "$root" && "$here/build/tosac" compile curves16.tflite -t ethos-u55-128 -o ours.tflite >/dev/null 2>&1)
        check "$machine: the same bytes as by a library" cmp "$root/ours.tflite" "$root/curves.tflite"
    fi
    [ $machine = x86_64 ] || continue # emulation is some thirty times slower
    check "$machine: an Ethos-U program" says '1 region, 44 operators' compile /model.pt2 -t ethos-u85-256 --calib /calib.npz -o /digits.pte
    check "$machine: C for a Cortex-M" says 'flash' compile /model.pt2 -t cortex-m55 --calib /calib.npz --emit c -o /digits.c
    check "$machine: what it has made runs" says 'f32\[' run /digits.pte -i random:1
    check "$machine: a step in CI, with the command of the archive" "$here/test/ci.sh" "$root/tosac" tosac-*-linux-$machine.tar.gz
    check "$machine: accuracy" says '98.[0-9]* %' evaluate /model.pt2 --data /test.npz --labels /test_label.npy
done
done_with
