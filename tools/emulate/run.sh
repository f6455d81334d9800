#!/usr/bin/env bash
# A firmware on a Corstone-300 with an Ethos-U, in Debian's qemu-system-arm; exits as the firmware does.
#
#   run.sh FIRMWARE.elf [-t ethos-u55-128] [--report] [--verify] [--cache] [--clock HZ] [--qemu OPTION]...
#
#   TOSAC_LIBRARY   libtosac.so; else beside build/tosac, else where the loader finds it
#   TOSAC_EMULATE   the folder of the device; it is made there at first use (make.sh)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
elf='' device=model=ethos-u55-128 more=()
while [ $# -gt 0 ]; do
    case $1 in
    -t) device=model=$2${device#model=ethos-u55-128} && shift 2 ;;
    --report) device+=,report=on && shift ;;
    --verify) device+=,verify=on && shift ;;
    --cache) device+=,cache=on && shift ;;
    --clock) device+=,clock-frequency=$2 && shift 2 ;;
    --qemu) more+=("$2") && shift 2 ;;
    -*) echo "run.sh: $1 is no option: see the first lines of $0" >&2 && exit 2 ;;
    *) elf=$1 && shift ;;
    esac
done
[ -r "$elf" ] || { echo "run.sh: there is no firmware '$elf'" >&2 && exit 2; }
command -v qemu-system-arm >/dev/null || { echo "run.sh: there is no qemu-system-arm: tools/setup.sh emulate" >&2 && exit 4; }
folder=${TOSAC_EMULATE:-${XDG_CACHE_HOME:-$HOME/.cache}/tosac/emulate}
plugin=$folder/libqemu-ethosu.so
if [ ! -e "$plugin" ] || [ "$here/ethosu.c" -nt "$plugin" ] || [ "$here/cache.c" -nt "$plugin" ] || [ "$(cat "$folder/version" 2>/dev/null)" != "$(dpkg-query -W -f='${source:Version}' qemu-system-arm)" ]; then
    "$here/make.sh" "$folder" || { echo "run.sh: the device cannot be made: $here/make.sh $folder" >&2 && exit 4; }
fi
library=${TOSAC_LIBRARY:-$here/../../build/libtosac.so}
[ -e "$library" ] || library=libtosac.so
exec qemu-system-arm -M mps3-an547 -display none -monitor none -serial null -semihosting-config enable=on,target=native -icount shift=5 \
    -plugin "$plugin" -device "arm-ethos-u,$device,library=$library" "${more[@]}" -kernel "$elf"
