#!/usr/bin/env python3
"""Models as plain C for a Cortex-M, built for this machine, beside `tosac run` of the same program.

    cortexm_world.py TOSAC WORK FOLDER... [--target cortex-m55] [--most BYTES] [--qemu]

FOLDER has model.pt2 and calib.npy or calib.npz.  Inputs are random codes; what the C gives must be the codes of what the compiled
program gives, all of them.  --most leaves out models with more bytes of constants, --qemu runs them on the core in QEMU too, where
memory allows it.  Needs gcc, numpy.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "../../examples/cortex-m")
SEMI = "-display none -monitor none -serial null -semihosting-config enable=on,target=native -icount shift=0"
# target: flags, machine, linker script, instructions a tick
CORES = {
    "cortex-m55": ("-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3.ld", 31.25),
    "cortex-m4": ("-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386", "mps2.ld", 40),
}
BARE = "-ffunction-sections -fdata-sections -nostartfiles --specs=nano.specs -Wl,--gc-sections"
SAMPLES = 2
DTYPES = {"i8": numpy.int8, "i16": numpy.int16, "i32": numpy.int32, "bool": numpy.uint8}
MAIN = """
#include "board.h"
#include "model.h"
%(ports)s
int main(void)
{
    int from = board_open("inputs.bin", 0), to = board_open("outputs.bin", 1);
    uint32_t ticks = 0;
    board_start_ticks();
    %(start)s
    while (board_read(from, input_0, sizeof input_0) == 0) {
        %(reads)s
        uint32_t begin = board_ticks();
        model_run(%(arguments)s);
        ticks = (board_ticks() - begin) & 0xFFFFFF;
        %(writes)s
    }
    board_print_number("ticks", ticks);
    return 0;
}
"""


def run(command, folder=None, timeout=900):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=timeout)
    if done.returncode:
        errors = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line]
        raise RuntimeError((errors or [done.stderr[-300:]])[0][:300])
    return done.stdout + done.stderr


def ports(head, side):
    """Type, shape, name, scale and zero point (or None) of each."""
    found = []
    for text in re.split(r"(?=/\* \w+\[)", head):
        m = re.match(rf"/\* (\w+)\[([\d,]*)\] \*/\n#define MODEL_{side}_\d+_NAME \"(.*)\"", text)
        if not m:
            continue
        scale, zero = re.search(r"_SCALE (\S+)", text), re.search(r"_ZERO_POINT (\S+)", text)
        dims = tuple(int(d) for d in m[2].split(",") if d)
        found.append((m[1], dims, m[3], float(scale[1]) if scale else None, int(zero[1]) if zero else None))
    return found


def codes(random, port):
    kind, dims, _, scale, _ = port
    if kind == "bool":
        return random.integers(0, 2, dims).astype(numpy.uint8)
    if kind == "i32" and scale is None:
        return random.integers(0, 8, dims).astype(numpy.int32)
    info = numpy.iinfo(DTYPES[kind])
    return random.integers(-info.max, info.max + 1, dims).astype(DTYPES[kind])


def given(values, port, dtype):
    """What the program is given for the codes."""
    if port[3] is None:
        return values.astype(dtype)
    return ((values.astype(numpy.float64) - port[4]) * port[3]).astype(numpy.float32)


def main_c(head, inputs, outputs):
    declared = "".join(f"static _Alignas(16) uint8_t {s}_{i}[MODEL_{s.upper()}_{i}_BYTES];\n"
                       for s, n in (("input", len(inputs)), ("output", len(outputs))) for i in range(n))
    arguments = [f"(const void *)input_{i}" for i in range(len(inputs))] + [f"(void *)output_{i}" for i in range(len(outputs))]
    state = "model_state;" in head
    return MAIN % {
        "ports": declared + ("static model_state state;\n" if state else ""),
        "start": "model_start(&state);" if state else "",
        "reads": " ".join(f"board_read(from, input_{i}, sizeof input_{i});" for i in range(1, len(inputs))),
        "writes": " ".join(f"board_write(to, output_{i}, sizeof output_{i});" for i in range(len(outputs))),
        "arguments": ", ".join((["&state"] if state else []) + arguments),
    }


def declared(folder):
    """The program's own types of inputs, by name."""
    with open(f"{folder}/model.ir", encoding="utf-8") as f:
        line = re.search(r"^graph @main\((.*?)\) \{", f.read(), re.M)[1]
    return dict(re.findall(r'"([^"]*)": (\w+)\[', line))


def expected(args, folder, inputs, outputs, samples):
    """Bytes of all outputs, sample by sample, as `tosac run` of the compiled program has them."""
    types, whole = declared(folder), b""
    for sample in samples:
        arrays = {p[2]: given(v, p, {"i64": numpy.int64, "bool": bool}.get(types.get(p[2]), DTYPES[p[0]])) for p, v in zip(inputs, sample)}
        numpy.savez(f"{folder}/in.npz", **arrays)
        shutil.rmtree(f"{folder}/out", ignore_errors=True)
        run([args.tosac, "run", f"{folder}/model.ir", "-i", f"{folder}/in.npz", "-o", f"{folder}/out"])
        for i, p in enumerate(outputs):
            y = numpy.load(f"{folder}/out/output_{i}.npy")
            if p[3] is not None:
                y = numpy.rint(y.astype(numpy.float64) / p[3]) + p[4]
            whole += y.astype(DTYPES[p[0]]).tobytes()
    return whole


def build(folder, target):
    sources = sorted(glob.glob(f"{folder}/*.c"))
    if target:
        flags, machine, script, per_tick = CORES[target]
        run(["arm-none-eabi-gcc", "-std=c11", "-O2", *BARE.split(), *flags.split(), f"-I{EXAMPLE}", "-I.", *sources, f"{EXAMPLE}/startup.c",
             f"{EXAMPLE}/board.c", "-T", f"{EXAMPLE}/{script}", "-o", "app"], folder)
        said = run(["qemu-system-arm", "-M", machine, *SEMI.split(), "-kernel", "app"], folder)
        return int(re.search(r"ticks (\d+)", said)[1]) * per_tick
    run(["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", f"-I{EXAMPLE}", "-I.", *sources, f"{EXAMPLE}/board_host.c", "-o", "host"], folder)
    run(["./host"], folder)
    return 0


def outputs_of(folder):
    with open(f"{folder}/outputs.bin", "rb") as f:
        return f.read()


def try_model(args, source):
    folder = os.path.join(args.work, os.path.basename(source))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    calib = glob.glob(f"{source}/calib.np[yz]")
    options = [f"{source}/model.pt2", "-t", args.target, "--no-execute", *(["--calib", calib[0]] if calib else ["--calib", "random:4"])]
    begin = time.monotonic()
    run([args.tosac, "compile", *options, "--emit", "c", "-o", f"{folder}/model.c"])
    with open(f"{folder}/model.h", encoding="utf-8") as f:
        head = f.read()
    constants, arena = int(re.search(r"CONSTANT_BYTES (\d+)", head)[1]), int(re.search(r"ARENA_BYTES (\d+)", head)[1])
    if constants > args.most:
        return f"too large: {constants} bytes of constants"
    run([args.tosac, "compile", *options, "--emit", "ir", "-o", f"{folder}/model.ir"])
    seconds = time.monotonic() - begin
    inputs, outputs = ports(head, "INPUT"), ports(head, "OUTPUT")
    random = numpy.random.default_rng(1)
    count = 1 if "model_state;" in head else SAMPLES
    samples = [[codes(random, p) for p in inputs] for _ in range(count)]
    with open(f"{folder}/inputs.bin", "wb") as f:
        f.write(b"".join(v.tobytes() for s in samples for v in s))
    with open(f"{folder}/main.c", "w", encoding="utf-8") as f:
        f.write(main_c(head, inputs, outputs))
    want = expected(args, folder, inputs, outputs, samples)
    build(folder, None)
    words = "equal" if outputs_of(folder) == want else "DIFFERENT"
    if args.qemu:
        count = build(folder, args.target)
        words += f", on the core {'equal' if outputs_of(folder) == want else 'DIFFERENT'}, {count:,.0f} instructions"
    return f"{words}; constants {constants}, arena {arena}, compiled twice in {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("work")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--target", default="cortex-m55")
    parser.add_argument("--most", type=int, default=4 << 20)
    parser.add_argument("--qemu", action="store_true")
    args = parser.parse_args()
    args.tosac, args.work = os.path.abspath(args.tosac), os.path.abspath(args.work)
    tally = {}
    for source in args.folders:
        try:
            words = try_model(args, os.path.abspath(source))
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError, ValueError) as e:
            words = f"refused: {e}"
        tally[words.split(":")[0].split(";")[0].split(",")[0]] = tally.get(words.split(":")[0].split(";")[0].split(",")[0], 0) + 1
        print(f"{os.path.basename(source):28} {words}", flush=True)
    print(", ".join(f"{n} {w}" for w, n in tally.items()))
    return "DIFFERENT" in tally


if __name__ == "__main__":
    sys.exit(main())
