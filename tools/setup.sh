#!/usr/bin/env bash
# Brings what is missing, and only that.        setup.sh [build|fuzz|judges|wheel|browser]
#
#   build    Debian packages for compiling and testing
#   fuzz     what clang needs for libFuzzer
#   browser  Chromium, which the report is tried in
#   judges   a Python environment with the TOSA reference model, Vela and Arm's VGF tools under build/peers/judges,
#            and Mesa's software Vulkan, for the tests that ask them.  TOSAC_JUDGES names an environment that is
#            there already.  No torch.
#   wheel    what the Python package is put together with
set -euo pipefail
cd "$(dirname "$0")/.."

packages="gcc libc6-dev clang cmake ninja-build make pkg-config libzip-dev libprotobuf-c-dev protobuf-c-compiler libdnnl-dev libpng-dev libjpeg-dev xz-utils ccache lld python3"

bring() { # packages that are not installed
    local missing=()
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} = 0 ] && return
    echo "setup: installing ${missing[*]}"
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -q
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends "${missing[@]}"
}

case ${1:-build} in
build)
    if ! command -v apt-get >/dev/null; then
        echo "setup: no apt-get here; these are needed: $packages"
        exit 0
    fi
    # shellcheck disable=SC2086
    bring $packages
    ;;
fuzz)
    version=$(clang -dumpversion)
    bring "libclang-rt-${version%%.*}-dev"
    ;;
wheel)
    command -v patchelf >/dev/null || bring patchelf
    ;;
browser)
    command -v chromium >/dev/null || bring chromium || echo "setup: without Chromium the report is not tried" >&2
    ;;
judges)
    bring mesa-vulkan-drivers libvulkan1 || echo "setup: without Mesa's Vulkan no VGF file is run" >&2
    [ -z "${TOSAC_JUDGES:-}" ] || exit 0
    dir=build/peers/judges
    [ ! -e $dir/.done-vgf ] || exit 0
    bring python3-venv
    mkdir -p build/peers
    python3 -m venv $dir
    said=$($dir/bin/pip install -q 'numpy>=2' ml_dtypes==0.5.1 tosa-tools==2026.5.0 ethos-u-vela==5.2.0 \
        ai_ml_sdk_model_converter==0.9.0 ai_ml_emulation_layer_for_vulkan==0.9.0 ai-ml-sdk-vgf-library==0.11.0 2>&1 &&
        $dir/bin/pip install -q --no-deps ai-ml-sdk-scenario-runner==0.11.0 2>&1) || {
        echo "setup: the judges could not be installed: $said" >&2
        exit 1
    }
    touch $dir/.done-vgf
    echo "setup: judges ready in $dir"
    ;;
*)
    echo "setup.sh [build|fuzz|judges|wheel|browser]" >&2
    exit 2
    ;;
esac
