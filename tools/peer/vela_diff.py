#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vela's command streams beside the TOSA reference model, on random integer graphs.

    vela_diff.py TOSAC [--count N] [--seed S] [--on ACCELERATOR,...] [--keep DIR] [--detours] [--seconds S]

Run it with the Python that has tosa_reference_model and ethosu.vela.  A graph is a few operators that Vela joins, cuts and moves:
changes of scale, sums, slices, pads, joins, transposes, reductions, products.  The reference model gives what is expected, Vela
(in a child) a stream, `tosac run X_vela.npz` what the machine computes.  --detours: the graph goes through `tosac compile` first, as a
user's would.  A graph that differs is made smaller by taking operators away, and kept with --keep.  Ends with "N passed, N failed".
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tosa_write import Graph, serialize  # noqa: E402

PATH = os.environ["PATH"]
os.environ["PATH"] = ""  # the reference model starts a debugger where it finds one
import tosa_reference_model as model  # noqa: E402

os.environ["PATH"] = PATH
SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}
NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32}
SINGLE = dict(scale32=True, rounding_mode=1, input_unsigned=False, output_unsigned=False)


class Maker:
    """A recipe is a list of (step, random number); the same recipe makes the same graph."""

    def __init__(self, recipe, seed):
        self.g, self.pool = Graph("main", "r"), []
        for k, (step, salt) in enumerate(recipe):
            self.rng = np.random.default_rng([seed, salt])
            try:
                made = getattr(self, step)()
            except (IndexError, ValueError):
                made = None
            if made:
                self.pool.append(made)
        used = {o for op in self.g.operators for o in op[1]}
        for name in [p for p in self.pool if p not in used and p not in self.g.inputs][:4]:
            self.g.output(name)
        self.ok = bool(self.g.outputs) and all(i in used for i in self.g.inputs)

    def pick(self, *dtypes):
        found = [p for p in self.pool if self.g.type[p][0] in dtypes]
        return found[-1 - int(self.rng.integers(0, min(3, len(found))))]

    def zero(self, dtype, value=0):
        return self.g.const(dtype, np.array([value], NUMPY[dtype]))

    def begin(self):
        dtype = ("i8", "i8", "i8", "i16", "i32")[int(self.rng.integers(0, 5))]
        shape = (1, *(int(v) for v in self.rng.integers(1, 7, 3)))
        top = {"i8": 128, "i16": 2 ** 15, "i32": 2 ** 17}[dtype]
        return self.g.input(dtype, shape, self.rng.integers(-top, top, shape))

    def rescale(self):
        x = self.pick("i8", "i16", "i32")
        frm, shape = self.g.type[x]
        to = ("i8", "i16", "i32")[int(self.rng.integers(0, 3))]
        bits = {"i8": 8, "i16": 16, "i32": 20}
        whole = self.rng.random() < 0.4
        factor = float(2 ** int(self.rng.integers(0, 4))) if whole else float(np.exp(self.rng.uniform(-3, 1)))
        if bits[to] < bits[frm]:
            factor *= 2.0 ** (bits[to] - bits[frm])
        exponent = int(np.floor(np.log2(factor))) + 1
        multiplier, shift = int(round(factor * 2.0 ** (31 - exponent))), 31 - exponent
        if multiplier == 2 ** 31:
            multiplier, shift = 2 ** 30, shift - 1
        if not 2 <= shift <= 62 or (frm == "i32" and shift < 24):
            return None
        zp = int(self.rng.integers(-20, 20)) if frm == "i8" else 0
        zq = int(self.rng.integers(-20, 20)) if to == "i8" else 0
        return self.g.op("RESCALE", [x, self.g.const("i32", np.array([multiplier], np.int32)), self.g.const("i8", np.array([shift], np.int8)),
                                     self.zero(frm, zp), self.zero(to, zq)], [(to, shape)], per_channel=False, **SINGLE)

    def binary(self):
        op = ("ADD", "SUB", "MAXIMUM", "MINIMUM", "MUL")[int(self.rng.integers(0, 5))]
        a = self.pick("i32")
        shape = self.g.type[a][1]
        mates = [p for p in self.pool if self.g.type[p] == ("i32", shape)]
        b = mates[int(self.rng.integers(0, len(mates)))]
        more = {"nan_mode": 1} if op[:2] in ("MA", "MI") else {}
        if op == "MUL":
            return self.g.op(op, [a, b, self.zero("i8", int(self.rng.integers(0, 12)))], [("i32", shape)])
        return self.g.op(op, [a, b], [("i32", shape)], **more)

    def slice(self):
        x = self.pick("i8", "i16", "i32")
        dtype, shape = self.g.type[x]
        start = [int(self.rng.integers(0, d)) if self.rng.random() < 0.5 else 0 for d in shape]
        size = [int(self.rng.integers(1, d - s + 1)) if self.rng.random() < 0.5 else d - s for d, s in zip(shape, start)]
        return self.g.op("SLICE", [x, self.g.shape(start), self.g.shape(size)], [(dtype, tuple(size))])

    def concat(self):
        x = self.pick("i8", "i16", "i32")
        dtype, shape = self.g.type[x]
        axis = int(self.rng.integers(1, len(shape)))
        mates = [p for p in self.pool if self.g.type[p][0] == dtype and len(self.g.type[p][1]) == len(shape) and
                 all(a == b for i, (a, b) in enumerate(zip(self.g.type[p][1], shape)) if i != axis)]
        y = mates[int(self.rng.integers(0, len(mates)))]
        out = list(shape)
        out[axis] += self.g.type[y][1][axis]
        return self.g.op("CONCAT", [x, y], [(dtype, tuple(out))], axis=axis)

    def pad(self):
        x = self.pick("i8", "i16", "i32")
        dtype, shape = self.g.type[x]
        pads = [0, 0] + [int(v) for v in self.rng.integers(0, 3, 2 * (len(shape) - 1))]
        out = tuple(d + pads[2 * i] + pads[2 * i + 1] for i, d in enumerate(shape))
        return self.g.op("PAD", [x, self.g.shape(pads), self.zero(dtype)], [(dtype, out)])

    def reshape(self):
        x = self.pick("i8", "i16", "i32")
        dtype, shape = self.g.type[x]
        k = int(self.rng.integers(1, len(shape)))
        out = list(shape[:k - 1]) + [shape[k - 1] * shape[k]] + list(shape[k + 1:])
        out = [1] * (4 - len(out)) + out
        return self.g.op("RESHAPE", [x, self.g.shape(out)], [(dtype, tuple(out))])

    def transpose(self):
        x = self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        perm = [0] + [1 + int(v) for v in self.rng.permutation(len(shape) - 1)]
        return self.g.op("TRANSPOSE", [x], [(dtype, tuple(shape[p] for p in perm))], perms=perm)

    def clamp(self):
        x = self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        return self.g.op("CLAMP", [x], [(dtype, shape)], min_val=np.int8(-50).tobytes(), max_val=np.int8(90).tobytes(), nan_mode=1) if dtype == "i8" else None

    def reduce(self):
        op = ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_SUM")[int(self.rng.integers(0, 3))]
        x = self.pick("i32") if op == "REDUCE_SUM" else self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        axis = int(self.rng.integers(1, len(shape)))
        out = tuple(1 if i == axis else d for i, d in enumerate(shape))
        return self.g.op(op, [x], [(dtype, out)], axis=axis, **({} if op == "REDUCE_SUM" else {"nan_mode": 1}))

    def matmul(self):
        x = self.pick("i8")
        _, shape = self.g.type[x]
        n, h, c = int(np.prod(shape[:-2])), shape[-2], shape[-1]
        a = self.g.op("RESHAPE", [x, self.g.shape([n, h, c])], [("i8", (n, h, c))])
        b = self.g.op("TRANSPOSE", [a], [("i8", (n, c, h))], perms=[0, 2, 1])
        y = self.g.op("MATMUL", [a, b, self.zero("i8"), self.zero("i8")], [("i32", (n, h, h))])
        return self.g.op("RESHAPE", [y, self.g.shape([1, n, h, h])], [("i32", (1, n, h, h))]) if self.rng.random() < 0.7 else y

    def conv(self):
        x = self.pick("i8")
        _, shape = self.g.type[x]
        oc, k = int(self.rng.integers(1, 9)), 1 if min(shape[1:3]) < 3 or self.rng.random() < 0.5 else 3
        w = self.rng.integers(-127, 128, (oc, k, k, shape[3]))
        out = (shape[0], shape[1] - k + 1, shape[2] - k + 1, oc)
        return self.g.op("CONV2D", [x, self.g.const("i8", w.astype(np.int8)), self.g.const("i32", self.rng.integers(-999, 999, oc).astype(np.int32)),
                                    self.zero("i8"), self.zero("i8")], [("i32", out)], pad=[0, 0, 0, 0], stride=[1, 1], dilation=[1, 1],
                         local_bound=False, acc_type="i32")


STEPS = ["begin", "rescale", "rescale", "rescale", "binary", "binary", "slice", "slice", "concat", "concat", "pad", "reshape", "transpose", "clamp",
         "reduce", "matmul", "conv"]


def recipe_of(seed, number):
    rng = np.random.default_rng([seed, number])
    return [("begin", 1), ("rescale", 2)] + [(STEPS[int(rng.integers(0, len(STEPS)))], 3 + k) for k in range(int(rng.integers(2, 9)))]


def quietly(function):
    """In a child that says nothing: its exit status."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            function()
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def by_vela(file, accelerator, folder):
    from ethosu.vela import vela
    system, memory = SYSTEM[accelerator.split("-")[1]]
    argv = [file, "--accelerator-config", accelerator, "--config", "Arm/vela.ini", "--system-config", system, "--memory-mode", memory,
            "--output-format", "raw", "--output-dir", folder]
    return quietly(lambda: vela.main(argv)) == 0


def judge(options, accelerator, recipe, seed):
    """'' when equal, None when it is not taken, or what is wrong."""
    made = Maker(recipe, seed)
    if not made.ok:
        return None
    file = serialize([made.g])
    kept = os.dup(2), os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2), os.dup2(null, 1)
    try:
        want, status = model.run(file, made.g.feeds)
    finally:
        os.dup2(kept[0], 2), os.dup2(kept[1], 1)
        for f in (*kept, null):
            os.close(f)
    if status.name != "TOSA_VALID":
        return None
    with tempfile.TemporaryDirectory() as d:
        path, program = os.path.join(d, "g.tosa"), os.path.join(d, "g_vela.npz")
        open(path, "wb").write(file)
        if options.detours:
            program = os.path.join(d, "g.pte")
            done = subprocess.run([options.tosac, "compile", path, "-t", accelerator, "-o", program], capture_output=True, text=True)
            if done.returncode:
                return f"compile: {done.stderr.strip()[-200:]}" if "[stream]" in done.stderr else None
        elif not by_vela(path, accelerator, d):
            return None
        files = []
        for i, x in enumerate(made.g.feeds):
            files += ["-i", os.path.join(d, f"in{i}.npy")]
            np.save(files[-1], x)
        done = subprocess.run([options.tosac, "run", program, *files, "-o", d, "--raw"], capture_output=True, text=True)
        if done.returncode:
            return f"run: {done.stderr.strip()[-160:]}"
        for i, ref in enumerate(want):
            got = np.load(os.path.join(d, f"output_{i}.npy"))
            if got.size != ref.size or not np.array_equal(got.reshape(ref.shape), ref):
                return f"output {i} {ref.shape} {ref.dtype}: {int(np.sum(got.reshape(-1) != ref.reshape(-1)))} of {ref.size} differ"
    return ""


def smaller(options, accelerator, recipe, seed, words):
    """Steps are taken away as long as it still differs."""
    k = 1
    while k < len(recipe):
        less = recipe[:k] + recipe[k + 1:]
        said = judge(options, accelerator, less, seed)
        if said:
            recipe, words = less, said
        else:
            k += 1
    return recipe, words


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac")
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--from", type=int, default=0, dest="first")
    ap.add_argument("--on", default="ethos-u55-128,ethos-u65-256,ethos-u65-512,ethos-u85-256")
    ap.add_argument("--keep")
    ap.add_argument("--detours", action="store_true")
    ap.add_argument("--seconds", type=float, default=1e9)
    options = ap.parse_args()
    total, began, kinds = collections.Counter(), time.time(), collections.Counter()
    for accelerator in options.on.split(","):
        for number in range(options.first, options.first + options.count):
            if time.time() - began > options.seconds:
                break
            recipe = recipe_of(options.seed, number)
            words = judge(options, accelerator, recipe, number)
            total["skipped" if words is None else "failed" if words else "passed"] += 1
            if not words:
                continue
            recipe, words = smaller(options, accelerator, recipe, number, words)
            made = Maker(recipe, number)
            ops = [op[0] for op in made.g.operators if not op[0].startswith("CONST")]
            kinds[" ".join(ops)] += 1
            print(f"{accelerator} {number}: {' '.join(ops)}: {words}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                open(os.path.join(options.keep, f"{accelerator}-{options.seed}-{number}.tosa"), "wb").write(serialize([made.g]))
    for ops, n in kinds.most_common(12):
        print(f"  {n:4d}  {ops}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return total["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
