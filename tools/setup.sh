#!/usr/bin/env bash
# Brings what is missing, and only that.        setup.sh [demo|build|fuzz|judges|tosa11|micro|litert|proofs|wheel|browser|cortexm|emulate|arm|windows|wasm|wine|zig|site|hooks]
#
#   demo     Debian packages for compiling tosac alone
#   build    those, and what the tests are compiled with
#   fuzz     what clang needs for libFuzzer
#   judges   a Python environment with the TOSA reference model, Vela and Arm's VGF tools under build/peers/judges,
#            and Mesa's software Vulkan, for the tests that ask them.  TOSAC_JUDGES names an environment that is
#            there already.  No torch.
#   tosa11   the reference model of TOSA 1.1 under build/peers/tosa11; TOSAC_TOSA11 names an environment that is there
#   micro    TensorFlow Lite Micro and LiteRT's schema under build/peers/micro; TOSAC_MICRO names an environment that is there
#   litert   the same with LiteRT's converter for PyTorch, and torch, under build/peers/litert, for tools/peer/tflm_int8.py
#   proofs   z3, which decides the lemmas of test/proofs, and a parser of C, under build/peers/proofs; TOSAC_PROOFS names an environment that is there
#   wheel    what the Python package is put together with
#   browser  Chromium, which the report is tried in
#   cortexm  a compiler for bare Cortex-M cores, and QEMU's boards with them
#   emulate  the same, and what the Ethos-U for QEMU is compiled with (tools/emulate)
#   arm      a compiler for 64-bit Arm under Linux, and QEMU's emulation of one
#   windows  a compiler for Windows
#   wasm     Emscripten and node, for WebAssembly
#   wine     Wine, which runs what it makes
#   zig      Zig, for its clang and its headers of other systems, under build/peers/zig
#   site     mkdocs, under build/peers/site
#   hooks    pre-commit, under build/peers/hooks
#
# Without root or without a network one line says what is missing; what can be done without it goes on.
set -euo pipefail
cd "$(dirname "$0")/.."

compiling="gcc libc6-dev cmake ninja-build make pkg-config libzip-dev libprotobuf-c-dev protobuf-c-compiler libpng-dev libjpeg-dev"
packages="$compiling clang xz-utils ccache lld python3"

# Packages that are not installed; 1: they cannot be had here.
bring() {
    local missing=() sudo='' said
    command -v dpkg-query >/dev/null || return 1
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} = 0 ] && return
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            echo "setup: not root; missing: ${missing[*]} (sudo apt-get install ${missing[*]})" >&2
            return 1
        fi
        sudo=sudo
    fi
    echo "setup: installing ${missing[*]}"
    if ! said=$({ $sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends "${missing[@]}"; } 2>&1); then
        echo "setup: cannot install ${missing[*]}: $(echo "$said" | grep -m 1 '^E:' || echo "$said" | tail -1)" >&2
        return 1
    fi
}

# Whether tosac can be compiled with what is there.
can_compile() {
    command -v cc >/dev/null && command -v cmake >/dev/null && command -v ninja >/dev/null && command -v protoc-c >/dev/null && pkg-config --exists libzip libprotobuf-c 2>/dev/null
}

# Python packages into an environment; 1: they cannot be had here.
environment() { # FOLDER PACKAGES...
    local dir=$1 said
    shift
    if ! said=$({ python3 -m venv "$dir" && "$dir/bin/pip" install -q "$@"; } 2>&1); then
        echo "setup: cannot install $1${2:+ ...}: $(echo "$said" | grep -m 1 -iE '^error|not available|No module' || echo "$said" | tail -1)" >&2
        rm -rf "$dir"
        return 1
    fi
}

case ${1:-build} in
demo | build)
    wanted=$packages
    [ "${1:-build}" = build ] || wanted=$compiling
    # shellcheck disable=SC2086
    bring $wanted || can_compile || {
        echo "setup: tosac cannot be compiled here without: $compiling" >&2
        exit 1
    }
    ;;
fuzz)
    version=$(clang -dumpversion)
    bring "libclang-rt-${version%%.*}-dev"
    ;;
wheel)
    command -v patchelf >/dev/null && command -v python3 >/dev/null || bring patchelf python3
    ;;
browser)
    command -v chromium >/dev/null || bring chromium || echo "setup: without Chromium the report is not tried" >&2
    ;;
cortexm)
    if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then exit 0; fi
    bring gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm || echo "setup: without them C for a Cortex-M is tried on this machine only" >&2
    ;;
emulate)
    bring gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm libglib2.0-dev dpkg-dev python3 || echo "setup: without them no firmware is tried with an Ethos-U" >&2
    ;;
arm)
    command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null || bring gcc-aarch64-linux-gnu qemu-user
    ;;
windows)
    bring gcc-mingw-w64-x86-64-posix libz-mingw-w64-dev dpkg-dev protobuf-c-compiler cmake ninja-build pkg-config
    ;;
wasm)
    command -v node >/dev/null || bring nodejs || exit 1
    bring emscripten node-acorn dpkg-dev protobuf-c-compiler cmake ninja-build pkg-config
    ;;
wine)
    command -v wine >/dev/null || bring wine wine64
    ;;
zig)
    [ ! -x build/peers/zig/bin/python ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment build/peers/zig ziglang==0.17.0
    ;;
site)
    [ ! -e build/peers/site/.done-9.8.1 ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    rm -rf build/peers/site
    environment build/peers/site mkdocs==1.6.1 mkdocs-material==9.8.1 pymdown-extensions==13.1 Markdown==3.11.3 Pygments==2.21.0 Jinja2==3.1.6
    touch build/peers/site/.done-9.8.1
    ;;
hooks)
    [ ! -x build/peers/hooks/bin/pre-commit ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment build/peers/hooks pre-commit==4.7.0
    ;;
tosa11)
    [ -z "${TOSAC_TOSA11:-}" ] || exit 0
    dir=build/peers/tosa11
    [ ! -e $dir/.done ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment $dir tosa-tools==2026.8.0 'numpy>=2' ml_dtypes==0.5.3 flatbuffers
    touch $dir/.done
    echo "setup: TOSA 1.1's reference model ready in $dir"
    ;;
judges)
    bring mesa-vulkan-drivers libvulkan1 || echo "setup: without Mesa's Vulkan no VGF file is run" >&2
    [ -z "${TOSAC_JUDGES:-}" ] || exit 0
    dir=build/peers/judges
    [ ! -e $dir/.done-vgf-0.11 ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment $dir 'numpy>=2' ml_dtypes==0.5.1 tosa-tools==2026.5.0 ethos-u-vela==5.2.0 ai_ml_sdk_model_converter==0.11.0 \
        ai_ml_emulation_layer_for_vulkan==0.11.0 ai-ml-sdk-vgf-library==0.11.0 jsonschema
    $dir/bin/pip install -q --no-deps ai-ml-sdk-scenario-runner==0.11.0 vgf-adapter-model-explorer==0.5.1
    touch $dir/.done-vgf-0.11
    echo "setup: judges ready in $dir"
    ;;
litert)
    dir=build/peers/litert
    [ ! -e $dir/.done ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment $dir numpy torch litert-torch==0.10.0 tflite-micro
    touch $dir/.done
    ;;
micro)
    [ -z "${TOSAC_MICRO:-}" ] || exit 0
    dir=build/peers/micro
    [ ! -e $dir/.done ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment $dir numpy flatbuffers ai-edge-litert==2.3.0 tflite-micro ethos-u-vela==5.2.0
    touch $dir/.done
    ;;
proofs)
    [ -z "${TOSAC_PROOFS:-}" ] || exit 0
    dir=build/peers/proofs
    [ ! -e $dir/.done-2 ] || exit 0
    python3 -c 'import ensurepip' 2>/dev/null || bring python3-venv || exit 1
    mkdir -p build/peers
    environment $dir z3-solver==5.4.0.0 pycparser==2.22
    touch $dir/.done-2
    ;;
*)
    echo "setup.sh [demo|build|fuzz|judges|tosa11|micro|litert|proofs|wheel|browser|cortexm|emulate|arm|windows|wasm|wine|zig|site|hooks]" >&2
    exit 2
    ;;
esac
