#!/usr/bin/env python3
"""Networks as C for Cortex-M cores: the bytes of `tosac run`, on this machine and on the cores in QEMU.

    cortexm.py TOSAC [WORK [NAME...]]

The digits network in a8w8, a16w8, a8w4 and with the bits of weights by layer, a keyword spotter that keeps state from frame to frame, an LSTM whose state has 8 and 16 bits, and an LSTM
and a GRU (of 8 and 16 bits) whose steps are unrolled, which must be loops in C; each as C for three cores, compiled with every warning, for this machine and, where
arm-none-eabi-gcc and qemu-system-arm are installed, for the cores; and the quick kernels on random shapes.  Prints flash, RAM and instructions, which
`tosac profile` must have estimated, and holds the flash that `tosac compile` prints to what the compiler makes.  Ends with "N passed, N failed, N skipped".
"""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "../examples/cortex-m")
QEMU = "qemu-system-arm -display none -monitor none -serial null -semihosting-config enable=on,target=native -icount shift=0 -kernel app -M"
WARN = "-std=c11 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror"
BARE = "-ffunction-sections -fdata-sections -nostartfiles --specs=nano.specs -Wl,--gc-sections"
# target: flags, machine, linker script, instructions a tick of its counter
CORES = {
    "cortex-m55": ("-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3.ld", 31.25),
    "cortex-m4": ("-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386", "mps2.ld", 40),
    "cortex-m0plus": ("-mcpu=cortex-m0plus -mthumb", "mps2-an385", "mps2.ld", 40),
}
MODELS = {
    "digits": ["fixture/digits/model.pt2", "--calib", "fixture/digits/calib.npz"],
    "digits16": ["fixture/digits/model.pt2", "--calib", "fixture/digits/calib.npz", "-q", "a16w8"],
    "digits_few": ["fixture/digits/model.pt2", "--calib", "fixture/digits/calib.npz", "-q", "int8-4dB"],
    "digits4": ["fixture/digits/model.pt2", "--calib", "fixture/digits/calib.npz", "-q", "a8w4"],
    "spotter": ["fixture/spotter/stream.pt2", "--calib", "fixture/spotter/frames.npy"],
    "lstm": ["fixture/lstm/stream.pt2", "--calib", "fixture/lstm/samples.npy"],
    "lstm16": ["fixture/lstm/stream.pt2", "--calib", "fixture/lstm/samples.npy", "-q", "a16w8"],
    "unrolled": ["{work}/unrolled.ir", "--calib", "random:1"],
    "unrolled_gru": ["{work}/unrolled_gru.ir", "--calib", "random:1"],
    "unrolled_gru16": ["{work}/unrolled_gru.ir", "--calib", "random:1", "-q", "a16w8"],
}
STEPS = 24  # of the unrolled ones
SAMPLES = 6
SHAPES = 500
ESTIMATE = 0.15, 1000  # the estimate of instructions may be off by this part of them and so many
FLASH = 0.15, 600  # and that of code
SANITIZE = "-g -fsanitize=address,undefined -fno-sanitize-recover=all"


def recurrent(op, gates):
    """A recurrent network over STEPS steps, with random weights."""
    numbers, cells, width = random.Random(3), 12, 6

    def const(name, *dims):
        count = 1
        for d in dims:
            count *= d
        return f"  %{name} = const [{', '.join(f'{numbers.uniform(-0.6, 0.6):.5f}' for _ in range(count))}] : f32[{','.join(map(str, dims))}]\n"

    state = "%8, %8" if op == "lstm" else "%8"
    last = f", f32[1,1,{cells}]" * (2 if op == "lstm" else 1)
    return (f'graph @main(%0 "x": f32[1,{STEPS},{width}]) {{\n  %8 = full shape=[1,1,{cells}] value=0 dtype=f32 : f32[1,1,{cells}]\n'
            + const(1, gates * cells, width) + const(2, gates * cells, cells) + const(3, gates * cells) + const(4, gates * cells)
            + f"  %5, {'%6, %7' if op == 'lstm' else '%6'} = {op} %0, {state}, %1, %2, %3, %4 layers=1 bidirectional=false batch_first=true has_bias=true"
            + f" : f32[1,{STEPS},{cells}]{last}\n" + "  return %5\n}\n")


def run(command, folder):
    done = subprocess.run(command.split() if isinstance(command, str) else command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def write_npy(path, letter, kind, shape, values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head = head.ljust(117 - len(head) % 64 + len(head) // 64 * 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{letter}", *values))


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    return data[10 + struct.unpack("<H", data[8:10])[0] :]


def port(head, side):
    """Type, shape, scale and zero point of a model's one input or output."""
    kind, dims = re.search(rf"_{side}S 1\n/\* (\w+)\[([\d,]+)\]", head).groups()
    scale, zero = (float(re.search(rf"_{side}_0_{word} (\S+)", head)[1]) for word in ("SCALE", "ZERO_POINT"))
    return {"i8": "b", "i16": "h"}[kind], [int(d) for d in dims.split(",")], scale, int(zero)


def unpack(letter, data):
    return struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)


def expected(tosac, name, folder):
    """Codes for the inputs, and those that `tosac run` gives for the numbers that they stand for."""
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        head = f.read()
    letter, shape, scale, zero = port(head, "INPUT")
    count, numbers, bits = SAMPLES, random.Random(1), 8 * struct.calcsize(letter) - 1
    for d in shape:
        count *= d
    codes = [numbers.randrange(-(1 << bits), 1 << bits) for _ in range(count)]
    write_npy(f"{folder}/in.npy", "f", "<f4", [SAMPLES * shape[0], *shape[1:]], [scale * (c - zero) for c in codes])
    with open(f"{folder}/inputs.bin", "wb") as f:
        f.write(struct.pack(f"<{count}{letter}", *codes))
    run([tosac, "run", f"{folder}/{name}.ir", "-i", f"{folder}/in.npy", "-o", f"{folder}/out"], folder)
    letter, _, scale, zero = port(head, "OUTPUT")
    reals = unpack("f", read_npy(f"{folder}/out/output_0.npy"))
    return struct.pack(f"<{len(reals)}{letter}", *(round(r / scale) + zero for r in reals))


def sources(name, folder):
    state = []
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        if f"{name}_state;" in f.read():
            state = ["-DWITH_STATE"]
    return [f"-DMODEL={name}", f"-DMODEL_UPPER={name.upper()}", f'-DMODEL_HEADER="{name}.h"', *state, f"-I{EXAMPLE}", "-I.",
            f"{EXAMPLE}/replay.c", *sorted(f for f in os.listdir(folder) if f.endswith(".c"))]


def outputs(folder):
    with open(f"{folder}/outputs.bin", "rb") as f:
        return f.read()


def on_host(name, folder):
    run(["gcc", *WARN.split(), *SANITIZE.split(), *sources(name, folder), f"{EXAMPLE}/board_host.c", "-o", "host"], folder)
    run("./host", folder)


def on_core(name, target, folder):
    flags, machine, script, per_tick = CORES[target]
    board = [f"{EXAMPLE}/startup.c", f"{EXAMPLE}/board.c", "-T", f"{EXAMPLE}/{script}"]
    run(["arm-none-eabi-gcc", *WARN.split(), *BARE.split(), *flags.split(), *sources(name, folder), *board, "-lm", "-o", "app"], folder)
    said = run(f"{QEMU} {machine}", folder)
    size = dict(re.findall(r"^(\.\w+)\s+(\d+)", run("arm-none-eabi-size -A app", folder), re.M))
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        arena = re.search(r"_ARENA_BYTES (\d+)", f.read())[1]
    if size.get(".data", "0") != "0":
        raise RuntimeError(f"{name} on {target}: .data has {size['.data']} bytes")
    ticks = int(re.search(r"ticks (\d+)", said)[1])
    print(f"{name:8} {target:14} flash {size['.text']:>7}  arena {arena:>6}  instructions {ticks * per_tick:12,.0f}", flush=True)
    return ticks * per_tick


def try_cases(names, targets, attempt, lacks=""):
    """attempt(tosac, name, target, folder) for each, in a folder of its own; it raises, or gives how many checks passed and were skipped.
    The arguments of the program are TOSAC [WORK [NAME...]]; lacks: what the skipped ones lack."""
    tosac = os.path.abspath(sys.argv[1])
    work = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="cortexm")
    passed = failed = skipped = 0
    for name in sys.argv[3:] or names:
        for target in targets:
            folder = f"{work}/{name}-{target}"
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            try:
                good, left = attempt(tosac, name, target, folder) or (1, 0)
                passed, skipped = passed + good, skipped + left
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                print(e)
                failed += 1
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped: {lacks}" if skipped else ""))
    return failed != 0


def check_loops(name, folder):
    """Steps that are the same are written once."""
    if not name.startswith("unrolled"):
        return
    with open(f"{folder}/{name}.c", encoding="utf-8") as f:
        text = f.read()
    times = max((int(n) for n in re.findall(r"// (\d+) times", text)), default=1)
    if times < STEPS - 3:
        raise RuntimeError(f"{name}: no loop of {STEPS} steps, but of {times}")


def check_flash(name, target, said, folder):
    """What `tosac compile` says beside the objects of the model and its kernels."""
    flash, constants, code = (int(v) for v in re.search(r"(\d+) bytes of flash \((\d+) of constants, about (\d+) of code\)", said).groups())
    files = sorted(f for f in os.listdir(folder) if f.endswith(".c"))
    run(["arm-none-eabi-gcc", *WARN.split(), *CORES[target][0].split(), "-c", *files], folder)
    sizes = run(["arm-none-eabi-size", *(f[:-2] + ".o" for f in files)], folder)
    made = sum(int(line.split()[0]) for line in sizes.splitlines()[1:])
    print(f"{name:8} {target:14} flash {made} compiled, {flash} said ({code} of code)", flush=True)
    if flash != constants + code or abs(flash - made) > FLASH[0] * (made - constants) + FLASH[1]:
        raise RuntimeError(f"{name} on {target}: {flash} bytes of flash are said, {made} are made")


def check_estimate(tosac, model, name, target, counted):
    """What `tosac profile` says beside QEMU's count."""
    done = subprocess.run([tosac, "profile", *model, "-t", target, "--json"], cwd=HERE, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    error = said["instructions"] / counted - 1
    print(f"{name:8} {target:14} estimated {said['instructions']:12,.0f} instructions: {100 * error:+.1f} %", flush=True)
    if abs(said["instructions"] - counted) > ESTIMATE[0] * counted + ESTIMATE[1]:
        raise RuntimeError(f"{name} on {target}: the estimate is {100 * error:+.1f} % off")


def fuzz(target, folder):
    """The quick kernels on random shapes; target None: on this machine."""
    kernels = f"{HERE}/../src/cortexm/kernels"
    files = [f"{HERE}/cortexm_fuzz.c", *(f"{kernels}/tosac_{k}.c" for k in ("conv2d_s8", "conv2d_s8_s16", "conv2d_s8_s32", "conv2d_s16", "conv2d_s16_wide", "conv2d_packed", "unpack", "depthwise_s8", "depthwise_packed", "depthwise_s16", "sums", "conv_any", "matmul"))]
    common = [*WARN.split(), f"-DSHAPES={SHAPES}", f"-I{EXAMPLE}", f"-I{kernels}", *files]
    if target:
        flags, machine, script, _ = CORES[target]
        run(["arm-none-eabi-gcc", *common, *BARE.split(), *flags.split(), f"{EXAMPLE}/startup.c", f"{EXAMPLE}/board.c", "-T", f"{EXAMPLE}/{script}", "-o", "app"],
            folder)
        run(f"{QEMU} {machine}", folder)
    else:
        run(["gcc", *common, *SANITIZE.split(), f"{EXAMPLE}/board_host.c", "-o", "host"], folder)
        run("./host", folder)
    print(f"kernels  {target or 'host':14} {SHAPES} random shapes equal", flush=True)


def main():
    tosac = os.path.abspath(sys.argv[1])
    work = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="cortexm")
    cores = shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")
    passed = failed = skipped = 0
    for target in (None, *CORES):
        if target and not cores:
            skipped += 1
            continue
        try:
            os.makedirs(work, exist_ok=True)
            fuzz(target, work)
            passed += 1
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            print(e)
            failed += 1
    for name, graph in ("unrolled", recurrent("lstm", 4)), ("unrolled_gru", recurrent("gru", 3)):
        with open(f"{work}/{name}.ir", "w", encoding="utf-8") as f:
            f.write(graph)
    for name in sys.argv[3:] or MODELS:
        model = [w.format(work=work) for w in MODELS[name]]
        for target in CORES:
            folder = f"{work}/{name}-{target}"
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            try:
                said = {kind: run([tosac, "compile", *model, "-t", target, "--emit", kind, "-o", f"{folder}/{name}.{kind}"], HERE) for kind in ("c", "ir")}
                check_loops(name, folder)
                want = expected(tosac, name, folder)
            except RuntimeError as e:
                print(e)
                failed += 1
                continue
            for where in ("host", "core"):
                if where == "core" and not cores:
                    skipped += 1
                    continue
                try:
                    if where == "host":
                        on_host(name, folder)
                    else:
                        check_estimate(tosac, model, name, target, on_core(name, target, folder))
                        check_flash(name, target, said["c"], folder)
                    good = outputs(folder) == want
                    if not good:
                        print(f"{name} for {target} on the {where}: other bytes than 'tosac run'")
                except (RuntimeError, subprocess.TimeoutExpired) as e:
                    print(e)
                    good = False
                passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped: no arm-none-eabi-gcc or qemu-system-arm" if skipped else ""))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
