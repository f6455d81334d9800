#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random weights through Vela's encoder and back.     npu_weights.py NPU_WEIGHTS [--n 2000] [--on ethos-u55-128,ethos-u65-512,ethos-u85-256,ethos-u85-1024] [--seed 1]

Convolutions and depthwise convolutions of random shapes, strides, dilations and kinds of weights (all values, few, sparse, two of four,
equal) are compiled by Vela; what build/npu-weights decodes from the stream must be the tensor that was given.  The n tensors are spread
over the accelerators.  Vela must be on the PATH, in the Python that runs this.
"""
import argparse, collections, glob, os, subprocess, sys, tempfile
import numpy as np
import tosa_write
from npu_vela import compile

ap = argparse.ArgumentParser()
ap.add_argument("tool"); ap.add_argument("--n", type=int, default=2000); ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--on", default="ethos-u55-32,ethos-u55-128,ethos-u55-256,ethos-u65-512,ethos-u85-128,ethos-u85-256,ethos-u85-512,ethos-u85-1024,ethos-u85-2048")
A = ap.parse_args()


def weights(rng, shape):
    kind = rng.integers(6)
    w = rng.integers(-127, 128, shape)
    if kind == 1:
        w = rng.choice(rng.integers(-127, 128, rng.integers(1, 20)), shape)
    elif kind == 2:
        w = w * (rng.random(shape) < rng.random())
    elif kind == 3:
        w = np.clip(np.rint(rng.normal(0, rng.integers(1, 30), shape)), -127, 127).astype(np.int64)
    elif kind == 4:  # two of every four input channels
        pad = np.zeros((*shape[:-1], -(-shape[-1] // 4) * 4), bool)
        groups = pad.reshape(-1, 4)
        for g in groups:
            g[rng.permutation(4)[:2]] = True
        w = w * pad[..., :shape[-1]]
    elif kind == 5:
        w = np.full(shape, rng.integers(-127, 128))
    return w.astype(np.int8)


def network(rng):
    """A graph of one convolution, and its weights as [o, kh, kw, i]."""
    wide, depthwise = bool(rng.integers(4) == 0), bool(rng.integers(4) == 0)
    kh, kw = (int(k) for k in rng.integers(1, rng.choice([2, 4, 8, 10]), 2))
    stride, dilation = [int(s) for s in rng.integers(1, 4, 2)], [int(d) for d in rng.integers(1, 3, 2)]
    if max(dilation) > 1:
        stride = [1, 1]
    i, o = int(rng.integers(1, rng.choice([9, 33, 150]))), int(rng.integers(1, rng.choice([9, 40, 200])))
    oh, ow = (int(v) for v in rng.integers(1, 5, 2))
    h, w = ((n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip((oh, ow), stride, (kh, kw), dilation))
    g = tosa_write.Graph("main")
    x = g.input("i16" if wide else "i8", (1, h, w, i))
    acc = "i48" if wide else "i32"
    if depthwise:
        o, dense = i, weights(rng, (kh, kw, i, 1))
        given = dense.transpose(2, 0, 1, 3)
    else:
        dense = given = weights(rng, (o, kh, kw, i))
    bias = rng.integers(-1000, 1000, o)
    zeros = [g.const("i16" if wide else "i8", np.zeros(1, np.int16 if wide else np.int8)), g.const("i8", np.zeros(1, np.int8))]
    y = g.op("DEPTHWISE_CONV2D" if depthwise else "CONV2D", [x, g.const("i8", dense), g.const(acc, bias), *zeros], [(acc, (1, oh, ow, o))],
             pad=[0, 0, 0, 0], stride=stride, dilation=dilation, local_bound=False, acc_type=acc)
    out = "i16" if wide else "i8"
    m = np.full(1, 20000, np.int16) if wide else np.full(1, 1 << 30, np.int32)
    y = g.op("RESCALE", [y, g.const("i16" if wide else "i32", m), g.const("i8", np.full(1, 30 if wide else 40, np.int8)),
                         g.const(acc, np.zeros(1, np.int64)), g.const(out, np.zeros(1, np.int16))], [(out, (1, oh, ow, o))],
             scale32=not wide, rounding_mode=1, per_channel=False, input_unsigned=False, output_unsigned=False)
    g.output(y)
    return tosa_write.serialize([g]), given.astype(np.int64)


def try_one(rng, accelerator):
    data, given = network(rng)
    with tempfile.TemporaryDirectory() as t:
        open(t + "/w.tosa", "wb").write(data)
        made = compile(t + "/w.tosa", accelerator, t + "/vela")
        if not made:
            return "refused", []
        done = subprocess.run([A.tool, made, t], capture_output=True, text=True)
        if done.returncode:
            return "wrong: " + done.stderr.strip()[-200:], []
        lines = done.stdout.splitlines()
        parts = [np.load(line.split()[0]).astype(np.int64) for line in lines]
        kinds = [" ".join(line.split()[5:-2]) for line in lines]
        if not parts or any(p.shape[1:] != given.shape[1:] for p in parts) or sum(p.shape[0] for p in parts) != given.shape[0]:
            # the operation was cut up: every piece that it became must be made of the given numbers
            return "in pieces", kinds
        return "equal" if np.array_equal(np.concatenate(parts), given) else "wrong", kinds


rng, total, kinds, wrong = np.random.default_rng(A.seed), collections.Counter(), collections.Counter(), 0
on = A.on.split(",")
k = tried = 0
while tried < A.n:
    accelerator = on[k % len(on)]
    k += 1
    verdict, found = try_one(rng, accelerator)
    total[accelerator.split("-")[1] + " " + verdict.split(":")[0]] += 1
    kinds.update(f"{accelerator.split('-')[1]} {f}" for f in set(found))
    tried += verdict in ("equal",) or verdict.startswith("wrong")
    if verdict.startswith("wrong"):
        wrong += 1
        print(f"{accelerator} tensor {k}: {verdict}", flush=True)
print(", ".join(f"{n} {what}" for what, n in sorted(total.items())))
print(", ".join(f"{n} {what}" for what, n in sorted(kinds.items())))
sys.exit(wrong > 0)
