#!/usr/bin/env bash
# The command line as a user meets it: exit codes, messages, files.        cli.sh TOSAC
set -uo pipefail
tosac=$(realpath "$1")
cd "$(dirname "$0")"
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT

# Exit status and a piece of what is said (standard output and error together).
expect() { # STATUS TEXT ARGUMENTS...
    local status=$1 text=$2 said got
    shift 2
    said=$("$tosac" "$@" 2>&1 </dev/null)
    got=$?
    if [ $got = "$status" ] && [[ $said == *"$text"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "tosac $*: exit $got, expected $status with '$text'; said: $said"
    fi
}

holds() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "does not hold: $words"; fi
}

digits=fixture/digits
printf 'PK\3\4 and no archive' >"$dir/broken.npz"
printf '\x93NUMPY\1\0\377\377{' >"$dir/short.npy"

# abs of a row of three; a sum with two operands; a buffer that takes what comes in, shown as it was before.
cat >"$dir/abs.ir" <<'END'
graph @main(%0 "x": f32[1,3]) {
  %1 = abs %0 : f32[1,3]
  return %1
}
END
npy() { # NAME DESCR SHAPE BYTES: a .npy by hand
    local head="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    printf "\\x93NUMPY\\x01\\x00\\x$(printf %02x ${#head})\\x00%s$4" "$head" >"$dir/$1.npy"
}
one='\x00\x00\x80\xbf' two='\x00\x00\x00\x40' # -1 and 2
npy row '<f4' '1, 3' "$one$one$two"
npy rows '<f4' '2, 3' "$one$one$two$two$two$two"
npy stack '<f4' '2, 1, 3' "$one$one$two$two$two$two"
npy wide '<f8' '1, 3' '\x00\x00\x00\x00\x00\x00\xf0\x3f\x9a\x99\x99\x99\x99\x99\xb9\x3f\x00\x00\x00\x00\x00\x00\x00\x00'
npy row23 '<f4' '2, 3' "$one$one$two$one$one$two"
npy bytes '|i1' '1, 3' 'abc'
npy short4 '<f4' '1, 1, 4' "$one$one$two$two"

# Inputs that are fixed: they go, and what they decide folds.
cat >"$dir/branch.ir" <<'END'
graph @main(%0 "x": f32[1,3], %1 "flag": bool[]) {
  %2 = cond %1, %0 then_graph="a" else_graph="b" : f32[1,3]
  return %2
}
graph @a(%0: f32[1,3]) {
  %1 = abs %0 : f32[1,3]
  return %1
}
graph @b(%0: f32[1,3]) {
  %1 = neg %0 : f32[1,3]
  return %1
}
END
npy yes '|b1' '' '\x01'
expect 0 '1 region, 1 operators on TOSA-1.0+FP, 0 on the CPU' compile "$dir/branch.ir" -t TOSA-1.0+FP --set flag=true -o "$dir/branch.pte"
expect 0 "and nothing goes to the accelerator" compile "$dir/branch.ir" -t TOSA-1.0+FP -o "$dir/both.pte"
expect 0 '--set flag=VALUE makes it a constant' compile "$dir/branch.ir" -t TOSA-1.0+FP -o "$dir/both.pte"
expect 0 'f32[1,3]           -2            1            0' run "$dir/branch.ir" --set flag=false -i "$dir/row.npy"
expect 0 'f32[1,3]            1            2' run "$dir/branch.ir" --set flag="$dir/yes.npy" -i "$dir/row.npy"
expect 2 '--set takes INPUT=VALUE' run "$dir/branch.ir" --set flag -i "$dir/row.npy"
expect 2 "the model has no input of that name; its inputs are x, flag" run "$dir/branch.ir" --set rate=1 -i "$dir/row.npy"
expect 2 '--set flag=3: the input is bool[]' run "$dir/branch.ir" --set flag=3 -i "$dir/row.npy"
expect 2 '--set x=' run "$dir/branch.ir" --set x="$dir/rows.npy" --set flag=1

# Numbers among outputs.
expect 0 '0       -     i64[]               3            3            3' run fixture/torch/numbers.pt2 -i "$dir/row23.npy"
expect 0 'not a tensor: .tosa cannot hold it' compile fixture/torch/numbers.pt2 -t TOSA-1.0+FP -o "$dir/numbers.tosa"
expect 0 'int 3' inspect fixture/torch/numbers.pt2

# Data in other forms: float64 that float32 does not have, channels last; a page in a model's place; no summary.
python3 - "$dir" <<'END'
import struct, sys
def npy(name, kind, shape, numbers, code):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    open(f"{sys.argv[1]}/{name}.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}{code}", *numbers))
npy("tenths", "<f8", (1, 3), [0.1, 0.2, 0.3], "d")
npy("huge", "<f8", (1, 3), [1e300, 0.2, 0.3], "d")
npy("nhwc", "<f4", (1, 28, 28, 1), [0.0] * 784, "f")
END
printf 'graph @main(%%0: f32[1,3]) {\n  %%1 = neg %%0 : f32[1,3]\n  return %%1\n}\n' >"$dir/neg.ir"
printf '\n<!DOCTYPE html><html></html>\n' >"$dir/page.pt2" && cp "$dir/page.pt2" "$dir/page.onnx"
expect 1 '--round takes the nearest; nothing is rounded silently' run "$dir/neg.ir" -i "$dir/tenths.npy"
expect 0 'f32[1,3]         -0.3         -0.1         -0.2' run "$dir/neg.ir" -i "$dir/tenths.npy" --round
expect 1 'round or convert the data first' run "$dir/neg.ir" -i "$dir/huge.npy" --round
expect 1 'looks like NHWC, channels last, and the input is NCHW: numpy.moveaxis(array, -1, -3)' run "$digits/model.pt2" -i "$dir/nhwc.npy"
expect 1 'this is a web page (HTML), not a model' inspect "$dir/page.pt2"
expect 1 'this is a web page (HTML), not a model' inspect "$dir/page.onnx"
holds 'a quiet compile prints nothing' [ -z "$("$tosac" compile "$dir/neg.ir" -t TOSA-1.0+FP -o "$dir/neg.tosa" --quiet 2>&1)" ]
holds 'and writes its file' [ -s "$dir/neg.tosa" ]

# Boards, and the verdict.
expect 0 'himax-we2              ethos-u55-64 at 400 MHz  cortex-m55 at 400 MHz' boards
expect 0 'source_npu = Alif' boards alif-e7-hp
expect 0 '"any_size": true' boards corstone-300-fvp --json
expect 2 "did you mean 'alif-e7-hp'?" boards alif-e7-hq
expect 2 "did you mean 'himax-we2'?" compile "$dir/abs.ir" --board grove
expect 1 'no.board: error: cannot open it' compile "$dir/abs.ir" --board "$dir/no.board"
printf '[Board.x]\nnpu = ethos-u55-128\nsarm = 4 KiB\n' >"$dir/bad.board"
expect 1 "bad.board:3: error: a board has no key 'sarm'" boards "$dir/bad.board"
expect 1 "did you mean 'sram'?" boards "$dir/bad.board"
for_board="compile $digits/model.pt2 --calib $digits/calib.npz --ethosu-backend own --no-execute"
expect 0 'alif-e7-hp, Shared_Sram: fits: SRAM0 69 of 4096 KiB, 4027 left; MRAM 130 of 5632 KiB, 5502 left; 0.488 ms, 2049 inferences a second, the NPU at 400 MHz (not counted: 2 operators on the CPU and the runtime)' $for_board --board alif-e7-hp -o "$dir/e7.pte"
expect 0 '44 operators on ethos-u55-256, 2 on the CPU' $for_board --board alif-e7-hp -o "$dir/e7.pte"
expect 0 'alif-e7-hp, Sram_Only: fits: SRAM0 ' $for_board --board alif-e7-hp --memory-mode Sram_Only -o "$dir/e7.pte"
expect 0 'alif-e7-hp: fits: SRAM0 ' $for_board --board alif-e7-hp -t cortex-m55 -o "$dir/m55.c"
expect 0 'corstone-300-fvp, Shared_Sram: fits' $for_board --board corstone-300-fvp -t ethos-u55-32
expect 0 'the NPU at 500 MHz' $for_board --board corstone-300-fvp -o "$dir/c300.tosa"
expect 0 '"inferences_per_second": 2048.' $for_board --board alif-e7-hp -o "$dir/e7.pte" --json
expect 2 '-t ethos-u85-256: the board alif-e7-hp has ethos-u55-256 and cortex-m55' $for_board --board alif-e7-hp -t ethos-u85-256
expect 0 '0.488 ms at 400 MHz' profile "$dir/e7.pte" --board alif-e7-hp --memory-mode Shared_Sram
expect 0 ' ms at 180 MHz' profile $digits/model.pt2 --board nucleo-f446re
expect 0 'values quantized' quantize $digits/model.pt2 --board himax-we2 --calib $digits/calib.npz -o "$dir/q.ir"
holds 'as for its target' diff -q "$dir/q.ir" <("$tosac" quantize $digits/model.pt2 -t ethos-u55-64 --calib $digits/calib.npz -o "$dir/q2.ir" >/dev/null; cat "$dir/q2.ir")
expect 0 'on the CPU: 2' explain $digits/model.pt2 --board himax-we2
"$tosac" boards alif-e7-hp | sed 's/5632 KiB/128 KiB/' >"$dir/mine.board"
expect 0 'alif-e7-hp, Shared_Sram: does not fit: SRAM0 69 of 4096 KiB, 4027 left; MRAM 130 of 128 KiB, 2 too many' $for_board --board "$dir/mine.board" -o "$dir/e7.pte"
expect 0 'tried -q a8w4: fits: SRAM0 ' $for_board --board "$dir/mine.board" -o "$dir/e7.pte"
expect 0 '"options": "--optimise Size",' $for_board --board "$dir/mine.board" -o "$dir/e7.pte" --json
"$tosac" boards himax-we2 | sed 's/1924 KiB/4 KiB/; s/16 MiB/16 KiB/' >"$dir/tiny.board"
expect 0 'nothing that was tried fits: at least ' $for_board --board "$dir/tiny.board" -o "$dir/e7.pte"
printf '[Board.d]\nnpu = ethos-u55-128\nmemory_mode = Shared_Sram\nsram = 8 KiB\nflash = 1 MiB\n' >"$dir/d.board"
expect 0 'tried --dim s77=128: fits: SRAM 7 KiB' compile golden/error/dynamic.pt2 --dim s77=512 --calib random:1 --board "$dir/d.board" -o "$dir/d.pte"
# The page's table is what comes out.
holds 'doc/boards.md is current: make board-table' diff <(python3 ../tools/board-table.py "$tosac" $digits/model.pt2 $digits/calib.npz - himax-we2 nucleo-f446re | tail -2) <(grep -E '^\| `(himax-we2|nucleo-f446re)`' ../doc/boards.md)
holds 'doc/boards.md has every board' diff <("$tosac" boards | awk 'NR > 1 && NF > 4 && $1 ~ /-/ { print $1 }' | grep -v "^'") <(sed -n 's/^| `\([a-z0-9-]*\)` | [ec].*/\1/p' ../doc/boards.md)

# What there is.
expect 0 'ethos-u85-2048' targets
expect 0 '"needs_vela": true' targets --json
expect 0 'cortex-m55         Cortex-M55 integers' targets
expect 0 '"takes_c": true' targets --json
expect 0 '28 calls of cortex_m:: (ExecuTorch 1.4), 32 of other kernels' compile "$digits/model.pt2" -t cortex-m4 --calib "$digits/calib.npz" -o "$dir/m4.pte"
expect 0 'ExecuTorch 1.4, cortex_m:: for DSP' inspect "$dir/m4.pte"
expect 0 '15  cortex_m::quantized_conv2d.out' inspect "$dir/m4.pte"
expect 0 'm4.pte   98.70 %' evaluate "$digits/model.pt2" "$dir/m4.pte" --data "$digits/test.npz" --labels "$digits/test_label.npy"
expect 0 'softmax(q k^T' ops -t ethos-u55-128
expect 0 '"on_target": "as integers"' ops -t ethos-u85-256 --json
expect 2 "did you mean 'ethos-u85-256'" ops -t ethos-u85-25
expect 2 "takes no argument, not 'x'" doctor x
holds 'Vela is optional' grep -q '^optional  *Vela' <(TOSAC_VELA=/nowhere/vela "$tosac" doctor)
holds 'but how to install it is said' grep -q 'pip install ethos-u-vela' <(TOSAC_VELA=/nowhere/vela "$tosac" doctor)
holds 'targets work, Ethos-U without Vela too' grep -q 'TOSA-1.0+INT+FP, ethos-u55-32, ethos-u65-256, ethos-u85-128, vgf, ' <(TOSAC_VELA=/nowhere/vela "$tosac" doctor)
TMPDIR=/nowhere TOSAC_VELA=/nowhere/vela expect 4 '"healthy": false' doctor --json

# Velas that say something else than their version, an old one, and one that refuses; a folder that is none.
printf '#!/bin/sh\necho hello\n' >"$dir/odd-vela" && printf '#!/bin/sh\necho 4.5.0; exit $(($# > 1))\n' >"$dir/old-vela" && chmod +x "$dir"/*-vela
TOSAC_VELA=$dir/odd-vela expect 4 'does not report its version' doctor
holds 'a Vela that was not tried' grep -q 'is 4.5.0; tested with 5.2.0' <(TOSAC_VELA=$dir/old-vela "$tosac" doctor)
mkdir -p "$dir/beside/peers/vela/bin" && cp "$tosac" "$dir/beside/" && cp "$dir/old-vela" "$dir/beside/peers/vela/bin/vela"
cp "$(dirname "$tosac")"/libtosac.so.? "$dir/beside/"
holds 'the Vela that was brought beside the command is found' grep -q 'beside/peers/vela/bin/vela is 4.5.0' <(env -u TOSAC_VELA PATH=/usr/bin:/bin "$dir/beside/tosac" doctor)
holds 'one that is named goes before it' grep -q '^optional  *Vela' <(TOSAC_VELA=/nowhere/vela "$dir/beside/tosac" doctor)
rm -r "$dir/beside"
TMPDIR=/nowhere TOSAC_VELA=/nowhere/vela expect 4 '/nowhere cannot be written' doctor

# A terminal has colours unless it is told otherwise, and is told how far the work is.
if command -v script >/dev/null; then
    terminal() { script -qec "$*" /dev/null </dev/null; }
    holds 'errors are red' grep -q $'\x1b\\[1;31merror\x1b' <(terminal "$tosac" rum)
    holds 'not with NO_COLOR' eval '! NO_COLOR=1 terminal "$tosac" rum | grep -q "\[1;31m"'
    holds 'not on a dumb terminal' eval '! TERM=dumb terminal "$tosac" rum | grep -q "\[1;31m"'
    holds "the doctor's findings too" grep -q $'\x1b\\[32mok' <(TOSAC_VELA=/nowhere terminal "$tosac" doctor)
    printf '#!/bin/sh\nsleep 30\n' >"$dir/slow-vela" && chmod +x "$dir/slow-vela"
    holds 'progress is drawn' grep -qE 'runs of Vela, [0-9]+ s' <(TOSAC_VELA=$dir/slow-vela terminal "$tosac" compile "$dir/abs.ir" -t ethos-u55-128 --calib "$dir/rows.npy" --ethosu-backend vela --vela-timeout 2 -o "$dir/slow.pte")
fi

# Mistakes are told before the work, with what is near; with --json as an object.
expect 2 "'tosac --help' lists the commands" xylophone
expect 2 "'tosac run --help' lists them" run --xylophone
expect 2 'doc/passes.md lists them' compile nowhere.pt2 -t cpu --dump-after xylophone
expect 2 'there is no such pass' opt nowhere.pt2 --dump-after xylophone
expect 2 '-t TARGET is missing' compile nowhere.pt2
expect 2 '-t TARGET is missing' explain nowhere.pt2
expect 2 '-t TARGET is missing' profile nowhere.pt2
expect 2 "did you mean 'module'" profile nowhere.pt2 -t ethos-u55-128 --by modul
expect 2 '--emit model-explorer needs a file' compile nowhere.pt2 -t cpu --emit model-explorer
expect 2 'is not known from its name' compile nowhere.pt2 -t cpu -o "$dir/x.xyz"
expect 2 'unknown kind of file' compile nowhere.pt2 -t cpu -o "$dir/x.pte" --emit xylophone
expect 2 'a file keeps its locations' opt "$dir/abs.ir" --no-loc -o "$dir/plain.ir"
expect 2 '--report cannot be combined with --observe-only' quantize nowhere.pt2 --calib random:1 --observe-only -o "$dir/x.obs" --report "$dir/x.html"
expect 2 'unexpected argument' quantize nowhere.pt2 second.pt2 -o "$dir/x.ir"
expect 2 'the model is missing' quantize first.obs --merge second.obs -o "$dir/x.ir"
expect 2 'are for models' profile fixture/cost/net_vela.npz -t ethos-u55-128
expect 2 'are for models' profile fixture/cost/net_vela.npz --ethosu-backend own
expect 2 'expected auto, own or vela' explain "$dir/abs.ir" -t ethos-u55-128 --ethosu-backend ours

# C for a Cortex-M: the model, its header and the kernels that it calls; what has no integer form is named.
core="compile $dir/abs.ir -t cortex-m0plus --calib $dir/rows.npy --emit c -o"
mkdir -p "$dir/core"
expect 0 'operators on cortex-m0plus' $core "$dir/core/abs.c"
holds 'what it calls is beside it, and no more' test -e "$dir/core/tosac_kernels.h" -a ! -e "$dir/core/tosac_pool.c"
holds 'C without a warning' cc -std=c11 -Wall -Wextra -Wconversion -Werror -c "$dir/core/abs.c" -o "$dir/core/abs.o"
expect 0 '26 calls of CMSIS-NN 7.0.0, 3 layers by our own kernels' compile "$digits/model.pt2" -t cortex-m4 --calib "$digits/calib.npz" --emit c --kernels cmsis-nn -o "$dir/core/digits.c"
expect 0 '"function": "arm_convolve_wrapper_s8"' compile "$digits/model.pt2" -t cortex-m4 --calib "$digits/calib.npz" --emit c --kernels cmsis-nn --json -o "$dir/core/digits.c"
holds 'the header says how a number becomes a code' grep -q 'x is round(x / SCALE) + ZERO_POINT' "$dir/core/digits.h"
holds 'the header names the library' grep -q 'Calls CMSIS-NN 7.0.0' "$dir/core/digits.h"
expect 2 'is for C: --emit c' compile "$dir/abs.ir" -t cortex-m4 --calib "$dir/rows.npy" --kernels cmsis-nn -o "$dir/abs.pte"
expect 2 "are for C for a Cortex-M, not for 'cpu'" compile "$dir/abs.ir" -t cpu --emit c --kernels cmsis-nn -o "$dir/core/cpu.c"
expect 2 "not for 'tosac run'" run "$dir/abs.ir" -i "$dir/row.npy" --kernels cmsis-nn
cat >"$dir/mask.ir" <<'END'
graph @main(%0 "x": f32[1,4], %1 "keep": i64[1,4]) {
  %2 = cast %1 dtype=bool : bool[1,4]
  %3 = const [0] : f32[1,1]
  %4 = where %2, %0, %3 : f32[1,4]
  return %4
}
END
expect 0 'operators on cortex-m4' compile "$dir/mask.ir" -t cortex-m4 --calib random:1 --emit c -o "$dir/core/mask.c"
holds 'inputs in the order of the model' grep -q 'mask_run(const int8_t \*input_0, const uint8_t \*input_1' "$dir/core/mask.h"
expect 3 "'abs' has no integer form" $core "$dir/core/abs.c" --cpu abs
cat >"$dir/kept.ir" <<'END'
graph @main(%0 "x": i8[1,4]) {
  %1 = const [1, 2, 3, 4] : i8[1,4]
  %2 = tosa.variable %1 name="kept" : i8[1,4]
  %3 = tosa.variable_read name="kept" : i8[1,4]
  %4 = tosa.concat %3, %0 axis=1 : i8[1,8]
  tosa.variable_write %0 name="kept"
  return %4
}
END
expect 0 '100.0 % equal' compile "$dir/kept.ir" -t cortex-m4 --emit c -o "$dir/core/kept.c"
holds 'variables are the state' grep -q 'void kept_start(kept_state \*state);' "$dir/core/kept.h"

# An Ethos-U beside it: what that does not take is the core's.
expect 0 'ethos-u55-128+cortex-m55 (any Ethos-U, any Cortex-M)' targets
expect 2 "'ethos-u55-128+cpu' is not an Ethos-U with a Cortex-M" compile "$dir/abs.ir" -t ethos-u55-128+cpu --calib "$dir/rows.npy" -o "$dir/x.c" --emit c
expect 2 "the target 'cf' is unknown" compile "$dir/abs.ir" -t ethos-u85-256+cf --calib "$dir/rows.npy" -o "$dir/x.c" --emit c
pair="compile $dir/abs.ir -t ethos-u55-128+cortex-m55 --ethosu-backend own --calib $dir/rows.npy"
expect 0 'operators on ethos-u55-128, 0 on cortex-m55, 2 left to the caller' $pair --emit c -o "$dir/core/npu.c"
holds 'the firmware runs the stream' grep -q 'tosac_npu_run(&job, arena' "$dir/core/npu.c"
expect 0 "no part of the model runs on 'ethos-u55-128+cortex-m55'" $pair --cpu abs --emit c -o "$dir/core/idle.c"
holds 'the core computes it then' grep -q '^void idle_run(const int8_t' "$dir/core/idle.h"
expect 0 'target="cortex-m55"' $pair --cpu abs --emit ir -o -
expect 0 'cycles' profile "$dir/abs.ir" -t ethos-u55-128+cortex-m55 --ethosu-backend own --calib "$dir/rows.npy"
expect 3 "takes C source, not a program" $pair -o "$dir/x.pte"
expect 2 "--emit tflite is for Ethos-U targets and 'cpu', not for 'ethos-u55-128+cortex-m55'" $pair -o "$dir/x.tflite"

# --emit vela: the payload of a .pte, or by the name's end Vela's raw form; both run, to the same numbers.
stream="compile $dir/abs.ir -t ethos-u65-256 --calib $dir/rows.npy --ethosu-backend own --emit vela -o"
expect 0 'own back end' $stream "$dir/abs.bin"
expect 0 'own back end' $stream "$dir/abs_vela.npz"
holds 'the raw form is an archive' grep -qa '^PK' "$dir/abs_vela.npz"
holds 'scales are beside it' test -s "$dir/abs_vela.npz.json"
expect 0 "follow the machine's rules" verify "$dir/abs_vela.npz"
expect 0 'ethos-u65-256' inspect "$dir/abs_vela.npz" --disassemble
expect 0 '' run "$dir/abs.bin" -i random:1 -o "$dir/stream"
expect 0 '' run "$dir/abs_vela.npz" -i random:1 -o "$dir/raw"
holds 'both give the same numbers' cmp "$dir/stream/output_0.npy" "$dir/raw/output_0.npy"
expect 1 'there is no folder' compile nowhere.pt2 -t cpu -o "$dir/none/x.pte"
expect 1 'it is a folder' compile nowhere.pt2 -t cpu --emit pte -o "$dir"
expect 1 'there is no folder' quantize nowhere.pt2 --calib random:1 -o "$dir/typed.ir" --qparams "$dir/none/q.json"
expect 2 "did you mean 'fuse-batch-norm'" compile $digits/model.pt2 -t cpu --dump-after fuze-batch-norm
expect 2 "did you mean 'conv2d_9'" compile $digits/model.pt2 -t TOSA-1.0+FP --cpu conv2d_99
expect 2 "did you mean 'vgf'" compile $digits/model.pt2 -t vfg
expect 2 "did you mean 'ethos-u85-256'" compile $digits/model.pt2 -t ethosu85-256
expect 2 '"id": "usage"' run --bensh 1 --json
expect 1 '"id": "io"' run nowhere.pt2 --json
expect 2 '"did you mean' rum --json
expect 0 '"graph": "graph @main' opt --pass=remove-dead-code "$dir/abs.ir" --json

expect 2 'tosac run'
expect 0 'tosac run' --help
expect 0 'tosac 0.' --version
# Libraries are loaded when they are wanted: a product of floats takes oneDNN, a TOSA file none of them.
# The loader's lines of several threads may run into each other, so a library is one whose name stands anywhere.
loads() { LD_DEBUG=files "$tosac" "$@" 2>&1 >/dev/null </dev/null | grep -oE 'lib(dnnl|zip|png16|jpeg)' | sort -u | tr -d '\n'; }
cat >"$dir/product.ir" <<'END'
graph @main(%0 "x": f32[1,3]) {
  %1 = const [1, 0, 0, 0, 1, 0, 0, 0, 1] : f32[3,3]
  %2 = matmul %0, %1 : f32[1,3]
  return %2
}
END
holds 'nothing is loaded for the version' [ "$(loads --version)" = "" ]
holds 'nothing is loaded for a TOSA file' [ "$(loads compile "$dir/abs.ir" -t vgf -o "$dir/abs.vgf")" = "" ]
if "$tosac" doctor 2>/dev/null | grep -q 'through oneDNN'; then
    holds 'oneDNN is loaded for a product of floats' [ "$(loads run "$dir/product.ir" -i "$dir/row.npy")" = libdnnl ]
fi
expect 0 '--bench N' run --help
expect 2 "did you mean 'tosac run'" rum
expect 2 "did you mean '--bench'" run --bensh 1 x
expect 2 "did you mean '--calib'" compile x --calibration data.npy
expect 2 "did you mean 'tosac quantize'" quant x
expect 2 "'tosac targets' takes no argument, not 'all'" targets all
expect 2 'is a model: rules are for TOSA and command streams' verify $digits/model.pt2
expect 2 "-o FILE is missing: where the typed program goes" quantize $digits/model.pt2 --calib $digits/calib.npz
expect 0 'nothing was written: -o FILE' compile $digits/model.pt2 -t cpu
expect 2 'names end in one of: .tosa, .vgf' compile $digits/model.pt2 -t cpu -o "$dir/x.foo"
expect 2 'kinds are tosa, vgf, pte' compile $digits/model.pt2 -t cpu --emit nothing-like-it -o "$dir/x"
expect 1 'cannot be written: it is a folder' compile $digits/model.pt2 -t cpu -o "$dir"
expect 1 "there is no folder '/nowhere'; nothing has been computed" compile $digits/model.pt2 -t cpu -o "$dir/x.pte" --report /nowhere/r.html
expect 2 'the header gets that name; -o names the C file' compile $digits/model.pt2 -t cpu --emit c -o "$dir/x.h"
expect 1 'it holds NumPy arrays: data goes to --calib' compile $digits/calib.npz -t cpu -o "$dir/x.pte"
expect 0 'warning: --shape y has no effect' compile $digits/model.pt2 -t cpu --shape y=1,2 -o "$dir/x.pte"
expect 2 "did you mean 'Dedicated_Sram'" compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz --memory-mode Dedicated_SRAM -o "$dir/x.pte"
expect 2 "did you mean 'Ethos_U85_SYS_DRAM_Low'" compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz --system-config Ethos_U85_SYS_DRAM -o "$dir/x.pte"
expect 2 'needs a value' run x -o
expect 2 'takes no value' run x --raw=1
expect 2 "needs a number of at least 1, not '0'" run x --bench 0
expect 2 "takes 'reference'" run x --kernels fast
expect 2 '0 arguments' run
expect 2 '2 arguments' run a b
expect 1 'cannot open it' run nowhere.pt2
expect 1 'cannot read it' run "$dir"
expect 1 'not a model that tosac reads' run /dev/null

expect 0 'f32[1,3]            1            2      1.33333' run "$dir/abs.ir" -i "$dir/row.npy"
expect 0 'f32[2,3]            1            2      1.66667' run "$dir/abs.ir" -i "$dir/rows.npy"
expect 0 'f32[2,1,3]            1            2      1.66667' run "$dir/abs.ir" -i "$dir/stack.npy"
expect 0 'f32[3,3]' run "$dir/abs.ir" -i "$dir/row.npy" -i "$dir/rows.npy"
expect 0 '"shape": [' run "$dir/abs.ir" -i "$dir/row.npy" --json
expect 1 'element 1 (0.1) cannot be represented exactly as f32' run "$dir/abs.ir" -i "$dir/wide.npy"
expect 1 "the data is int8, input 'x' needs f32" run "$dir/abs.ir" -i "$dir/bytes.npy"
expect 1 'the data is int8' run "$dir/abs.ir" -i "$dir/row.npy" -i "$dir/bytes.npy"
# A region has its channels last, and a cube does not show it: what is compared lies the same way.
cat >"$dir/cube.ir" <<'END'
graph @main(%0 "x": f32[1,4,4,4]) {
  %1 "pooled" = max_pool %0 kernel=[3,3] stride=[1,1] pad=[1,1] dilation=[1,1] ceil=false : f32[1,4,4,4]
  %2 "doubled" = add %1, %1 alpha=1 : f32[1,4,4,4]
  %3 "again" = max_pool %2 kernel=[3,3] stride=[1,1] pad=[1,1] dilation=[1,1] ceil=false : f32[1,4,4,4]
  return %3
}
END
expect 0 '1 region' compile "$dir/cube.ir" -t TOSA-1.0+FP -o "$dir/cube.tosa"
expect 0 'doubled                      f32        inf  1.000000' compare "$dir/cube.ir" "$dir/cube.tosa" -i random:1
expect 0 'doubled                      f32        inf  1.000000' compare "$dir/cube.tosa" "$dir/cube.ir" -i random:1
# A quantized .tflite: its codes come out of what is made of it, also where outputs have another order; and files that are none.
tfl=../fuzz/corpus/tflite
cp $tfl/softmax_0_i8.tflite "$dir/soft.tflite"
expect 0 'output 0                     i8         inf  1.000000' compare "$dir/soft.tflite" "$dir/soft.tflite" -i random:1
expect 0 '1 region' compile $tfl/split_v_i8.tflite -t TOSA-1.0+INT+doubleround -o "$dir/split.tosa"
expect 0 'output 1                     i8         inf' compare $tfl/split_v_i8.tflite "$dir/split.tosa" -i random:1
expect 0 '1 region' compile $tfl/conv_1_i8.tflite -t TOSA-1.0+INT -o "$dir/conv.tosa"
expect 0 'output 0                     i8         inf' compare $tfl/conv_1_i8.tflite "$dir/conv.tosa" -i random:1
expect 0 't3                           f32        inf' compare $tfl/conv_1_i8.tflite "$dir/conv.tosa" -i random:1 --dequantize
# curves of 16 bits, which TOSA lists and every Ethos-U has
expect 0 'operators on ethos-u55-128, 0 on the CPU' compile $tfl/sequence_lstm_00_i8.tflite -t ethos-u55-128 --ethosu-backend own -o "$dir/lstm.pte"
head -c 300 "$dir/soft.tflite" >"$dir/cut.tflite"
expect 1 'past the end of the file [format]' run "$dir/cut.tflite" -i random:1
sed 's/TFL3/TFL9/' "$dir/soft.tflite" >"$dir/nine.tflite"
expect 1 'this is not a model that tosac reads' inspect "$dir/nine.tflite"
changed() { # BYTE AT...: the model with these bytes changed, in place
    cp "$dir/soft.tflite" "$dir/other.tflite"
    for at in "${@:2}"; do printf "\\x$1" | dd of="$dir/other.tflite" bs=1 seek="$at" conv=notrunc status=none; done
}
changed 63 424
expect 3 "operator 'SOFTMAX' of version 99; it is read up to version 3 [version]" run "$dir/other.tflite" -i random:1
changed c7 420
expect 0 "operator 'STABLEHLO_SORT' (version 2) is not in the table [unknown-op]" inspect "$dir/other.tflite"
changed fa 420
expect 3 "node 't1' (builtin 250): error" run "$dir/other.tflite" -i random:1
# A .tflite for TensorFlow Lite Micro: from a float model, from a file whose operators stay whole; what is refused.
micro="compile $digits/model.pt2 --calib $digits/calib.npz --no-execute"
expect 0 '5 regions, 40 operators on ethos-u55-128, 6 on the CPU' $micro -t ethos-u55-128 --cpu add --ethosu-backend own -o "$dir/d.tflite"
expect 0 'operations in 5 command streams for ethos-u55-128' verify "$dir/d.tflite"
expect 0 '5  CUSTOM ethos-u' inspect "$dir/d.tflite"
expect 0 'the program has 5 regions' profile "$dir/d.tflite"
expect 2 'has no Ethos-U command stream; a model is compiled for a target' profile "$dir/soft.tflite"
expect 2 "--emit tflite is for Ethos-U targets and 'cpu', not for 'TOSA-1.0+INT'" $micro -t TOSA-1.0+INT -o "$dir/e.tflite"
printf 'graph @main(%%0 "x": f32[1,4]) {\n  %%1 = erf %%0 : f32[1,4]\n  return %%1\n}\n' >"$dir/erf.ir"
expect 3 "'erf' on f32[1,4] has no builtin operator in TensorFlow Lite Micro" compile "$dir/erf.ir" -t cpu -o "$dir/e.tflite"
expect 0 '0 regions' compile "$dir/soft.tflite" -t cpu --dump-dir "$dir/steps" -o "$dir/e.tflite"
expect 0 '1  SOFTMAX' inspect "$dir/e.tflite"
changed c7 420
expect 0 "'STABLEHLO_SORT' stays as it is, and TensorFlow Lite Micro has no kernel for it" compile "$dir/other.tflite" -t cpu -o "$dir/e.tflite"
expect 3 'a .tflite keeps it as it is' compile "$dir/other.tflite" -t cpu -o "$dir/e.pte"
expect 0 '0 regions' compile $tfl/hlo_gather_1_f32.tflite -t cpu -o "$dir/hlo.tflite"
expect 0 't2                           f32        inf' compare $tfl/hlo_gather_1_f32.tflite "$dir/hlo.tflite" -i random:1
expect 3 'its options name another graph of the file' compile $tfl/hlo_reduce_window_1_i32.tflite -t cpu -o "$dir/hlo.tflite"
changed 20 420
expect 0 "'CUSTOM without a name' stays as it is" compile "$dir/other.tflite" -t ethos-u55-128 -o "$dir/e.tflite"
expect 3 'only a .tflite can hold it, as it is' compile "$dir/other.tflite" -t ethos-u55-128 -o "$dir/e.pte"
# What a program remembers: a sum over the calls, and a counter without inputs.
cat >"$dir/sum.ir" <<'END'
graph @main(%0 "x": f32[1,3]) {
  %1 "total" = const [0, 0, 0] : f32[1,3]
  %2 = add %1, %0 alpha=1 : f32[1,3]
  mutate %1 -> %2
  return %2
}
END
cat >"$dir/count.ir" <<'END'
graph @main() {
  %0 "n" = const 5 : i64[]
  %1 = const 1 : i64[]
  %2 = add %0, %1 alpha=1 : i64[]
  mutate %0 -> %2
  return %2
}
END
expect 0 'f32[2,3]           -1            4            1' run "$dir/sum.ir" -i "$dir/rows.npy"
expect 0 'f32[2,3]           -1            2            1' run "$dir/sum.ir" -i "$dir/rows.npy" --reset
expect 0 'i64[4]            6            9          7.5' run "$dir/count.ir" --steps 4
expect 0 'i64[4]            6            6            6' run "$dir/count.ir" --steps 4 --reset
# The same as TOSA's variables, with what they start from in the file.
expect 0 '1 region' compile "$dir/sum.ir" -t TOSA-1.0+FP+var -o "$dir/sum.tosa"
expect 0 'tosa.variable_write' inspect "$dir/sum.tosa"
expect 0 'of TOSA-1.0+FP+var' verify "$dir/sum.tosa" -t TOSA-1.0+FP+var
expect 1 'EXT-VARIABLE' verify "$dir/sum.tosa" -t TOSA-1.0+FP
for file in sum.tosa sum.pte; do
    [ $file = sum.tosa ] || "$tosac" compile "$dir/sum.ir" -t TOSA-1.0+FP+var -o "$dir/sum.pte" >/dev/null 2>&1
    expect 0 'f32[2,3]           -1            2            1' run "$dir/$file" -i "$dir/rows.npy" --reset
    "$tosac" run "$dir/sum.ir" -i "$dir/rows.npy" >"$dir/carried" 2>&1
    expect 0 "$(grep -o 'f32\[2,3\].*' "$dir/carried")" run "$dir/$file" -i "$dir/rows.npy"
done
cat >"$dir/alone.ir" <<'END'
graph @main() {
  %0 "s" = const [0.5, -0.25] : f32[1,2]
  %1 = const 2 : f32[]
  %2 = mul %0, %1 : f32[1,2]
  %3 = tanh %2 : f32[1,2]
  mutate %0 -> %3
  return %3
}
END
expect 0 '1 region' compile "$dir/alone.ir" -t TOSA-1.0+INT -o "$dir/alone.pte"
expect 0 'f32[40,1,2]' run "$dir/alone.pte" --steps 40
expect 2 'the number of samples says how often' run "$dir/sum.ir" -i "$dir/rows.npy" --steps 2
# Settings that change nothing are said; files that do not belong together are turned down.
echo '{"nodes": {"softmax": {"observer": "minmax"}}, "io": {"inputs": "int8"}}' >"$dir/idle.json"
cat >"$dir/softmax.ir" <<'END'
graph @main(%0 "x": f32[1,3]) {
  %1 "softmax" = softmax %0 axis=1 : f32[1,3] loc("m.py:1", node="softmax")
  return %1
}
END
expect 0 '1 region' compile "$dir/abs.ir" -t TOSA-1.1+FP -o "$dir/e.pte"
expect 2 "'shape' is of TOSA 1.1" compile "$dir/abs.ir" -t TOSA-1.0+FP+shape -o "$dir/e.pte"
cat >"$dir/open.ir" <<'END'
graph @main(%0 "x": i8[?,6]) {
  %1 = tosa.dim %0 axis=0 : shape[1]
  %2 = const [2] : shape[1]
  %3 = tosa.mul_shape %1, %2 : shape[1]
  %4 = const [3] : shape[1]
  %5 = tosa.concat_shape %3, %4 : shape[2]
  %6 "y" = tosa.reshape %0, %5 : i8[?,3]
  return %6
}
END
expect 0 'every rule of TOSA 1.1' verify "$dir/open.ir" -t TOSA-1.1+INT+shape
expect 1 'is of TOSA 1.1, and the target is of 1.0' verify "$dir/open.ir" -t TOSA-1.0+INT
expect 1 'needs EXT-SHAPE' verify "$dir/open.ir" -t TOSA-1.1+INT
expect 0 'i8[?,6]' inspect "$dir/open.ir"
expect 1 'leaves sizes open' opt --pass=fold-constants "$dir/open.ir"
expect 0 ': i8[8,3]' opt --pass=fold-constants "$dir/open.ir" --shape x=4,6
expect 1 'sizes that do not fit' opt --pass=fold-constants "$dir/open.ir" --shape x=4,5
expect 0 '--optimise Size has no effect' compile "$dir/abs.ir" -t cpu --optimise Size -o "$dir/e.pte"
expect 0 "the observer for 'softmax' has no effect" compile "$dir/softmax.ir" -t TOSA-1.0+INT --calib "$dir/rows.npy" -q "$dir/idle.json" -o "$dir/e.pte" --check
expect 0 'values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/whole.ir"
printf x >>"$dir/whole.ir.bin"
expect 1 'are not those that were written with this text' run "$dir/whole.ir" -i $digits/calib.npz
printf 'graph @main(%%0 "x": i8[1,3] q(0.05:-300)) {\n  return %%0\n}\n' >"$dir/zero.ir"
expect 1 'the zero point -300 cannot be represented as i8' opt "$dir/zero.ir"
cat >"$dir/pair.ir" <<'END'
graph @main(%0 "x": f32[1,3], %1 "y": f32[1,3]) {
  %2 = sub %0, %1 alpha=1 : f32[1,3]
  return %2
}
END
mkdir "$dir/xy" "$dir/xz" "$dir/ab"
for name in xy/x xz/x ab/a; do cp "$dir/row.npy" "$dir/$name.npy"; done
npy ones '<f4' '1, 3' "$two$two$two"
for name in xy/y xz/z ab/b; do cp "$dir/ones.npy" "$dir/$name.npy"; done
expect 0 'f32[1,3]           -3            0' run "$dir/pair.ir" -i "$dir/xy"
expect 0 'f32[1,3]           -3            0' run "$dir/pair.ir" -i "$dir/ab"
expect 1 "there is no array named 'y': they are x, z, the inputs are x, y" run "$dir/pair.ir" -i "$dir/xz"
expect 0 'calibration data quantizes nothing here' compile $digits/model.pt2 -t TOSA-1.0+FP --calib $digits/calib.npz
expect 0 '44 operators on TOSA-1.0+FP, 0 on the CPU' compile $digits/model.pt2 -t TOSA-1.0+FP --calib $digits/calib.npz
expect 2 "-q int8: the target 'TOSA-1.0+FP' computes in float" compile $digits/model.pt2 -t TOSA-1.0+FP -q int8 --calib $digits/calib.npz
expect 0 'TOSA-1.0+INT' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --keep-odd-samples
expect 0 'rounding is skipped: the time of --budget is over' quantize $digits/model.pt2 --calib $digits/calib.npz -q best --budget 0.001s -o "$dir/brief.ir"
expect 2 "--budget 'soon': expected a number above 0" quantize $digits/model.pt2 --calib $digits/calib.npz --budget soon -o "$dir/brief.ir"
expect 2 '--budget cannot be combined with --observe-only' quantize $digits/model.pt2 --calib $digits/calib.npz --budget 1s --observe-only -o "$dir/brief.obs"
# Goals instead of settings: the search has time for one of them here.
goal="compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz --emit ir -o $dir/goal.ir --budget 0.001"
expect 0 '* int8 ' $goal --target-sqnr 20
expect 0 '* int8 ' $goal --max-cycles 10M --target-drop 5
expect 1 'none of 1 settings meets the goal' $goal --target-sqnr 90
core_goal="compile $digits/model.pt2 -t cortex-m4 --calib $digits/calib.npz --emit c -o $dir/goal.c --budget 0.001"
expect 0 '* int8 ' $core_goal --max-cycles 100M --max-flash 200K
expect 1 'none of 1 settings meets the goal' $core_goal --max-cycles 1M
# With time for more, the least of the wider settings is found by halves, and four bits are not tried.
wider=$("$tosac" ${goal%% --budget*} --target-sqnr 41 2>&1)
holds "--target-sqnr 41 of digits: int8 and three wider settings, none of four bits" \
    [ "$(grep -c '^[* ] *a[0-9]*w4' <<<"$wider") $(grep -c '^  *int8.*%\|^\* int8+16:.*%' <<<"$wider")" = '0 4' ]
# A program whose few large numbers leave the others no code: the default says that it is lost, and
# the setting that it names keeps it.
cat >"$dir/lost.ir" <<'END'
graph @main(%0 "x": f32[8,2]) {
  %1 "w" = const [1,0.5,-0.5,1] : f32[2,2]
  %2 = linear %0, %1
  %3 "y" = clamp %2 lo=-1 hi=1
  return %3
}
END
quarter='\x00\x00\x80\x3e' half='\x00\x00\x00\x3f' less='\x00\x00\x80\xbe' least='\x00\x00\x00\xbf'
npy lost '<f4' '1, 8, 2' "\x00\x00\x7a\x44\x00\x00\x7a\xc4$quarter$least$half$quarter$less$half$least$less$quarter$quarter$half$least$least$half"
lost="compile $dir/lost.ir -t TOSA-1.0+INT+int16 --calib $dir/lost.npy -o $dir/lost.pte"
expect 0 'the quantized model is probably unusable [accuracy]' quantize "$dir/lost.ir" --calib "$dir/lost.npy" -o "$dir/lost-typed.ir"
expect 0 "output 'y' has 2.2 dB against the float model on 1 sample: the compiled program is probably unusable [accuracy]" $lost
expect 0 "lost.ir:3:8: note: 'x' is noisy: with it in float, and all values that share its scale, output 'y' would have" $lost
expect 0 'bytes of memory; against float: 2.2 dB on 1 sample' $lost
expect 0 'against float: 2.2 dB on 1 sample' ${lost/TOSA-1.0+INT+int16/ethos-u85-256}
cat >"$dir/around.ir" <<'END'
graph @main(%0 "x": f32[8,2]) {
  %1 "w" = const [1,0.5,-0.5,1] : f32[2,2]
  %2 = linear %0, %1
  %3 = sin %2
  %4 = linear %3, %1
  return %4, %3
}
END
for target in TOSA-1.0+INT ethos-u55-128; do # whose streams have been executed on that one sample
    expect 0 '2 regions, ' compile "$dir/around.ir" -t $target --calib "$dir/lost.npy" --cpu sin -o "$dir/around.pte"
    expect 0 'against float: -0.6 to -0.2 dB on 1 sample' compile "$dir/around.ir" -t $target --calib "$dir/lost.npy" --cpu sin -o "$dir/around.pte"
done
expect 0 'the quantized model is probably unusable [accuracy]' $lost --no-execute
holds '--no-execute runs nothing' [ -z "$("$tosac" $lost --no-execute 2>&1 | grep -e 'beside')" ]
holds 'what was seen of the outputs is in --json' \
    [ -n "$("$tosac" $lost --json 2>/dev/null | tr -d '\n ' | grep '"accuracy":{"samples":1,"set_aside":0,"invented":false,"outputs":\[{"name":"y","real":true,"sqnr_db":2.2')" ]
expect 0 "$(stat -c %s "$dir/lost.pte") bytes, " $lost --emit c
expect 0 'values quantized, 0 in float' quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/whole.ir"
expect 0 'against float: the same numbers on 2 random samples' compile "$dir/lost.ir" -t cpu -o "$dir/lost.pte"
expect 0 'bytes of memory; against float: 2' compile "$dir/lost.ir" -t cpu --calib "$dir/lost.npy" -o "$dir/lost.pte"
# Ranges that are chosen at run time: kept on the CPU, left to data by an integer target.
cat >"$dir/dynamic.ir" <<'END'
graph @main(%0 "x": f32[8,2]) {
  %1 "w" = const [10,5,-5,10] : i8[2,2]
  %2 = dequantize %1 scale=0.1 zero=0 axis=-1 qmin=-128 qmax=127 dtype=f32
  %3, %4 = choose_qparams %0 qmin=-128 qmax=127 eps=1e-07 symmetric=false zero=0 by_row=true
  %5 = quantize %0, %3, %4 scale=0 zero=0 axis=0 qmin=-128 qmax=127 dtype=i8
  %6 = dequantize %5, %3, %4 scale=0 zero=0 axis=0 qmin=-128 qmax=127 dtype=f32
  %7 "y" = linear %6, %2
  return %7
}
END
expect 0 '0 regions, ' compile "$dir/dynamic.ir" -t cpu -o "$dir/dynamic.pte"
expect 0 'all ranges come from calibration data instead' compile "$dir/dynamic.ir" -t TOSA-1.0+INT --calib "$dir/lost.npy" -o "$dir/dynamic.pte"
expect 0 '1 region, ' compile "$dir/dynamic.ir" -t TOSA-1.0+INT --calib "$dir/lost.npy" -o "$dir/dynamic.pte"
expect 2 'calibration data is missing [usage]' compile "$dir/dynamic.ir" -t TOSA-1.0+INT -o "$dir/dynamic.pte"
# A recurrent layer of 16 bits: what its state is off by grows with its steps in time, and so does what --check allows.
awk 'function r() { s = (s * 1103515245 + 12345) % 2147483648; return s / 2147483648 - 0.5 }
function list(n, scale,   k, t) { for (k = 0; k < n; k++) t = t (k ? "," : "") sprintf("%.5f", scale * r()); return t }
BEGIN { s = 7; print "graph @main(%0 \"x\": f32[1,24,16], %1 \"h\": f32[1,1,32]) {"
print "  %2 = const [" list(512, 0.35) "] : f32[32,16]"; print "  %3 = const [" list(1024, 0.35) "] : f32[32,32]"
print "  %4 = const [" list(32, 0.35) "] : f32[32]"; print "  %5 = const [" list(32, 0.35) "] : f32[32]"
print "  %6, %7 = rnn_relu %0, %1, %2, %3, %4, %5 layers=1 bidirectional=false batch_first=true has_bias=true"; print "  return %6\n}" }' >"$dir/steps.ir"
expect 0 '1 region' compile "$dir/steps.ir" -t TOSA-1.0+INT+int16 -q a16w8 --calib random:4 --check -o "$dir/steps.pte"
keeps=$("$tosac" $lost 2>&1 | sed -n 's/.*note: -q \(.*\), tried here: [0-9.]* dB.*/\1/p' | tail -1)
expect 0 'warning: 1 calibration sample' $lost -q "${keeps:-nothing}"
holds "the setting that the warning of a lost program names keeps it: -q $keeps" \
    [ -z "$("$tosac" $lost -q "${keeps:-nothing}" 2>&1 | grep -e accuracy -e error)" ]
expect 1 'the most accurate' $goal --max-flash 1K
expect 2 "--max-flash 'x': expected a number above 0" $goal --max-flash x
expect 2 'so it cannot be combined with -q' $goal --target-sqnr 20 -q int8
expect 0 '* int8 ' $goal -q best # time for one setting: the one that is there without it
# Sizes that an export leaves open: by symbol, by place, or by a word of one's own.
open=golden/error/dynamic.pt2
expect 0 's77       0 or more, axis 0 of' inspect $open
expect 0 '"name": "s77"' inspect $open --json
expect 2 "s77 (axis 0 of 'x', 0 or more)" opt $open
expect 0 'f32[3,' opt $open --dim s77=3
expect 0 'f32[5,' opt $open --dim x.0=5
expect 0 "'batch' is taken for s77" opt $open --dim batch=5
expect 2 'the dynamic sizes of the model are s77' opt $open --dim a=5 --dim b=6
expect 2 "--dim s78: the dynamic sizes of the model are s77 (axis 0 of 'x'" opt $open --dim s78=5
expect 2 "--dim x.1: the dynamic sizes of the model are s77 (axis 0 of 'x'" opt $open --dim x.1=5
expect 2 'is 3 by an earlier --dim' opt $open --dim s77=3 --dim x.0=4
expect 2 '--dim takes NAME=VALUE' opt $open --dim s77
expect 2 '--dim takes NAME=VALUE' compile $open --dim s77=9..2 -t TOSA-1.1+FP+shape
expect 2 'one size is needed here, not a list' opt $open --dim s77=2,9
expect 2 '--dim takes NAME=VALUE' compile $open --dim s77=2,2 -t cpu -o "$dir/sizes.pte"
expect 0 'forward_n2: ' compile $open -t cpu --dim n=2,9 -o "$dir/sizes.pte"
expect 0 'forward_n9' inspect "$dir/sizes.pte"
expect 2 'several methods (2) need a .pte' compile $open -t TOSA-1.0+FP --dim n=2,9 -o "$dir/sizes.tosa"
expect 2 'one size is needed here, not a range' opt $open --dim s77=2..9
expect 2 "'TOSA-1.0+FP' has no shape operators" compile $open -t TOSA-1.0+FP -o "$dir/many.tosa"
expect 0 'for s77 = 1 or more, tried at' compile $open -t TOSA-1.1+FP+shape -o "$dir/many.tosa"
expect 0 'for n = 2 to 9, tried at' compile $open -t TOSA-1.1+FP+shape --dim n=2..9 -o "$dir/many.tosa"
expect 2 'a program for many sizes is a .tosa file, not pte' compile $open -t TOSA-1.1+FP+shape -o "$dir/many.pte"
expect 0 'f32[?,3]' inspect "$dir/many.tosa"
expect 0 'f32[4,3]' opt "$dir/many.tosa" --shape x=4,3
expect 1 "axis 0 of 'x' is 2 to 9 (n): error: 'tosa_assert_equal_shape': value 0 is 10 and 9" opt "$dir/many.tosa" --shape x=10,3
expect 0 'the same numbers' compile "$dir/many.tosa" --shape x=4,3 -t TOSA-1.1+FP+shape -o "$dir/filled.tosa"
# Sizes are those of the data, one after the other: of a model, of a program for many, of methods for some.
pooled=fixture/dynamic/pooled
expect 0 'x f32[1,8,4]: 12 samples' run $pooled/model.pt2 -i $pooled/calib.npz
expect 0 'against float: ' compile $pooled/model.pt2 -t TOSA-1.1+INT+shape --calib $pooled/calib.npz -o "$dir/pooled.tosa"
expect 0 'x f32[1,7,4]: 8 samples' run "$dir/pooled.tosa" -i $pooled/x2.npy -i $pooled/x7.npy --dequantize
expect 0 '' run "$dir/pooled.tosa" -i $pooled/x64.npy -i $pooled/x2.npy --dequantize -o "$dir/pooled"
holds 'every sample of several sizes has a file' [ "$(ls "$dir/pooled/output_0" | wc -l)" = 16 ]
expect 0 'float32[1,2]' inspect "$dir/pooled/output_0/08.npy"
expect 2 '--bench is for samples of one size; the data has 2' run "$dir/pooled.tosa" -i $pooled/x64.npy -i $pooled/x2.npy --dequantize --bench 1
expect 0 '1 values compared on 8 samples' compare $pooled/model.pt2 "$dir/pooled.tosa" -i $pooled/x2.npy -i $pooled/x64.npy --dequantize
expect 0 '24 samples, 2 classes' evaluate $pooled/model.pt2 "$dir/pooled.tosa" --data $pooled/x2.npy --data $pooled/x7.npy --data $pooled/x64.npy --dequantize
expect 0 'forward_seq7: ' compile $pooled/model.pt2 -t TOSA-1.0+INT --dim seq=2,7,64 --calib $pooled/calib.npz -o "$dir/pooled.pte"
expect 0 'input f32[1,64,4]: 8 samples' run "$dir/pooled.pte" -i $pooled/x2.npy -i $pooled/x64.npy
expect 0 '16 samples, 2 classes' evaluate $pooled/model.pt2 "$dir/pooled.pte" --data $pooled/x2.npy --data $pooled/x64.npy
tokens=fixture/dynamic/tokens
expect 3 '-t TOSA-1.1+INT+FP+shape -q none' compile $tokens/model.pt2 -t TOSA-1.1+FP+shape -o "$dir/tokens.tosa"
expect 0 'for s27 = 2 to 18' compile $tokens/model.pt2 -t TOSA-1.1+INT+FP+shape -q none -o "$dir/tokens.tosa"
expect 0 '1 values compared on 8 samples' compare $tokens/model.pt2 "$dir/tokens.tosa" -i $tokens/x2.npy -i $tokens/x7.npy
expect 0 'forward_seq7: ' compile $pooled/model.pt2 -t ethos-u55-128 --dim seq=2,7 --calib $pooled/calib.npz --emit c -o "$dir/pooled.c"
holds 'the header has both methods' [ "$(grep -c '_METHOD "forward_seq[27]"' "$dir/pooled.h")" = 2 ]
expect 0 '24 of 36 arrays are left out: seq is 2 to 7 here' compile $pooled/model.pt2 -t TOSA-1.1+INT+shape --dim seq=2..7 --calib $pooled/calib.npz -o "$dir/few.tosa"
expect 1 'all samples are out of bounds: seq is 2 to 7' compile $pooled/model.pt2 -t TOSA-1.1+INT+shape --dim seq=2..7 --calib $pooled/one.npz -o "$dir/few.tosa"
expect 1 's27 is 1, the model takes 2 to 64' run $pooled/model.pt2 -i "$dir/short4.npy"
# ONNX names its open sizes; a range is said of each.
onnx=fixture/dynamic/onnx
expect 0 'x f32[2,3,9,14]: 1 sample' run $onnx/picture/model.onnx -i $onnx/picture/x1x8x8.npy -i $onnx/picture/x2x9x14.npy
expect 0 'for batch = 1 to 4 and rows = 8 to 40 and cols = 8 to 40' compile $onnx/picture/model.onnx -t TOSA-1.1+FP+shape --dim batch=1..4 --dim rows=8..40 --dim cols=8..40 -o "$dir/o.tosa"
expect 0 '3 values compared on 1 sample' compare $onnx/picture/model.onnx "$dir/o.tosa" -i $onnx/picture/x1x8x8.npy -i $onnx/picture/x3x20x16.npy
expect 0 'for seq = 2 to 40' compile $onnx/attention/model.onnx -t TOSA-1.1+INT+shape --dim seq=2..40 --calib $onnx/attention/calib.npz --check -o "$dir/o.tosa"
expect 0 'x f32[1,24,8]: 1 sample' run "$dir/o.tosa" -i $onnx/attention/x2.npy -i $onnx/attention/x24.npy --dequantize
expect 0 'forward_seq9: ' compile $onnx/pooled/model.onnx -t cpu --dim seq=2,9,40 --calib $onnx/pooled/calib.npz -q int8 -o "$dir/o.pte"
expect 0 'forward_seq5: ' compile $onnx/recurrent/model.onnx -t TOSA-1.0+INT --dim seq=2,5,12 --calib $onnx/recurrent/calib.npz -o "$dir/o.pte"
expect 0 '6 samples, 2 classes' evaluate "$dir/o.pte" --data $onnx/recurrent/x2.npy --data $onnx/recurrent/x2.npy --data $onnx/recurrent/x2.npy
expect 3 'the program is not the same at all sizes' compile $onnx/recurrent/model.onnx -t TOSA-1.1+FP+shape --dim seq=1..20 -o "$dir/o.tosa"
expect 1 "axis 1 has a dynamic size ('seq')" compile $onnx/pooled/model.onnx -t TOSA-1.1+FP+shape -o "$dir/o.tosa"
expect 1 'sizes that do not fit are given' run "$dir/pooled.tosa" -i "$dir/stack.npy"
expect 0 '--dim s77 has no effect' opt "$dir/abs.ir" --dim s77=3
expect 0 'abs' inspect "$dir/abs.ir"
expect 0 '"operators": {' inspect "$dir/abs.ir" --json
expect 0 'float32[2,1,3]' inspect "$dir/stack.npy"
expect 0 '"mean": 1,' inspect "$dir/stack.npy" --json
npy holes '<f4' '3' "\x00\x00\xc0\x7f$one$two"
expect 0 ', 1 NaN' inspect "$dir/holes.npy"
expect 0 '"nan": 1' inspect "$dir/holes.npy" --json
expect 0 '"format": "NumPy arrays"' inspect $digits/calib.npz --json
expect 0 'aten.conv2d.default' inspect $digits/model.pt2
expect 0 'float32[128,1,28,28]' inspect $digits/calib.npz
expect 1 '[tosa' verify "$dir/abs.ir"

expect 2 'no data was given' run $digits/model.pt2
expect 1 'its end is missing' run $digits/model.pt2 -i "$dir/broken.npz"
expect 1 '[truncated]' run $digits/model.pt2 -i "$dir/short.npy"
expect 1 'the array is int64[1000]' run $digits/model.pt2 -i $digits/test_label.npy
expect 1 "input 'x' is f32[1,1,28,28]" run $digits/model.pt2 -i $digits/test_logits.npy
expect 0 'f32[128,10]' run $digits/model.pt2 -i $digits/calib.npz
expect 0 'median' run $digits/model.pt2 -i $digits/calib.npz --bench 3 --threads 1
expect 0 '  digits_models.py:22' run $digits/model.pt2 -i $digits/calib.npz --bench 3 --threads 1
expect 0 '"mean_s_by_line"' run $digits/model.pt2 -i $digits/calib.npz --bench 3 --threads 1 --json
expect 0 '' run $digits/model.pt2 -i $digits/calib.npz -o "$dir/a/b"
holds 'the result is there' test -s "$dir/a/b/output_0.npy"
holds 'nothing else is' test "$(ls -A "$dir/a/b")" = output_0.npy
expect 1 'cannot make the folder' run $digits/model.pt2 -i $digits/calib.npz -o $digits/model.pt2
expect 0 '' run $digits/model.pt2 -i $digits/calib.npz -o "$dir/c" --kernels=reference
holds 'a reader that leaves early is no error' \
    bash -o pipefail -c "'$tosac' run $digits/model.pt2 -i $digits/calib.npz | true"
for words in "inspect --disassemble fixture/cost/net_vela.npz --json" "compile $digits/model.pt2 -t TOSA-1.0+FP --emit ir -o -"; do
    holds "a reader that left before is none either: ${words%% *}" \
        bash -o pipefail -c "{ sleep .1; '$tosac' $words 2>'$dir/left'; } | true && test ! -s '$dir/left'"
    holds "a full disk is: ${words%% *}" \
        bash -c "! '$tosac' $words 2>'$dir/full' >/dev/full && test \$(grep -cF '[io]' '$dir/full') = 1"
done

echo '{"nodes": {"conv2d_33": "a16w8"}}' >"$dir/near.json"
echo '{"activations": {"dtyp": "int8"}}' >"$dir/field.json"
echo '{"nodes": {"conv2d_3": {"scale": 0.05, "zero_point": -3}}, "io": {"inputs": "int8"}}' >"$dir/fixed.json"
expect 2 '-o FILE is missing' quantize $digits/model.pt2 --calib $digits/calib.npz
expect 2 'there is no calibration data' quantize $digits/model.pt2 -o "$dir/t.ir"
expect 2 "block-scaled settings: integers are made here" quantize $digits/model.pt2 --calib $digits/calib.npz -q mxfp8 -o "$dir/t.ir"
expect 2 "has no block-scaled types" compile $digits/model.pt2 -t ethos-u85-256 -q mxfp4 -o "$dir/t.pte"
printf '{"modules": {"head": "mxfp8"}}' >"$dir/both.json"
expect 1 "block-scaled types and integers in one program" compile $digits/model.pt2 -t TOSA-1.1+FP+mxfp -q "$dir/both.json" -o "$dir/t.tosa"
expect 0 "on the CPU" compile $digits/model.pt2 -t TOSA-1.1+FP+mxfp -q mxfp8/mxfp6 -o "$dir/t.tosa"
expect 2 "'int9' is not a preset" quantize $digits/model.pt2 --calib $digits/calib.npz -q int9 -o "$dir/t.ir"
expect 1 "the nearest are 'conv2d_3'" quantize $digits/model.pt2 --calib $digits/calib.npz -q "$dir/near.json" -o "$dir/t.ir"
expect 1 "the nearest is 'dtype'" quantize $digits/model.pt2 --calib $digits/calib.npz -q "$dir/field.json" -o "$dir/t.ir"
holds 'nothing is written' test ! -e "$dir/t.ir"
expect 0 'values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/t.ir" --qparams "$dir/q.json"
holds 'PyTorch names are the keys' grep -q '"hardtanh_3": {"scale"' "$dir/q.json"
expect 2 'is quantized already' quantize "$dir/t.ir" --calib $digits/calib.npz -o "$dir/u.ir"
expect 0 'f32[128,10]' run "$dir/t.ir" -i $digits/calib.npz
expect 0 'values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -q "$dir/fixed.json" -o "$dir/t.ir" --qparams "$dir/q.json"
holds 'a fixed scale is kept' grep -q '"conv2d_3": {"scale": 0.05000000074505806, "zero_point": -3' "$dir/q.json"
expect 1 "needs i8" run "$dir/t.ir" -i $digits/calib.npz
holds 'the signature names the input' grep -q 'takes %0 "x"' "$dir/t.ir"
echo '{"nodes": {"batch_norm_3": "a16w8", "dropout": null}, "module_types": {"Dropout": null}}' >"$dir/gone.json"
expect 0 'values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -q "$dir/gone.json" -o "$dir/t.ir"
expect 1 "the nearest are 'conv2d_3'" compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -q "$dir/near.json" -o "$dir/t.tosa"
expect 0 ' 0 values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -q none -o "$dir/t.ir"

# Calibration in parts, and what came of it value by value
part() { "$tosac" quantize $digits/model.pt2 --calib $digits/calib.npz --observe-only "$@" >/dev/null 2>&1; }
"$tosac" quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/t.ir" >/dev/null 2>&1
mv "$dir/t.ir" "$dir/whole.ir" && mv "$dir/t.ir.bin" "$dir/whole.bin"
holds 'the first pass is a file' part -o "$dir/first.obs"
holds 'the second pass is a file' part --merge "$dir/first.obs" -o "$dir/second.obs"
expect 0 'values quantized' quantize $digits/model.pt2 --merge "$dir/second.obs" --calib $digits/calib.npz -o "$dir/t.ir"
holds 'parts give the same program' cmp "$dir/t.ir" "$dir/whole.ir"
holds 'parts give the same weights' cmp "$dir/t.ir.bin" "$dir/whole.bin"
expect 0 'biases are not corrected' quantize $digits/model.pt2 --merge "$dir/second.obs" -o "$dir/t.ir"
expect 1 'of another model, or with other settings' quantize $digits/model.pt2 --merge "$dir/second.obs" -q a16w8 -o "$dir/t.ir"
expect 1 '[observations]' quantize $digits/model.pt2 --merge "$dir/first.obs" -o "$dir/t.ir"
expect 1 'saw 256 samples' quantize $digits/model.pt2 --merge "$dir/second.obs" "$dir/second.obs" -o "$dir/t.ir"
expect 1 'not an observation file' quantize $digits/model.pt2 --merge "$dir/q.json" -o "$dir/t.ir"
expect 2 "unexpected argument" quantize $digits/model.pt2 "$dir/second.obs" -o "$dir/t.ir"
cp "$dir/whole.ir" "$dir/t.ir" && cp "$dir/whole.bin" "$dir/t.ir.bin"
expect 0 'values compared on 128 samples' compare $digits/model.pt2 "$dir/t.ir" -i $digits/calib.npz
expect 0 '"alone_db"' compare $digits/model.pt2 "$dir/t.ir" -i $digits/calib.npz --json --most 3
expect 1 'do not have the same inputs' compare $digits/model.pt2 "$dir/abs.ir" -i $digits/calib.npz

# advise: what to change, and what that saves
expect 2 '-t TARGET is missing' advise $digits/model.pt2
expect 2 "the target 'ethos-u55-12' is unknown" advise $digits/model.pt2 -t ethos-u55-12
expect 0 'changes tried' advise $digits/model.pt2 -t ethos-u55-128
expect 0 'more not tried (--tries N)' advise $digits/model.pt2 -t ethos-u55-128 --tries 2
expect 0 'a stride of 2 in the first, not in the second' advise $digits/model.pt2 -t cortex-m4
expect 0 'compiled, dB measured' advise $digits/model.pt2 -t vgf --calib $digits/calib.npz
expect 0 '"rejected": [' advise $digits/model.pt2 -t ethos-u85-256 --tries 3 --json
expect 0 '--memory-mode Shared_Sram' advise "$dir/abs.ir" -t ethos-u85-256
expect 0 'advised.html: report' advise $digits/model.pt2 -t ethos-u55-128 --tries 3 --report "$dir/advised.html"
holds 'the report has the advice' grep -q '"advice":{"target":"ethos-u55-128","tried":3,' "$dir/advised.html"
expect 2 'corstone-300-fvp' advise $digits/model.pt2 --board corstone-300-fv
expect 1 '[io]' advise "$dir/not-there.pt2" -t ethos-u85-256

# profile: cycles of a command stream, by line, module, node and kind; without Vela
net=fixture/cost/net_vela.npz
expect 0 '3088 cycles expected' profile $net
expect 0 'net.py:14' profile $net
expect 0 '2 more' profile $net --top 2
expect 0 'DEPTHWISE' profile $net --by kind
expect 0 '"place": "net.py:13"' profile $net --json
expect 0 'Shared_Sram' profile $net --memory-mode Shared_Sram
expect 0 '     cycles  operation' inspect --disassemble $net
expect 0 '"set": {' inspect --disassemble $net --json
expect 0 '"utilisation":' inspect --disassemble $net --json
expect 2 "did you mean 'line'?" profile $net --by lin
expect 2 'is compiled already' profile $net -t ethos-u85-256
expect 2 '--system-config Board: the built-in description' profile $net --system-config Board
expect 2 'cli.sh has no such system' profile $net --vela-ini cli.sh --system-config Board
expect 1 '[io]' profile $net --vela-ini "$dir/none.ini"
expect 2 '-t TARGET is missing' profile $digits/model.pt2
# Cortex-M: instructions by step, cycles by the core's factor, flash and RAM
expect 0 'Cortex-M4: ' profile $digits/model.pt2 -t cortex-m4 --calib $digits/calib.npz
expect 0 'code about ' profile $digits/model.pt2 -t cortex-m4 --calib $digits/calib.npz --by kind
expect 0 '"conv2d step": ' profile $digits/model.pt2 -t cortex-m55 --calib $digits/calib.npz --json
holds 'attention is left in one piece where tiles cost more' grep -Eq 'tile-attention +1 +[0-9]+ +[0-9]+ +\+[0-9]+ +not' <("$tosac" explain fixture/decoder/prefill.pt2 -t ethos-u85-256 --calib fixture/decoder/calib-prefill.npz --cost 2>/dev/null)
expect 0 'conv2d ' explain $digits/model.pt2 -t cortex-m55 --calib $digits/calib.npz --cost
expect 2 'known for Ethos-U and Cortex-M targets' profile $digits/model.pt2 -t cpu
TOSAC_VELA=$dir/no-vela expect 0 'estimated from TOSA operators' profile $digits/model.pt2 -t ethos-u85-256 --estimate
TOSAC_VELA=$dir/no-vela expect 0 'no calibration data: ranges come from random numbers' profile $digits/model.pt2 -t ethos-u55-128 --estimate
TOSAC_VELA=$dir/no-vela expect 0 'digits_models.py:22' profile $digits/model.pt2 -t ethos-u55-128 --estimate
expect 2 'is compiled already' profile $net --estimate
# Weights of 4 bits take half the flash, which is what an Ethos-U55 waits for.
guess() { "$tosac" profile $digits/model.pt2 -t ethos-u55-128 --calib $digits/calib.npz -q "$1" --estimate 2>/dev/null | sed -n '1s/.*: \([0-9]*\) cycles.*/\1/p'; }
holds "4 bits are fewer cycles" [ "$(guess a8w4)" -lt "$(guess int8)" ]
cp $net "$dir/alone_vela.npz"
expect 0 'DEPTHWISE' profile "$dir/alone_vela.npz"
expect 0 'does not have the source of its operations' profile "$dir/alone_vela.npz" --by line
TOSAC_VELA=$dir/no-vela expect 4 'pip install ethos-u-vela' profile $digits/model.pt2 -t ethos-u85-256 --ethosu-backend vela

# VGF: written, shown, run, and broken
sed 's/= abs/= tosa.abs/' "$dir/abs.ir" >"$dir/tosa.ir"
expect 0 '1 region' compile "$dir/tosa.ir" -t vgf -o "$dir/abs.vgf"
expect 0 'f32[1,3]            1            2      1.33333' run "$dir/abs.vgf" -i "$dir/row.npy"
expect 0 'binding 0, resource 0' inspect "$dir/abs.vgf"
expect 0 'OpGraphEntryPointARM %1 "graph_partition_0"' inspect "$dir/abs.vgf"
expect 0 '"format": "R32_SFLOAT"' inspect "$dir/abs.vgf" --json
expect 0 'OpGraphSetOutputARM' inspect --disassemble "$dir/abs.vgf"
expect 0 '"entry_point": "graph_partition_0"' inspect --disassemble --json "$dir/abs.vgf"
sed -n '/^graph/,/^}/p;/^}/q' golden/text/shader.ir >"$dir/shader.ir"
expect 0 'output  name  type' run "$dir/shader.ir" -i random:1
sed 's/dispatch=.4,/dispatch=[5,/' "$dir/shader.ir" >"$dir/wide.ir"
expect 1 'outside of its extents' run "$dir/wide.ir" -i random:1
sed 's/language=spirv/language=glsl/' "$dir/shader.ir" >"$dir/glsl.ir"
expect 1 'only SPIR-V can be run' run "$dir/glsl.ir" -i random:1
expect 1 '[tosa-profile]' compile "$dir/tosa.ir" -t vgf:TOSA-1.0+INT -o "$dir/int.vgf"
expect 0 '1 region' compile "$dir/abs.vgf" -t vgf -o "$dir/again.vgf"
holds 'a VGF file that is read and written has the same bytes' cmp -s "$dir/abs.vgf" "$dir/again.vgf"
head -c 200 "$dir/abs.vgf" >"$dir/cut.vgf"
expect 1 '[truncated]' run "$dir/cut.vgf" -i "$dir/row.npy"
expect 1 '[truncated]' inspect "$dir/cut.vgf"
head -c 100 "$dir/abs.vgf" >"$dir/cut.vgf"
expect 1 'only the beginning of one' run "$dir/cut.vgf" -i "$dir/row.npy"

# compile and explain
expect 2 '-t TARGET is missing' compile $digits/model.pt2 -o "$dir/m.pte"
expect 2 "the target 'ethos-u85-100' is unknown" compile $digits/model.pt2 -t ethos-u85-100
expect 2 'ethos-u85-SIZE comes with the sizes 128 256' compile $digits/model.pt2 -t ethos-u85-100
expect 2 'ethos-u85-SIZE comes with the sizes 128 256' compile $digits/model.pt2 -t ethos-u85
expect 2 'ethos-u55-SIZE comes with the sizes 32 64' compile $digits/model.pt2 -t u55
expect 2 "did you mean 'cortex-m55'" compile $digits/model.pt2 -t m55
expect 2 'calibration data is missing' compile $digits/model.pt2 -t TOSA-1.0+INT -o "$dir/m.pte"
expect 2 "is not known from its name" compile $digits/model.pt2 -t TOSA-1.0+INT -o "$dir/m.xyz"
expect 2 "did you mean 'tosa'" compile $digits/model.pt2 -t TOSA-1.0+INT --emit tos -o "$dir/m.xyz"
expect 2 "the model has no node or operator 'nobody'" compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --cpu nobody
expect 0 '1 region, 44 operators on TOSA-1.0+INT, 2 on the CPU' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o "$dir/m.pte" --check
expect 0 'f32[128,10]' run "$dir/m.pte" -i $digits/calib.npz
expect 0 'only outputs are compared' compare $digits/model.pt2 "$dir/m.pte" -i $digits/calib.npz
expect 0 '"operators": 44' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o "$dir/m.tosa" --json --dump-dir "$dir/dump"
expect 0 'follow every rule' verify "$dir/m.tosa" -t TOSA-1.0+INT
holds "the trace is there" grep -q traceEvents "$dir/dump/trace.json"
unlike() { # no two files that follow each other are the same
    local last= file
    for file in "$1"/*.ir; do
        [ -z "$last" ] || ! cmp -s "$last" "$file" || return 1
        last=$file
    done
}
holds "passes that changed nothing are not dumped" unlike "$dir/dump"
holds "every region's file is dumped" cmp "$dir/m.tosa" "$dir/dump/region_0.tosa"
expect 0 '2 regions' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --cpu conv2d_5 -o "$dir/two.tosa"
holds 'two regions are two files' test -s "$dir/two.0.tosa" -a -s "$dir/two.1.tosa"
expect 1 "'conv2d_5' (conv): 'conv' has no shader" compile $digits/model.pt2 -t vgf --calib $digits/calib.npz --cpu conv2d_5 -o "$dir/two.vgf"
expect 1 'a .vgf file holds one' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --cpu conv2d_5 -o "$dir/two.vgf"
expect 0 '2 regions, 43 operators on vgf, 1 in shaders' compile $digits/model.pt2 -t vgf --cpu hardtanh_5 -o "$dir/two.vgf"
expect 0 '1 in shaders' compile $digits/model.pt2 -t vgf --cpu hardtanh_5 --check -o "$dir/two.vgf"
expect 0 'compute_segment_0' inspect "$dir/two.vgf"
expect 0 '3 regions, 19 operators on vgf, 3 in shaders' compile fixture/shaders/unet.pt2 -t vgf --shaders resample -o "$dir/unet.vgf"
expect 0 '3 in shaders' compile fixture/shaders/unet.pt2 -t vgf --shaders samplers -o "$dir/unet.vgf"
expect 0 'image with sampler: linear and linear, clamp to edge' inspect "$dir/unet.vgf"
expect 1 'a .vgf file holds one' compile $digits/model.pt2 -t vgf --cpu hardtanh_5 --shaders none -o "$dir/two.vgf"
expect 2 "expected 'auto', 'all', 'resample', 'samplers' or 'none'" compile $digits/model.pt2 -t vgf --shaders some -o "$dir/two.vgf"
# operators that nobody else reads are one shader, with every bit of theirs: f16 rounds and codes are clamped between them
cat >"$dir/chain.ir" <<'END'
graph @main(%0 "x": f32[1,3]) {
  %1 = cast %0 dtype=f16 : f16[1,3]
  %2 = mul %1, %1 : f16[1,3]
  %3 = cast %2 dtype=f32 : f32[1,3]
  %4 = quantize %3 scale=0.05 zero=3 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[1,3]
  %5 = dequantize %4 scale=0.05 zero=3 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[1,3]
  %6 = permute %5 perm=[1,0] : f32[3,1]
  %7 = sub %6, %0 alpha=1 : f32[3,3]
  %8 = relu %7 : f32[3,3]
  %9 = sum %8 axes=[1] keepdim=false : f32[3]
  return %9
}
END
$tosac run "$dir/chain.ir" -i "$dir/row.npy" -o "$dir/chain.ir.out" >/dev/null
$tosac opt --pass=lower-to-shaders "$dir/chain.ir" >"$dir/chain.shaders.ir"
holds 'a chain is three shaders: what is read twice or broadcast is a tensor' test "$(grep -c 'tosa.shader' "$dir/chain.shaders.ir")" = 3
holds 'which are called by what they compute' grep -q 'name="sub-relu-sum"' "$dir/chain.shaders.ir"
$tosac run "$dir/chain.shaders.ir" -i "$dir/row.npy" -o "$dir/chain.shaders.out" >/dev/null
holds 'and have the numbers of their operators' cmp "$dir/chain.ir.out/output_0.npy" "$dir/chain.shaders.out/output_0.npy"
# shaders as CUSTOM operators of a .tosa: read again they run, and are compiled
expect 0 '' compile "$dir/chain.shaders.ir" -t TOSA-1.0+INT+FP -o "$dir/chain.tosa"
expect 0 'tosa.shader' inspect "$dir/chain.tosa"
expect 0 'follow every rule' verify "$dir/chain.tosa"
expect 0 '' compile "$dir/chain.tosa" -t vgf -o "$dir/chain.vgf"
for file in chain.tosa chain.vgf; do
    $tosac run "$dir/$file" -i "$dir/row.npy" -o "$dir/$file.out" >/dev/null
    holds "$file has the numbers of its shaders" cmp "$dir/chain.ir.out/output_0.npy" "$dir/$file.out/output_0.npy"
done
# images as a program's own inputs and outputs
expect 0 "input 'x': R8G8B8A8_UNORM as f32[1,3,24,32]: a shader that converts" compile fixture/shaders/unet.pt2 -t vgf --image x=r8g8b8a8_unorm --image conv2d_5=r8g8b8a8_snorm --check -o "$dir/picture.vgf"
expect 0 'input        R8G8B8A8_UNORM[1,24,32,4], image with sampler: nearest' inspect "$dir/picture.vgf"
expect 0 'output       R8G8B8A8_SNORM[1,24,32,4], storage image' inspect "$dir/picture.vgf"
expect 0 'x                    u8[1,24,32,4] q(0.00392156862745098:0)' inspect "$dir/picture.vgf"
expect 0 'i8[1,3,24,32] q(0.003921568859368563:-128): a shader that keeps the codes' compile fixture/shaders/unet.pt2 -t vgf:TOSA-1.0+INT --calib random:1 --image x=r8g8b8a8_unorm --check -o "$dir/picture.vgf"
cat >"$dir/grey.ir" <<'END'
graph @main(%0 "x": f32[1,2,3,1]) {
  %1 "y" = abs %0 : f32[1,2,3,1]
  return %1
}
END
npy texels '|i1' '1, 2, 3, 1' '\x80\x81\x00\x7f\xff\x40'
npy reals '<f4' '1, 2, 3, 1' "$one$one$one$two$two$two"
expect 0 "output 'y': R8_SNORM of f32[1,2,3,1]: a shader that converts" compile "$dir/grey.ir" -t vgf --image x=r8_snorm --image y=r8_snorm --check -o "$dir/grey.vgf"
expect 0 '127' run "$dir/grey.vgf" -i "$dir/texels.npy"
"$tosac" run "$dir/grey.vgf" -i "$dir/texels.npy" -o "$dir/seen" --quiet
holds 'the two least codes are both -1' [ "$(tail -c 6 "$dir/seen/output_0.npy" | od -An -tx1 | tr -d ' ')" = 7f7f007f0140 ]
expect 0 'f32[1,2,3,1]' run "$dir/grey.vgf" --dequantize -i "$dir/reals.npy"
expect 1 "is float32, input 'x' needs i8" run "$dir/grey.vgf" -i "$dir/reals.npy"
expect 0 "output 'y': R32_SFLOAT of f32[1,2,3,1]: the same bytes, no shader" compile "$dir/grey.ir" -t vgf --image x=r32_sfloat --image y=r32_sfloat -o "$dir/grey.vgf"
expect 0 'R32_SFLOAT[1,2,3,1], storage image, alias group 1' inspect "$dir/grey.vgf"
expect 0 'f32[1,2,3,1]' run "$dir/grey.vgf" -i "$dir/reals.npy"
expect 0 '1 region' compile "$dir/grey.vgf" -t vgf -o "$dir/again.vgf"
holds 'what was read is written again' cmp "$dir/grey.vgf" "$dir/again.vgf"
expect 2 "images are for the target 'vgf', not for 'cpu'" compile "$dir/grey.ir" -t cpu --image x=r8_unorm -o "$dir/grey.pte"
expect 2 'images are for a .vgf, not for pte' compile "$dir/grey.ir" -t vgf --image x=r8_unorm -o "$dir/grey.pte"
expect 2 'images need shaders' compile "$dir/grey.ir" -t vgf --shaders none --image x=r8_unorm -o "$dir/grey.vgf"
expect 2 "the same input is named by 'x=r8_unorm'" compile "$dir/grey.ir" -t vgf --image x=r8_unorm --image input_0=r8_snorm -o "$dir/grey.vgf"
expect 2 'formats: r8_unorm, r8_snorm' compile "$dir/grey.ir" -t vgf --image x=r8 -o "$dir/grey.vgf"
expect 2 'the output has codes from -128 to 127, R8_UINT has 0 to 255' compile "$dir/grey.ir" -t vgf:TOSA-1.0+INT --calib random:1 --image y=r8_uint -o "$dir/grey.vgf"
# a .pte of one delegate: several segments, no kernels; what it cannot be is said
expect 0 '3 regions, 19 operators on vgf, 3 in shaders' compile fixture/shaders/unet.pt2 -t vgf --shaders resample --check -o "$dir/whole.pte"
expect 0 'bytes, 3 graphs, 3 shaders' inspect "$dir/whole.pte"
expect 0 '"compute_segments": 3' inspect "$dir/whole.pte" --json
expect 0 'kernels      0 of 0 kinds' inspect "$dir/whole.pte"
$tosac compile fixture/shaders/unet.pt2 -t vgf --shaders resample -o "$dir/whole.vgf" >/dev/null
$tosac run "$dir/whole.pte" -i random:1 -o "$dir/whole.pte.out" >/dev/null
$tosac run "$dir/whole.vgf" -i random:1 -o "$dir/whole.vgf.out" >/dev/null
holds 'the delegate gives what the .vgf gives' cmp "$dir/whole.pte.out/output_0.npy" "$dir/whole.vgf.out/output_0.npy"
holds 'and its integers' cmp "$dir/whole.pte.out/output_1.npy" "$dir/whole.vgf.out/output_1.npy"
cat >"$dir/ports.ir" <<'END'
graph @main(%0 "x": f32[1,3], %1 "unread": f32[1,3]) {
  %2 = abs %0 : f32[1,3]
  %3 = sub %2, %0 alpha=1 : f32[1,3]
  return %3, %0, %3, %2
}
END
expect 0 '2 in shaders' compile "$dir/ports.ir" -t vgf --cpu abs --cpu sub --shaders all -o "$dir/ports.pte"
$tosac run "$dir/ports.ir" -i "$dir/row.npy" -i "$dir/row.npy" -o "$dir/ports.ir.out" >/dev/null
$tosac run "$dir/ports.pte" -i "$dir/row.npy" -i "$dir/row.npy" -o "$dir/ports.pte.out" >/dev/null
for i in 0 1 2 3; do
    holds "output $i of a delegate that has inputs and values twice" cmp "$dir/ports.ir.out/output_$i.npy" "$dir/ports.pte.out/output_$i.npy"
done
expect 0 "in shaders" compile fixture/shaders/transformer.pt2 -t vgf --shaders samplers -o "$dir/images.vgf"
expect 0 'gives memory of its own' compile "$dir/images.vgf" -t vgf -o "$dir/images.pte"
expect 3 'samplers are for a .vgf' compile fixture/shaders/unet.pt2 -t vgf --shaders samplers -o "$dir/whole.pte"
expect 0 'what no region takes stays with the CPU' compile $digits/model.pt2 -t vgf --calib $digits/calib.npz --cpu conv2d_5 --shaders all -o "$dir/two.pte"
expect 1 'what no region takes stays with the CPU' compile $digits/model.pt2 -t vgf --calib $digits/calib.npz --cpu conv2d_5 --shaders all --strict -o "$dir/two.pte"
expect 2 "shaders are for the target 'vgf'" compile $digits/model.pt2 -t cpu --shaders auto -o "$dir/two.pte"
expect 0 'f32[32,1,10]' run "$dir/two.vgf" -i random:1
expect 0 'by --cpu' explain $digits/model.pt2 -t ethos-u55-128 --cpu conv2d_5
expect 0 '"why": "the target has no accelerator"' explain $digits/model.pt2 -t cpu --json
expect 1 'cannot' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o "$dir/nowhere/m.pte"

# programs: kernels only, kernels with typed borders; what cannot be read is said
expect 0 '0 regions' compile $digits/model.pt2 -t cpu -o "$dir/cpu.pte"
expect 0 'aten::convolution.out' inspect "$dir/cpu.pte"
expect 0 'f32[128,10]' run "$dir/cpu.pte" -i $digits/calib.npz
expect 0 'output i16[1,10]' inspect "$dir/m.pte"
expect 0 '"zero_point":' inspect "$dir/m.pte" --json
holds 'the same program twice is the same bytes' eval '"$tosac" compile $digits/model.pt2 -t cpu -o "$dir/cpu2.pte" >/dev/null && cmp "$dir/cpu.pte" "$dir/cpu2.pte"'
head -c 3000 "$dir/cpu.pte" >"$dir/half.pte"
expect 1 'more bytes than the file has' run "$dir/half.pte" -i $digits/calib.npz
expect 1 'more bytes than the file has' inspect "$dir/half.pte"

expect 0 'values quantized' quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/t8.ir"
expect 0 '1 region' compile "$dir/t8.ir" -t TOSA-1.0+INT --emit ir -o "$dir/split.ir"
expect 1 'there is nothing for' compile $digits/model.pt2 -t cpu -o "$dir/none.tosa"
expect 2 'is quantized already' compile "$dir/t8.ir" -t TOSA-1.0+INT -q a16w8
expect 3 'split into regions already' compile "$dir/split.ir" -t TOSA-1.0+INT
cp "$dir/m.tosa" "$dir/there.tosa" && ln -s there.tosa "$dir/link.tosa"
expect 0 '1 region' compile "$dir/m.tosa" -t TOSA-1.0+INT -o "$dir/link.tosa"
holds 'a link stays a link' test -L "$dir/link.tosa"
cp "$dir/m.tosa" "$dir/kept.tosa" && cp $digits/model.pt2 "$dir/model.pt2" && cp $digits/calib.npz "$dir/calib.npz" && ln -s kept.tosa "$dir/kept-link.tosa"
expect 2 'would be overwritten' compile "$dir/kept.tosa" -t TOSA-1.0+INT -o "$dir/kept.tosa"
expect 2 'would be overwritten' compile "$dir/kept.tosa" -t TOSA-1.0+INT -o "$dir/kept-link.tosa"
expect 2 'would be overwritten' quantize "$dir/model.pt2" --calib "$dir/calib.npz" -o "$dir/lost.ir" --qparams "$dir/calib.npz"
expect 2 'would be overwritten' quantize "$dir/model.pt2" --calib "$dir/calib.npz" -o "$dir/lost.ir" --qparams "$dir/model.pt2"
expect 2 'would be overwritten' quantize "$dir/model.pt2" --calib "$dir/calib.npz" -o "$dir/model.pt2"
holds 'inputs are as they were' eval 'cmp "$dir/m.tosa" "$dir/kept.tosa" && cmp $digits/model.pt2 "$dir/model.pt2" && cmp $digits/calib.npz "$dir/calib.npz"'
expect 1 'a device or a pipe' compile "$dir/m.tosa" -t TOSA-1.0+INT --emit tosa -o /dev/null

# Vela that is missing, fails, hangs, dies, says nothing, or writes half a file: exit 4, nothing written, nothing left
mkdir "$dir/tmp"
vela() { # WORDS BODY [OPTION...]: compile with a Vela that does BODY
    local words=$1
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/vela" && chmod +x "$dir/vela"
    shift 2
    TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela expect 4 "$words" compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte" "$@"
}
TOSAC_VELA=$dir/no-vela expect 4 'pip install ethos-u-vela' compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte"
# that is said first, before any model is read or data taken; what needs no streams is written
TOSAC_VELA=$dir/no-vela expect 4 'pip install ethos-u-vela' compile "$dir/not-there.pt2" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte"
TOSAC_VELA=$dir/no-vela expect 4 'pip install ethos-u-vela' compile "$dir/not-there.pt2" -t ethos-u85-256 --ethosu-backend vela --report "$dir/u85.html"
TOSAC_VELA=$dir/no-vela expect 4 'pip install ethos-u-vela' profile "$dir/not-there.pt2" -t ethos-u85-256 --ethosu-backend vela
TOSAC_VELA=$dir/no-vela expect 1 'not-there.pt2' compile "$dir/not-there.pt2" -t ethos-u85-256 -o "$dir/u85.tosa"
vela 'refused a region: exit 1: Error: no such thing' 'echo Error: no such thing; exit 1' --strict
vela 'killed by signal 9' 'kill -9 $$' --strict
vela 'did not finish in 1 seconds' 'sleep 30' --vela-timeout 1
vela 'without writing anything' 'exit 0'
vela 'not complete' 'mkdir out; echo garbage >out/region_vela.npz'
vela 'not complete' "mkdir out; head -c 3000 $PWD/$digits/calib.npz >out/region_vela.npz"
printf '#!/bin/sh\nsleep 30\n' >"$dir/vela"
TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela timeout -s TERM 2 "$tosac" compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte" >/dev/null 2>&1
holds 'no program was written' test ! -e "$dir/u85.pte"
holds 'nothing is left behind' test -z "$(ls -A "$dir/tmp")"

# A configuration that cannot be is an error at once, with what there is instead
unfit() { # WORDS OPTION...: compile for a U55, without data: nothing was quantized when it is said
    local words=$1
    shift
    TOSAC_VELA=$dir/vela expect 2 "$words" compile $digits/model.pt2 -t ethos-u55-128 -o "$dir/u55.pte" "$@"
}
unfit 'it puts the arena in OffChipFlash' --memory-mode Dedicated_Sram
unfit 'choose one of: Sram_Only, Shared_Sram' --memory-mode Dedicated_Sram_512KB
unfit 'choose one of: Sram_Only, Shared_Sram' --memory-mode Fast
unfit 'choose one of: Ethos_U55_Deep_Embedded, Ethos_U55_High_End_Embedded' --system-config Board
unfit 'expected Performance or Size' --optimise Speed
unfit 'expected auto, own or vela' --ethosu-backend ours
TOSAC_VELA=$dir/vela expect 1 'none.ini: error: cannot open it' compile $digits/model.pt2 -t ethos-u55-128 -o "$dir/u55.pte" --vela-ini "$dir/none.ini"

# A Vela that takes nothing is not the model's fault
vela 'refuses even the addition of two tensors' 'echo Error: no such thing; exit 1'

# What Vela refuses goes to the CPU, and the program is written all the same; when time is over, all that is not known to be taken
printf '#!/bin/sh\ntest $(wc -c <region.tosa) -lt 1000 || { echo Error: no such thing; exit 1; }\nmkdir out; cp %s out/region_vela.npz\n' "$PWD/fixture/npu/sum_vela.npz" >"$dir/vela"
TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela expect 0 "no part of the model runs on 'ethos-u85-256'" compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte"
sed -i '2i sleep 1' "$dir/vela"
TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela expect 0 '--refusal-seconds 10 gives more time' compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte" --refusal-seconds 1
sed -i '2d' "$dir/vela"
TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela expect 0 'goes to the CPU' compile "$dir/t8.ir" -t ethos-u85-256 --ethosu-backend vela -o "$dir/u85.pte"

# a stream that breaks the machine's rules, and one that keeps them and computes something else
cat >"$dir/relu.ir" <<'EOF'
graph @main(%0 "x": f32[1,4]) {
  %1 = rescale %0 : i8[1,4] q(0.05:-3)
  %2 = relu %1 : i8[1,4] q(0.05:-3) loc(node="relu")
  %3 = rescale %2 : f32[1,4]
  return %3
}
EOF
model=$dir/relu.ir
stream() { # STATUS WORDS NAME [OPTION...]: compile with a Vela whose answer is fixture/npu/NAME
    local status=$1 words=$2
    printf '#!/bin/sh\nmkdir out; cp %s out/region_vela.npz\n' "$PWD/fixture/npu/$3_vela.npz" >"$dir/vela"
    shift 3
    TMPDIR=$dir/tmp TOSAC_VELA=$dir/vela expect "$status" "$words" compile "$model" -t ethos-u85-256 --ethosu-backend vela -o "$dir/relu.pte" "$@"
}
stream 0 '1 region, 1 operators' relu --check --strict
stream 0 "'relu' goes to the CPU: word 62, operation 0, POOL SUM: its ofm reaches" relu-outside
stream 0 '0 regions' relu-outside
stream 0 "no part of the model runs on 'ethos-u85-256': all 3 operators stay on the CPU" relu-outside
stream 4 'its ofm reaches from byte 1048576' relu-outside --strict
stream 0 '1 region, 1 operators' relu-other --no-execute
stream 0 'differs from its TOSA program' relu-other
stream 0 '0 regions' relu-other
stream 4 "the first operator whose result differs is 'tosa_clamp'" relu-other --strict
stream 0 'differs from its TOSA program' relu-other --check
stream 0 '0 regions' relu-other --check
stream 4 "the first operator whose result differs is 'tosa_clamp'" relu-other --check --strict
holds 'a program was written' test -e "$dir/u85.pte"

# a TOSA program with an input that nobody reads: Vela leaves it out, the program keeps it
cat >"$dir/idle.ir" <<'EOF'
graph @main(%0 "spare": i8[2,3], %1 "x": i8[1,4]) {
  %2 = tosa.clamp %1 min_val=-3 max_val=127 nan_mode=propagate : i8[1,4]
  return %2
}
EOF
expect 0 '1 region' compile "$dir/idle.ir" -t TOSA-1.0+INT -o "$dir/idle.tosa"
expect 3 "the program is TOSA, and 'cpu' has no kernels for it" compile "$dir/idle.tosa" -t cpu
holds 'that is said once' test "$("$tosac" compile "$dir/idle.tosa" -t cpu 2>&1 | wc -l)" = 2
model=$dir/idle.tosa stream 0 '1 region' relu --check --strict
expect 0 $'0    i8[2,3]\n  1    i8[1,4]' inspect "$dir/relu.pte"
"$tosac" run "$dir/idle.tosa" -i random:1 -o "$dir/idle-tosa" >/dev/null 2>&1
"$tosac" run "$dir/relu.pte" -i random:1 -o "$dir/idle-pte" >/dev/null 2>&1
holds 'and computes the same' cmp "$dir/idle-tosa/output_0.npy" "$dir/idle-pte/output_0.npy"
mkdir "$dir/codes"
npy codes/spare '|i1' '2, 3' 'abcdef'
npy codes/x '|i1' '1, 4' '\x80\xf0\x05\x7f'
model=$dir/idle.tosa stream 4 "the first operator whose result differs is 'tosa_clamp'" relu-other --check --strict --calib "$dir/codes"
model=$dir/idle.tosa stream 4 "the first operator whose result differs is 'tosa_clamp'" relu-other --calib "$dir/codes"

# without Vela: our own back end makes a stream, or the CPU runs it; what it cannot is no error, and a TOSA program is refused
for backend in own auto; do
    TOSAC_VELA=$dir/no-vela expect 0 'relu.pte: ' compile "$dir/relu.ir" -t ethos-u85-256 --ethosu-backend $backend -o "$dir/relu.pte"
    TOSAC_VELA=$dir/no-vela expect 0 'f32[32,1,4]' run "$dir/relu.pte" -i random:1
done
TOSAC_VELA=$dir/no-vela expect 0 'ethos-u85-256: ' explain "$dir/relu.ir" -t ethos-u85-256 --ethosu-backend own
TOSAC_VELA=$dir/no-vela expect 0 '' profile "$dir/relu.ir" -t ethos-u85-256
expect 0 '--ethosu-backend own has no effect' compile "$dir/relu.ir" -t TOSA-1.0+INT --ethosu-backend own -o "$dir/relu-tosa.pte"

# rounding that TOSA leaves open: one that the machine has is chosen, and from then on all agree
cat >"$dir/inexact.ir" <<'END'
graph @main(%0 "x": i32[4,8]) {
  %1 = const [1900000000] : i32[1]
  %2 = const [40] : i8[1]
  %3 = const [0] : i32[1]
  %4 = const [-7] : i8[1]
  %5 = tosa.rescale %0, %1, %2, %3, %4 scale32=true rounding_mode=inexact per_channel=false input_unsigned=false output_unsigned=false : i8[4,8]
  return %5
}
END
for target in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
    TOSAC_VELA=$dir/no-vela expect 0 '1 region, ' compile "$dir/inexact.ir" -t $target --check -o "$dir/inexact.pte"
done
expect 1 'EXT-INEXACTROUND' compile "$dir/inexact.ir" -t TOSA-1.0+INT -o "$dir/inexact.tosa"

# what a region may be made of says the back end that makes it: our own has bools on Ethos-U55, Vela has none
cat >"$dir/compare.ir" <<'END'
graph @main(%0 "x": f32[2,8]) {
  %1 = const 0.25 : f32[]
  %2 = gt %0, %1 : bool[2,8]
  %3 = cast %2 dtype=f32 : f32[2,8]
  %4 = mul %0, %3 : f32[2,8]
  return %4
}
END
for backend in own auto; do
    TOSAC_VELA=$dir/no-vela expect 0 '3 operators on ethos-u55-128, 2 on the CPU' \
        compile "$dir/compare.ir" -t ethos-u55-128 --ethosu-backend $backend --calib random:1 --check -o "$dir/compare.pte"
done
expect 0 'the machine has no bool values' explain "$dir/compare.ir" -t ethos-u55-128 --ethosu-backend vela

# a sum of 48 bits and the RESCALE that reads it go together, as a TFLite file of 16 bits has them
cat >"$dir/sum48.ir" <<'END'
graph @main(%0 "x": i16[1,4,4,1]) {
  %1 = identity %0 : i16[1,4,4,1]
  %2 = const [3, -7] : i8[2,1,1,1]
  %3 = const [0, 0] : i48[2]
  %4 = const [0] : i16[1]
  %5 = const [0] : i8[1]
  %6 = tosa.conv2d %1, %2, %3, %4, %5 pad=[0,0,0,0] stride=[1,1] dilation=[1,1] local_bound=false acc_type=i48 : i48[1,4,4,2]
  %7 = const [21850, 19506] : i16[2]
  %8 = const [17, 18] : i8[2]
  %9 = const [0] : i48[1]
  %10 = tosa.rescale %6, %7, %8, %9, %4 scale32=false rounding_mode=single per_channel=true input_unsigned=false output_unsigned=false : i16[1,4,4,2]
  return %10
}
END
TOSAC_VELA=$dir/no-vela expect 0 ' 0 on the CPU' compile "$dir/sum48.ir" -t ethos-u55-128 --check -o "$dir/sum48.pte"
expect 0 'ethos-u55-128: 2 of 2' explain "$dir/sum48.ir" -t ethos-u55-128 --ethosu-backend vela

# a number of rounds is not the largest number that there is
cat >"$dir/rounds.ir" <<'END'
graph @main(%0 "n": i32[], %1 "x": i32[4]) {
  %2, %3 = tosa.while_loop %0, %1 cond_graph="cond" body_graph="body" : i32[], i32[4]
  return %3
}
graph @cond(%0: i32[], %1: i32[4]) {
  %2 = const 0 : i32[]
  %3 = tosa.greater %0, %2 : bool[]
  return %3
}
graph @body(%0: i32[], %1: i32[4]) {
  %2 = const 1 : i32[]
  %3 = tosa.sub %0, %2 : i32[]
  %4 = tosa.add %1, %1 : i32[4]
  return %3, %4
}
END
holds 'it does not take for ever' timeout 10 "$tosac" compile "$dir/rounds.ir" -t TOSA-1.0+INT+cf -o "$dir/rounds.pte" >/dev/null

# a .pte does not say how large the fast memory is: what is touched does, and a step over one row may be more
cat >"$dir/equal.ir" <<'END'
graph @main(%0 "x": i32[5,8], %1 "y": i32[5,8]) {
  %2 = tosa.equal %0, %1 : bool[5,8]
  return %2
}
END
TOSAC_VELA=$dir/no-vela expect 0 '1 region, ' compile "$dir/equal.ir" -t ethos-u65-256 -o "$dir/equal.pte"
expect 0 "follow the machine's rules" verify "$dir/equal.pte"

# a TOSA program of constants alone is a region too
printf 'producer "TOSA 1.0.0"\ngraph @main() {\n  %%1 = const [1, 2] : i8[2]\n  return %%1\n}\n' >"$dir/constants.ir"
for target in ethos-u55-128 ethos-u85-256 TOSA-1.0+INT vgf; do
    TOSAC_VELA=$dir/no-vela expect 0 '1 region, ' compile "$dir/constants.ir" -t $target -o "$dir/constants.pte"
    expect 0 "i8[2]            1            2" run "$dir/constants.pte"
done
expect 0 '0 regions, ' compile "$dir/constants.ir" -t cpu -o "$dir/constants.pte"

# files that Vela wrote: operators that work in one memory read what others left there; variables keep their numbers from run to run
for name in shared shared_vela; do "$tosac" run fixture/npu/$name.tflite -i fixture/npu/shared.npy -o "$dir/$name" >/dev/null 2>&1; done
holds 'a memory is shared' cmp "$dir/shared/output_0.npy" "$dir/shared_vela/output_0.npy"
"$tosac" run fixture/npu/lstm_vela.tflite -i fixture/npu/lstm.npy -o "$dir/lstm" >/dev/null 2>&1
holds 'variables are kept, with what TensorFlow Lite Micro gives' cmp "$dir/lstm/output_0.npy" fixture/npu/lstm-want.npy
# the same in Vela's raw form, whose shapes have lost leading ones: samples of the model's own shape
"$tosac" run fixture/npu/lstm_vela.npz -i fixture/npu/lstm-raw.npy -o "$dir/raw-lstm" >/dev/null 2>&1
holds 'variables of the raw form are kept too' cmp "$dir/raw-lstm/output_0.npy" fixture/npu/lstm-raw-want.npy
expect 0 "follow the machine's rules" verify fixture/npu/lstm_vela.npz
expect 0 "Vela's raw output for ethos-u55-128" inspect fixture/npu/lstm_vela.npz
expect 0 'state 1: 16-bit[6], 12 bytes at 16 of region 1' inspect fixture/npu/lstm_vela.npz
expect 0 '"state": [' inspect fixture/npu/lstm_vela.npz --json

# A program with test vectors: read like a .pte, and held to what it should give.
expect 0 'with 2 test vectors' compile "$dir/abs.ir" -t cpu -i "$dir/rows.npy" -o "$dir/abs.bpte"
expect 0 '2 test vectors of 1 method: 2 with the expected outputs bit for bit' verify "$dir/abs.bpte"
expect 0 '"exact": 2' verify "$dir/abs.bpte" --json
expect 0 'test vectors 2 of forward' inspect "$dir/abs.bpte"
expect 0 'f32[2,3]' run "$dir/abs.bpte" -i "$dir/rows.npy"
one_one='\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00'
LC_ALL=C sed "s/$one_one\x00\x40/$one_one\x40\x40/" "$dir/abs.bpte" >"$dir/other.bpte"
expect 1 'test vector 0: error: output 0 differs from what is expected in 1 of 3 elements, first in element 2: 2 instead of 3' verify "$dir/other.bpte"
head -c 700 "$dir/abs.bpte" >"$dir/cut.bpte"
expect 1 '[format]' verify "$dir/cut.bpte"
expect 2 'only a .bpte holds' compile "$dir/abs.ir" -t cpu -i "$dir/rows.npy" -o "$dir/abs.pte"
expect 2 'needs test vectors' compile "$dir/abs.ir" -t cpu --no-execute -o "$dir/none.bpte"
expect 0 'with 5 test vectors' compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz -o "$dir/digits.bpte"
expect 0 '5 with the expected outputs bit for bit' verify "$dir/digits.bpte"

# An ETRecord: ExecuTorch's Inspector knows nodes by their places in the export.
expect 0 'rec.pte: 1 region' compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz -o "$dir/rec.pte" --etrecord "$dir/rec.etrecord"
record() { python3 -c 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())' "$dir/rec.etrecord" "$1"; }
holds 'the call of a region has handles of its nodes' [ "$(record debug_handle_map | tr -d ' \n' | cut -c-36)" = '{"forward":{"0":[1],"1":[1,3,4,6,7,9' ]
holds 'the delegate is named' [ "$(record delegate_map | tr -d ' \n')" = '{"forward":{"1":{"name":"EthosUBackend","delegate_map":{}}}}' ]
holds 'the export is there, with handles' [ "$(record tosac/forward | grep -o '"debug_handle": "67"' | wc -l)" = 1 ]
holds 'in the schema that ExecuTorch reads' [ "$(record tosac/forward | grep -c 'torch_version\|guards_code\|"kind"')" = 0 ]
expect 0 '' compile fixture/etdump/two.ir -t cpu -o "$dir/rec.pte" --etrecord "$dir/rec.etrecord"
expect 2 '--etrecord goes with a .pte' compile "$dir/abs.ir" -t TOSA-1.0+FP -o "$dir/abs.tosa" --etrecord "$dir/rec.etrecord"

# What the runtime needs to load it, and how large its pools must be.
expect 0 "to load it, ExecuTorch needs EthosUBackend (executorch_delegate_ethos_u), quantized_decomposed's kernels (quantized_ops_lib; in Python: import executorch.kernels.quantized)" \
    compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz -o "$dir/needs.pte"
expect 0 '"temp_allocator_pool": 41680' compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz -o "$dir/needs.pte" --json
expect 0 'CONFIG_EXECUTORCH_TEMP_ALLOCATOR_POOL_SIZE=41680' inspect "$dir/needs.pte"
expect 0 '"quantized_decomposed::quantize_per_tensor.out"' inspect "$dir/needs.pte" --json
expect 0 "cortex_m's kernels (cortex_m_ops_lib)" compile $digits/model.pt2 -t cortex-m55 --calib $digits/calib.npz -o "$dir/needs.pte"
expect 0 '' compile "$dir/abs.ir" -t cpu -o "$dir/needs.pte"
holds 'portable kernels are in every runtime' [ "$("$tosac" compile "$dir/abs.ir" -t cpu -o "$dir/needs.pte" | wc -l)" = 1 ]

# What a device took, beside what was expected of it.
et=fixture/etdump
"$tosac" compile $et/two.ir -t cpu --locations -o "$dir/two.pte" >/dev/null 2>&1
"$tosac" compile $digits/model.pt2 -t ethos-u85-256 --calib $digits/calib.npz --locations -o "$dir/placed.pte" >/dev/null 2>&1
expect 0 "two.etdp: 2 runs of 'forward'" profile "$dir/two.pte" --etdump $et/two.etdp
expect 0 'aten::mul.out' profile "$dir/two.pte" --etdump $et/two.etdp --by kind
expect 0 '"name": "aten::mul.out"' profile "$dir/two.pte" --etdump $et/two.etdp --json
expect 0 'at 500000000 ticks a second' profile "$dir/two.pte" --etdump $et/two.etdp --ticks 500e6
expect 2 'expected a number above 0' profile "$dir/two.pte" --etdump $et/two.etdp --ticks fast
expect 0 '~ digits_models.py:22' profile "$dir/placed.pte" --etdump $et/digits-u85.etdp
expect 0 '+EthosUBackend::execute()NPU' profile "$dir/placed.pte" --etdump $et/digits-u85.etdp
expect 0 'expected of its command stream' profile "$dir/digits.bpte" --etdump $et/digits-u85.etdp
expect 0 'digits_models.py:22' profile "$dir/placed.pte"
expect 1 'this ETDump was not made with' profile "$dir/two.pte" --etdump $et/digits-u85.etdp
expect 1 'instruction 0 is aten::mul.out there, and quantized_decomposed::quantize_per_tensor.out' profile "$dir/placed.pte" --etdump $et/two.etdp
expect 1 'this is no ETDump' profile "$dir/two.pte" --etdump "$dir/two.pte"
head -c 300 $et/two.etdp >"$dir/cut.etdp"
expect 1 '[format]' profile "$dir/two.pte" --etdump "$dir/cut.etdp"
expect 2 'goes with a compiled program' profile $digits/model.pt2 -t ethos-u85-256 --etdump $et/two.etdp

# the same stream in a program and as Vela wrote it: checked, shown, run
stream 0 '1 region, 1 operators' relu
expect 0 "1 operations in 1 command stream for ethos-u85-256 follow the machine's rules" verify "$dir/relu.pte"
expect 0 '"streams": 1' verify "$dir/relu.pte" --json
expect 0 "follow the machine's rules" verify fixture/npu/relu_vela.npz
expect 1 'its ofm reaches from byte 1048576' verify fixture/npu/relu-outside_vela.npz
expect 0 'payload has 1 bytes an element' inspect "$dir/relu.pte"
expect 0 '"payload_element_bytes": 1' inspect "$dir/relu.pte" --json
expect 0 'POOL SUM' inspect --disassemble "$dir/relu.pte"
expect 0 'f32[32,1,4]' run "$dir/relu.pte" -i random:1
expect 0 'i8[32,4]' run fixture/npu/relu_vela.npz -i random:1
expect 2 'has no Ethos-U command stream' inspect --disassemble "$dir/cpu.pte"

# the other ways to be told
expect 0 '"arguments"' --dump-options
expect 0 '"operators": 251' verify "$dir/m.tosa" -t TOSA-1.0+INT --json
expect 0 '"quantized"' quantize $digits/model.pt2 --calib $digits/calib.npz -o "$dir/t.ir" --json
expect 0 '"observations"' quantize $digits/model.pt2 --calib $digits/calib.npz --observe-only -o "$dir/first.obs" --json
expect 2 '--qparams cannot be combined' quantize $digits/model.pt2 --calib $digits/calib.npz --observe-only -o "$dir/x.obs" --qparams "$dir/q.json"
expect 0 '1 region' compile "$dir/m.tosa" -t TOSA-1.0+INT -o "$dir/m2.pte"
expect 0 'f32[128,10]' run "$dir/m.pte" -i $digits/calib.npz
holds 'a region by itself runs in a program' eval '"$tosac" run "$dir/m2.pte" -i random:1 >/dev/null'

# Pictures as data
printf 'graph @main(%%0 "x": f32[1,3,24,24]) {\n  %%1 = slice %%0 axis=3 start=0 end=10 step=1 : f32[1,3,24,10]\n  %%2 = mean %%1 axes=[1,2] keepdim=false : f32[1,10]\n  return %%2\n}\n' >"$dir/pictures.ir"
expect 0 'f32[100,10]' run "$dir/pictures.ir" -i $digits/../pictures --preprocess 'resize=28 crop=24'
expect 2 "did you mean 'resize'" run "$dir/pictures.ir" -i $digits/../pictures --preprocess 'resise=28'
expect 1 'after the rules, input' run "$dir/pictures.ir" -i $digits/../pictures --preprocess 'resize=28 crop=25'
expect 1 'read with --preprocess' run "$dir/pictures.ir" -i $digits/../vgf

# How often programs are right
expect 0 '98.70 %   97.8 ..  99.2' evaluate $digits/model.pt2 --data $digits/test.npz --labels $digits/test_label.npy
expect 0 '20 samples, 10 classes' evaluate $digits/model.pt2 --data $digits/test.npz --labels $digits/test_label.npy --most 20
expect 1 '3 labels for 20 samples' evaluate $digits/model.pt2 --data $digits/test.npz --labels <(seq 0 2) --most 20
expect 0 '"top1": 0.987' evaluate $digits/model.pt2 --data $digits/test.npz --labels $digits/test_label.npy --json
mkdir -p "$dir/classes/cat" "$dir/classes/dog"
cp $digits/../pictures/00[0-4].* "$dir/classes/cat" && cp $digits/../pictures/00[5-9].* "$dir/classes/dog"
expect 0 '10 samples, 10 classes' evaluate "$dir/pictures.ir" --data "$dir/classes" --labels by-folder --preprocess 'resize=28 crop=24'
expect 0 'cat for' evaluate "$dir/pictures.ir" --data "$dir/classes" --labels by-folder --preprocess 'resize=28 crop=24'
seq 0 9 >"$dir/ten.txt"
expect 0 'takes' evaluate "$dir/pictures.ir" --data "$dir/classes" --labels "$dir/ten.txt" --preprocess 'resize=28 crop=24'
expect 0 '4 samples, 10 classes' evaluate "$dir/pictures.ir" --data "$dir/classes" --labels "$dir/ten.txt" --preprocess 'resize=28 crop=24' --most 4
expect 1 '10 labels for 5 samples' evaluate "$dir/pictures.ir" --data "$dir/classes/cat" --labels "$dir/ten.txt" --preprocess 'resize=28 crop=24'
expect 1 'the program has 10 classes' evaluate "$dir/pictures.ir" --data "$dir/classes/cat" --labels <(seq 10 14) --preprocess 'resize=28 crop=24'
expect 2 'needs images in folders' evaluate $digits/model.pt2 --data $digits/test.npz --labels by-folder
expect 2 '--data is missing' evaluate $digits/model.pt2

# Files for devices and other tools
expect 0 'f.tosa: 1 region' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz -o "$dir/f.tosa"
holds 'names and scales are beside it' grep -q '"zero_point"' "$dir/f.tosa.json"
expect 1 "needs i8" run "$dir/f.tosa" -i $digits/test.npz
expect 0 'f32[1000,10]' run "$dir/f.tosa" -i $digits/test.npz --dequantize
expect 0 '100.00 %  36.8 dB' evaluate $digits/model.pt2 "$dir/f.tosa" --data $digits/test.npz --labels $digits/test_label.npy --dequantize
expect 0 '1 values compared' compare $digits/model.pt2 "$dir/f.tosa" -i $digits/test.npz --dequantize
mv "$dir/f.tosa.json" "$dir/g.json"
expect 1 'have its scales' run "$dir/f.tosa" -i $digits/test.npz --dequantize
sed 's/"scale": \[/"scale": [1,/' "$dir/g.json" >"$dir/f.tosa.json"
expect 1 'do not match its type' run "$dir/f.tosa" -i $digits/test.npz --dequantize
expect 0 'digits-1.c: ' compile "$dir/t8.ir" -t TOSA-1.0+INT -o "$dir/digits-1.c"
holds 'the header has sizes' grep -q 'DIGITS_1_PLANNED_BYTES 3920' "$dir/digits-1.h"
holds 'and what the caller passes' grep -q 'f32\[1,1,28,28\]: real numbers; the program makes codes of this scale of them' "$dir/digits-1.h"
printf '#include <stdio.h>\n#include "digits-1.c"\nint main(void) { return fwrite(digits_1_pte, 1, DIGITS_1_PTE_BYTES, stdout) != DIGITS_1_PTE_BYTES; }\n' >"$dir/array.c"
holds 'a program can be made of it' cc -o "$dir/array" "$dir/array.c"
expect 0 'digits-1.pte: ' compile "$dir/t8.ir" -t TOSA-1.0+INT -o "$dir/digits-1.pte"
holds 'the array is the .pte' cmp <("$dir/array") "$dir/digits-1.pte"
holds 'the array is C' cc -Wall -Wextra -Werror -c -o "$dir/digits.o" "$dir/digits-1.c"
expect 0 'x.json: 1 region' compile "$dir/t8.ir" -t TOSA-1.0+INT --emit model-explorer -o "$dir/x.json"
holds 'nodes have a namespace' grep -q '"namespace": "features/0/0"' "$dir/x.json"
expect 0 'x.json: 1 region' compile $digits/model.pt2 -t ethos-u85-256+cortex-m55 --calib $digits/calib.npz --emit model-explorer -o "$dir/x.json"
holds 'a region has a graph of its own' grep -q '"id": "region_0"' "$dir/x.json"
holds 'with its TOSA operators' grep -q '"label": "conv2d"' "$dir/x.json"
expect 0 'o.json: report' compile $digits/model.pt2 -t ethos-u85-256+cortex-m55 --calib $digits/calib.npz --report "$dir/o.json"
expect 0 'x.json: 1 region' compile $digits/model.pt2 -t cortex-m55 --calib $digits/calib.npz --emit model-explorer -o "$dir/x.json"
expect 2 "did you mean 'model-explorer'" compile $digits/model.pt2 -t cpu --emit model-explor -o "$dir/x.json"
expect 0 'o.json: report' compile $digits/model.pt2 -t ethos-u85-256 --ethosu-backend own --calib $digits/calib.npz --report "$dir/o.json"
holds "our own back end says what lies where" grep -q 'Sram of the accelerator' "$dir/o.json"
holds 'and when' grep -q '"clock": \[' "$dir/o.json"
expect 0 'b.bin: 1 region' compile $digits/model.pt2 -t ethos-u55-128 --ethosu-backend own --calib $digits/calib.npz -o "$dir/b.bin"
expect 0 'f32[1000,10]' run "$dir/b.bin" -i $digits/test.npz --dequantize
expect 0 '40 operators on ethos-u55-128, 6 on the CPU' compile $digits/model.pt2 -t ethos-u55-128 --ethosu-backend own --calib $digits/calib.npz \
    --cpu conv2d_1 --cpu conv2d_2,conv2d_3 --cpu linear -o "$dir/left.pte"
if type -P vela >/dev/null; then # not the function above
    expect 0 'v.bin: 1 region' compile $digits/model.pt2 -t ethos-u55-128 --calib $digits/calib.npz -o "$dir/v.bin"
    expect 0 "payload for ethos-u55-128" inspect "$dir/v.bin"
    expect 0 '"machine": "ethos-u55-128"' inspect "$dir/v.bin" --json
    expect 0 "follow the machine's rules" verify "$dir/v.bin"
    expect 0 'f32[1000,10]' run "$dir/v.bin" -i $digits/test.npz --dequantize
    expect 0 'v.json: report' compile $digits/model.pt2 -t ethos-u85-256 --ethosu-backend vela --calib $digits/calib.npz --report "$dir/v.json"
    holds 'operations have their cycles' grep -q '"cycles": [1-9]' "$dir/v.json"
    holds "memory is the accelerator's" grep -q 'of the accelerator' "$dir/v.json"
fi

expect 0 'p.pte: ' compile $digits/model.pt2 -t cpu -o "$dir/p.pte" --locations
holds 'steps know their module' grep -qa 'features.1.conv.0.0' "$dir/p.pte"
expect 0 'f32[1000,10]' run "$dir/p.pte" -i $digits/test.npz
expect 0 'q.pte: ' compile "$dir/t8.ir" -t TOSA-1.0+INT -o "$dir/q.pte" --locations
holds "so do a delegate's" grep -qa 'hardtanh_5 = aten.hardtanh.default' "$dir/q.pte"

# TensorFlow Lite: a signature's names, what outlives a run, an axis that is left open.
tflite=fixture/tflite
npy three '<f4' '3,' "$one$one$two"
expect 0 'total     f32[3]' inspect $tflite/counter.tflite
expect 0 'rows      f32[?,3]' inspect $tflite/open.tflite
expect 0 '1       before  f32[3]            1            3            2' run $tflite/counter.tflite -i "$dir/three.npy"
expect 0 '0       total   f32[2,3]            0            7            3' run $tflite/counter.tflite -i "$dir/rows.npy"
expect 0 '0       total   f32[2,3]            0            5            3' run $tflite/counter.tflite -i "$dir/rows.npy" --reset
expect 0 'sizes  f32[2,3]            1            2' run $tflite/open.tflite -i "$dir/rows.npy"
expect 0 '1 operators on the CPU' compile $tflite/open.tflite --shape rows=2,3 -t cpu -o "$dir/open.pte"
expect 0 '0    f32[2,3]' inspect "$dir/open.pte"
expect 2 '--shape rows: 1 sizes, but the input has 2 axes' compile $tflite/open.tflite --shape rows=2 -t cpu -o "$dir/open.pte"
expect 2 '--shape x: the model has no input of that name' compile $tflite/open.tflite --shape x=2,3 -t cpu -o "$dir/open.pte"
expect 3 "(version 1) with input 1 ('t1') of UINT8" compile $tflite/codes.tflite -t cpu -o "$dir/open.pte"
expect 3 'a sequence of 2000000 steps; 1 to 16384 are built' compile $tflite/steps.tflite -t cpu -o "$dir/open.pte"
expect 1 'is f32[1,4], and is assigned f32[2,4]' compile $tflite/state.tflite -t cpu -o "$dir/open.pte"
npy four '<f4' '1, 4' "$one$two$one$two"
expect 0 'f32[1,2]          -13         2.75' run $tflite/blocks.tflite -i "$dir/four.npy"
# Which signature; and what the codes of its inputs and outputs stand for.
npy left '|i1' '4,' '\x05\x04\x03\x01'
npy right '|i1' '4,' '\xfd\xf9\xf5\xf9'
npy real '<f4' '4,' "$one$two$one$two"
expect 2 "dynamic range 'some': expected keep or real" run $tflite/dynamic.tflite -i random:1 --dynamic-range some
expect 0 '--dynamic-range keep leaves it as it is' compile $tflite/dynamic.tflite -t TOSA-1.0+INT --calib random:1 -o "$dir/static.tosa"
expect 0 '1 operators on TOSA-1.0+INT, 2 on the CPU' compile $tflite/dynamic.tflite -t TOSA-1.0+INT --calib random:1 -o "$dir/static.tosa"
expect 0 '9 operators on TOSA-1.0+INT' compile $tflite/dynamic.tflite -t TOSA-1.0+INT --calib random:1 -o "$dir/kept.tosa" --dynamic-range keep
expect 0 'i8[3,4] q(axis=0; 0.00999' quantize $tflite/dynamic.tflite --calib random:1 -o -
npy ones '<f4' '1, 4' '\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f'
expect 0 'f32[1,3]        -2.32         1.79' run $tflite/dynamic.tflite -i "$dir/ones.npy" --dynamic-range real
npy signs '|u1' '4' '\x7f\x80\x81\xff'
npy more '|u1' '4' '\x81\x81\x81\x81'
"$tosac" run $tflite/fine.tflite -i "$dir/signs.npy" -i "$dir/more.npy" -o "$dir/fine" >/dev/null 2>&1
holds 'all but zero is past the ends' test "$(tail -c 4 "$dir/fine/output_0.npy" | od -An -tu1 | tr -s ' ')" = ' 0 100 255 255'
npy wide '<i2' '1, 4' '\xac\x16\xc2\xe7\xe6\x6d\x8b\xb8'
"$tosac" run $tflite/curves16.tflite -i "$dir/wide.npy" -o "$dir/curves" >/dev/null 2>&1
holds "a leaky RELU's factors as TensorFlow Lite Micro has them" test "$(tail -c 8 "$dir/curves/output_0.npy" | od -An -td2 | tr -s ' ')" = ' 7007 -1026 32767 -3025'
holds "GELU by what is left of 1" test "$(tail -c 8 "$dir/curves/output_1.npy" | od -An -td2 | tr -s ' ')" = ' 5019 -740 28133 -5'
npy steps '|i1' '4, 1' '\x9c\x14\xa6\x03'
"$tosac" run $tflite/wraps.tflite -i "$dir/steps.npy" -o "$dir/wraps" >/dev/null 2>&1
holds 'a state of int8 goes past its end' test "$(tail -c 4 "$dir/wraps/output_0.npy" | od -An -td1 | tr -s ' ')" = ' 64 24 65 7'
expect 0 '1 operators on TOSA-1.0+INT+int16' compile $tflite/corners.tflite -t TOSA-1.0+INT+int16 -o "$dir/corners.tosa"
npy middle '|u1' '1, 1, 1, 1' '\x80'
expect 0 'u8[1,1,1,2]           39          217' run $tflite/uint8.tflite -i "$dir/middle.npy"
expect 0 'u8[1,2]               39          217' run $tflite/uint8.tflite -i "$dir/middle.npy"
for file in uint8.pte uint8.tflite; do
    expect 0 '1 region, 7 operators on ethos-u55-128, 0 on the CPU' compile $tflite/uint8.tflite -t ethos-u55-128 -o "$dir/$file"
    expect 0 'u8[1,1,1,2]           39          217' run "$dir/$file" -i "$dir/middle.npy"
done
expect 0 'input  u8[1,1,1,1]              1 bytes, payload has 1 bytes an element' inspect "$dir/uint8.pte"
expect 0 '1  CUSTOM ethos-u' inspect "$dir/uint8.tflite"
expect 0 '3 regions, 16 operators on ethos-u55-128, 3 on the CPU' compile $tflite/uint8_sums.tflite -t ethos-u55-128 --cpu tflite.ADD -o "$dir/sums.tflite"
expect 0 '2  RESHAPE' inspect "$dir/sums.tflite"
expect 0 'output 0                     u8         inf' compare $tflite/uint8_sums.tflite "$dir/sums.tflite" -i random:3
# What is detected, to the last bit as LiteRT's reference kernels have it; in a .tflite the operator stays what it is, with the shapes of its results.
found=$tflite/detection
same_found() { # MODEL KIND
    local k=0 word
    "$tosac" run "$1" -i $found/$2_boxes.npy -i $found/$2_scores.npy -o "$dir/found" >/dev/null 2>&1 || return 1
    for word in corners classes best count; do cmp -s "$dir/found/output_$k.npy" $found/$2_$word.npy || return 1; k=$((k + 1)); done
}
for kind in fast regular; do
    holds "what is detected, $kind" same_found $found/$kind.tflite $kind
    expect 0 '0 regions, 0 operators on ethos-u55-128, 1 on the CPU' compile $found/$kind.tflite -t ethos-u55-128 -o "$dir/$kind.tflite"
    expect 0 '1  CUSTOM TFLite_Detection_PostProcess' inspect "$dir/$kind.tflite"
    holds "the same, $kind, by the operator that stays" same_found "$dir/$kind.tflite" $kind
    expect 0 'the same numbers' compile $found/$kind.tflite -t ethos-u55-128 -o "$dir/$kind.pte"
    holds "the same, $kind, by ExecuTorch's operators" same_found "$dir/$kind.pte" $kind
done
expect 0 't3        f32[1,10,4]' inspect "$dir/fast.tflite"
sed 's/max_detections/max_detectionz/' $found/fast.tflite >"$dir/none.tflite"
expect 3 '0 boxes of 2 classes each (100 of a class); 1 to 1024 are built' run "$dir/none.tflite" -i random:1
expect 0 '2 graphs, 2 signatures: add, mul' inspect $tflite/two.tflite
expect 0 'product   i8[4] q(0.75:1)' inspect $tflite/two.tflite --signature mul
expect 0 'sum   i8[4]' run $tflite/two.tflite -i "$dir/left.npy" -i "$dir/right.npy"
expect 0 'product  i8[4]' run $tflite/two.tflite -i "$dir/left.npy" -i "$dir/right.npy" --signature mul
expect 0 'product  i8[4]' run $tflite/two.tflite -i "$dir/left.npy" -i "$dir/right.npy" --method g1
expect 1 "there is the signature 'mul'" run $tflite/two.tflite -i "$dir/left.npy" -i "$dir/right.npy" --signature div
expect 0 'product  f32[4]         0.75         3.75' run $tflite/two.tflite -i "$dir/real.npy" -i "$dir/real.npy" --signature mul --dequantize
expect 0 '1 region' compile $tflite/two.tflite --signature mul -t TOSA-1.0+INT+doubleround -o "$dir/two.tosa"
expect 3 "the file is quantized, and 'cpu' has no kernels for its integers" compile $tflite/two.tflite -t cpu -o "$dir/two.pte"
expect 0 'use --shape INPUT=SIZE,...' compile $tflite/open.tflite --dim N=2 -t cpu -o "$dir/open.pte"

# A report is a page, or the same as JSON
expect 0 'r.html: report' compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --report "$dir/r.html"
holds 'the page is whole' grep -q '</html>' "$dir/r.html"
expect 0 'r.json: report' compile $digits/model.pt2 -t cpu --report "$dir/r.json"
holds 'the JSON has its version' grep -q '"schema_version": 1' "$dir/r.json"
expect 2 '--report cannot be combined with --observe-only' quantize $digits/model.pt2 --calib $digits/calib.npz --observe-only -o "$dir/r.obs" --report "$dir/r.html"
expect 1 'r.html' compile $digits/model.pt2 -t cpu --report "$dir/no-such-folder/r.html"
# and is shown again, alone or beside another one
expect 0 'operators on the CPU' report "$dir/r.json"
expect 0 'again.html: report' report "$dir/r.json" -o "$dir/again.html"
holds 'a page made again is whole' grep -q '</html>' "$dir/again.html"
expect 0 'tables/nodes.csv: table' report "$dir/r.html" --csv "$dir/tables"
holds 'a table has a heading' grep -q '^name,op,' "$dir/tables/nodes.csv"
expect 0 'layers are the same' report "$dir/r.html" "$dir/r.json"
expect 0 '"layers_by"' report "$dir/r.html" "$dir/r.json" --json
expect 1 'this is not a report' report "$dir/abs.ir"
expect 2 '0 arguments' report

# a small decoder goes on with a text: the likeliest tokens, tokens by a seed, and what is no language model
lm=fixture/decoder
speaks="--tokenizer $lm/tokenizer.json --prompt compiler"
expect 0 'the methods share' compile $lm/prefill.pt2 $lm/decode.pt2 -t cpu -o "$dir/lm.pte"
expect 0 '5 tokens after a prompt of' generate "$dir/lm.pte" $speaks -n 5
expect 0 '1 window, 4 steps; a context of 64' generate "$dir/lm.pte" $speaks -n 5
expect 0 '"steps": 4' generate "$dir/lm.pte" $speaks -n 5 --json
holds 'two roads, one text' [ "$("$tosac" generate "$dir/lm.pte" $speaks -n 12 | head -1)" = "$("$tosac" generate $lm/forward.pt2 $speaks -n 12 | head -1)" ]
drawn() { "$tosac" generate "$dir/lm.pte" $speaks -n 12 --temperature 2 --top-k 40 --seed "$1" | head -1; }
holds 'a seed, a text' [ "$(drawn 3)" = "$(drawn 3)" ]
holds 'another seed, another text' [ "$(drawn 3)" != "$(drawn 4)" ]
expect 2 '--tokenizer FILE is missing' generate "$dir/lm.pte" --prompt x
expect 2 '--prompt TEXT is missing' generate "$dir/lm.pte" --tokenizer $lm/tokenizer.json
expect 2 'expected a number of at least 0' generate "$dir/lm.pte" $speaks --temperature -1
expect 2 'there is no such token' generate "$dir/lm.pte" $speaks --stop '<none>'
expect 1 'not a JSON value' generate "$dir/lm.pte" --tokenizer $lm/calib.npy --prompt x
expect 1 'its inputs must be integers' generate $digits/model.pt2 $speaks

# two methods, their weights once: the numbers of the file that has them twice, and fewer bytes
once="-t ethos-u85-256 -q a16w8 --ethosu-backend own --calib prefill=$lm/calib-prefill.npz --calib decode=$lm/calib-decode.npz"
expect 0 'ExecuTorch needs EthosUBackend (' compile $lm/decode.pt2 $lm/prefill.pt2 $once --share-weights -o "$dir/once.pte"
expect 0 'weights 100784 bytes that others have, too' inspect "$dir/once.pte"
expect 0 '' compile $lm/decode.pt2 $lm/prefill.pt2 -t TOSA-1.0+INT+int16 -q a16w8 --calib prefill=$lm/calib-prefill.npz --calib decode=$lm/calib-decode.npz --share-weights -o "$dir/same.pte"
holds 'weights once, one text' [ "$("$tosac" generate "$dir/once.pte" $speaks -n 12 | head -1)" = "$("$tosac" generate "$dir/same.pte" $speaks -n 12 | head -1)" ]
expect 0 'the methods share' compile $lm/decode.pt2 $lm/prefill.pt2 $once -o "$dir/twice.pte"
holds 'weights once, fewer bytes' [ $(($(wc -c <"$dir/once.pte") * 10)) -lt $(($(wc -c <"$dir/twice.pte") * 7)) ]
expect 0 '' compile $lm/prefill.pt2 $lm/decode.pt2 $once --share-weights -o "$dir/turned.pte"
holds 'weights once, whichever method is first' [ $(($(wc -c <"$dir/turned.pte") * 10)) -lt $(($(wc -c <"$dir/twice.pte") * 7)) ]

# weights among a file's named data (ExecuTorch 1.5), as tosac wrote them before: shown, run, and which runtime it needs
named=fixture/named
expect 0 "weights 464 bytes in the file's named data" inspect $named/two.pte
expect 0 'EthosUBackend of 1.5 or later' inspect $named/two.pte
expect 0 '' compile $named/one.ir $named/four.ir -t ethos-u85-256 --ethosu-backend own --share-weights -o "$dir/pieces.pte"
holds 'the same weights, fewer bytes' [ $(wc -c <"$dir/pieces.pte") -lt $(wc -c <$named/two.pte) ]
"$tosac" run $named/two.pte --method four -i random:3 -o "$dir/named" >/dev/null && "$tosac" run "$dir/pieces.pte" --method four -i random:3 -o "$dir/pieces" >/dev/null
holds 'and the same numbers' cmp "$dir/named/output_0.npy" "$dir/pieces/output_0.npy"

# what remembers: a spotter of words, frame by frame (examples/language/spotter.py), and speech as two methods (speech.py)
spot=fixture/spotter speech=fixture/speech
expect 0 '98.05 %' evaluate $spot/stream.pt2 --data $spot/frames.npy --labels $spot/labels.npy
expect 0 '1 region, 11 operators' compile $spot/stream.pt2 -t TOSA-1.0+INT --calib $spot/frames.npy -o "$dir/spot.pte"
expect 0 '+0.00 (+0.00 .. +0.00)  100.00 %' evaluate $spot/stream.pt2 "$dir/spot.pte" --data $spot/frames.npy --labels $spot/labels.npy
expect 0 'the methods share 8192 bytes' compile $speech/encode.pt2 $speech/decode.pt2 -t TOSA-1.0+INT --calib encode=$speech/mel.npy --calib decode=$speech/steps.npz -o "$dir/speech.pte"
expect 0 '' run "$dir/speech.pte" --method encode -i $speech/mel.npy -o "$dir"
expect 0 '1 region' compile $speech/decode.pt2 -t TOSA-1.0+INT --calib $speech/steps.npz -o "$dir/speak.pte"
expect 0 ' %  32.9 dB' evaluate $speech/decode.pt2 "$dir/speak.pte" --data $speech/steps.npz

echo "command line: $passed passed, $failed failed"
[ $failed = 0 ]
