#!/usr/bin/env bash
# examples/firmware to the letter: the commands of its README, in a copy.        firmware.sh TOSAC
#
# The firmware runs in QEMU; a changed test vector makes it fail; with regions of an Ethos-U it links against a driver, whose
# refusal it returns.  Skipped without arm-none-eabi-gcc or qemu-system-arm (tools/setup.sh cortexm).
set -uo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "$1") top=$PWD dir=$(mktemp -d) good=0 bad=0
trap 'rm -rf "$dir"' EXIT
for tool in arm-none-eabi-gcc qemu-system-arm cmake ninja; do
    command -v $tool >/dev/null || { echo "there is no $tool: tools/setup.sh cortexm" && echo "0 passed, 0 failed, 1 skipped" && exit 0; }
done
mkdir "$dir/bin" && ln -s "$tosac" "$dir/bin/tosac" && cp -r examples "$dir/" && ln -s "$top/test" "$dir/test"
export PATH=$dir/bin:$PATH
cd "$dir/examples/firmware" || exit 1

check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$dir/log" 2>&1; then good=$((good + 1)); else bad=$((bad + 1)) && echo "$words" && tail -20 "$dir/log"; fi
}
fails() { # PATTERN COMMAND...
    local pattern=$1
    shift
    ! "$@" >"$dir/out" 2>&1 && grep -qE -- "$pattern" "$dir/out" || { cat "$dir/out" && return 1; }
}
as_printed() { awk '/^```sh/ {on = 1; next} /^```/ {on = 0} on' README.md >"$dir/commands" && timeout 300 bash -e "$dir/commands" && [ -s "$dir/commands" ]; }
run() { timeout 60 cmake --build build --target test-in-qemu; }

check "README's commands" as_printed
cp "$dir/log" "$dir/printed"
check "all vectors have the same bytes" grep -x 'the same bytes 8' "$dir/printed"
check "constants are in DDR" grep -E 'DDR: +[0-9]{6} B' "$dir/printed"
sed -i '/vector_output/,$ s/^     \([0-9]*\),/     \1^1,/' model/vectors.c
check "a changed vector is found" fails 'the same bytes 0' run
rm model/vectors.c
check "a missing file is named" fails 'vectors.c is missing' cmake -G Ninja -S . -B other -DCMAKE_TOOLCHAIN_FILE=../cortex-m/arm-none-eabi.cmake

# Quantized .tflite, whose own input and output are codes.
echo '{"io": {"inputs": "int8", "outputs": "int8"}}' >"$dir/io.json"
codes() { # FILE
    rm -rf model build && sed "s#\$model/model.pt2#$1#; s#--calib [^ ]*##" "$dir/commands" >"$dir/codes" && timeout 300 bash -e "$dir/codes"
}
tosac compile ../../test/fixture/digits/model.pt2 -t cortex-m4 --calib ../../test/fixture/digits/calib.npz -q "$dir/io.json" -o "$dir/digits.tflite" >"$dir/log" 2>&1
check "an int8 .tflite" codes "$dir/digits.tflite"
check "an int16 .tflite" codes ../../test/fixture/tflite/corners.tflite

# An Ethos-U: a driver that refuses every job, behind the names of Arm's.
rm -rf model build
mkdir model driver driver/include
printf '%s\n' '#include "../../../../test/ethosu/ethosu_driver.h"' 'struct ethosu_driver { int refuses; };' \
    'int ethosu_init(struct ethosu_driver *drv, void *const base_address, const void *fast_memory, const size_t fast_memory_size,' \
    '    uint32_t secure_enable, uint32_t privilege_enable);' 'void ethosu_irq_handler(struct ethosu_driver *drv);' >driver/include/ethosu_driver.h
cat >driver/driver.c <<'D'
#include <stdio.h>
#include <stdlib.h>
#include "ethosu_driver.h"
int ethosu_init(struct ethosu_driver *d, void *const base, const void *fast, const size_t n, uint32_t s, uint32_t p)
{ void *semaphore = malloc(16); fprintf(stderr, "a driver's message %d\n", semaphore != 0);
  (void)fast; (void)n; (void)s; (void)p; d->refuses = 1; return (uintptr_t)base != 0x58102000u; }
void ethosu_irq_handler(struct ethosu_driver *d) { (void)d; }
struct ethosu_driver *ethosu_reserve_driver(void) { return 0; }
void ethosu_release_driver(struct ethosu_driver *d) { (void)d; }
int ethosu_invoke_v3(struct ethosu_driver *d, const void *c, int n, uint64_t *b, const size_t *s, int m, void *u)
{ (void)d; (void)b; (void)u; return (uintptr_t)c >> 28 == 7 && n > 0 && s[0] && m == 3 ? 9 : 0; }
D
npu() {
    arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfloat-abi=hard -O2 -Idriver/include -c driver/driver.c -o driver/driver.o &&
        arm-none-eabi-ar rcs driver/libethosu_core_driver.a driver/driver.o &&
        sed 's/-t cortex-m55/-t ethos-u55-128+cortex-m55/; s/^cmake -G.*/& -DETHOSU_DRIVER=$PWD\/driver/; /test-in-qemu/d' "$dir/commands" >"$dir/npu" &&
        timeout 300 bash -e "$dir/npu"
}
check "with an Ethos-U it links" npu
exit_code() { qemu-system-arm -M mps3-an547 -display none -monitor none -serial null -semihosting-config enable=on,target=native -kernel build/firmware.elf; [ $? = 3 ]; }
messages() { { exit_code || return 1; } 2>&1 | tee /dev/stderr | grep -qx "a driver's message 1"; }
check "the driver's refusal ends it; streams lie in DDR" timeout 60 bash -c "$(declare -f exit_code); exit_code"
check "the driver's messages are printed, and it has a heap" timeout 60 bash -c "$(declare -f exit_code messages); messages"
echo "$good passed, $bad failed"
[ $bad = 0 ]
