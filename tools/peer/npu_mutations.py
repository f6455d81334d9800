#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single words of valid command streams, changed.

    npu_mutations.py TOSAC FILE_vela.npz... [--count N] [--seed S]      (numpy)

Each change is one bit, one field or one whole word of one stream.  `tosac verify` and `tosac run` must answer each without crashing
(exit 0 to 4).  Printed: how many were turned down by the verifier, by the executor, gave other numbers, or changed nothing.
Ends with "N passed, N failed"; failed are crashes.
"""
import argparse
import collections
import io
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np


def members(file):
    with zipfile.ZipFile(file) as z:
        return {n: z.read(n) for n in z.namelist()}


def integers(raw):
    return np.load(io.BytesIO(raw))


def stream_at(raw):
    """Where the words of the stream begin in cmd_data.npy, and how many there are."""
    head = 10 + raw[8] + 256 * raw[9]
    words = np.frombuffer(raw[head:head + (len(raw) - head) // 4 * 4], "<u4")
    k = 1
    while words[k] & 255 != 2:
        k += 3 if words[k] & 255 == 1 else 1
    return head + 4 * (k + 1), int(words[k] >> 16 | (words[k] >> 8 & 255) << 16)


def change(rng, raw):
    at, n = stream_at(raw)
    k = at + 4 * int(rng.integers(0, n))
    word = int.from_bytes(raw[k:k + 4], "little")
    kind = int(rng.integers(0, 4))
    if kind == 0:
        word ^= 1 << int(rng.integers(0, 32))
    elif kind == 1:
        word = (word & 0xffff) | int(rng.integers(0, 65536)) << 16
    elif kind == 2:
        word = int(rng.integers(0, 2 ** 32))
    else:
        word = (word + int(rng.choice([-65536, 65536, 16 << 16, -1, 1, 16]))) & 0xffffffff
    return raw[:k] + word.to_bytes(4, "little") + raw[k + 4:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac")
    ap.add_argument("file", nargs="+")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    options = ap.parse_args()
    tosac, total = os.path.abspath(options.tosac), collections.Counter()
    files = [members(f) for f in options.file]
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as d:
        inputs, want = [], []
        for k, m in enumerate(files):
            inputs.append([])
            for i, (shape, size) in enumerate(zip(integers(m["input_shape.npy"]), integers(m["input_elem_size.npy"]))):
                kind = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[int(size)]
                dims = list(shape)[next((j for j, v in enumerate(shape) if v != 1), len(shape)):]
                inputs[k] += ["-i", os.path.join(d, f"in{k}_{i}.npy")]
                np.save(inputs[k][-1], np.random.default_rng(i).integers(-99, 99, dims).astype(kind))

        def results(program, k):
            out = os.path.join(d, "out")
            done = subprocess.run([tosac, "run", program, *inputs[k], "-o", out, "--raw"], capture_output=True)
            names = sorted(os.listdir(out)) if os.path.isdir(out) else []
            return done.returncode, [open(os.path.join(out, n), "rb").read() for n in names]

        for k, f in enumerate(options.file):
            want.append(results(f, k)[1])
        for _ in range(options.count):
            k = int(rng.integers(0, len(files)))
            changed = os.path.join(d, "changed_vela.npz")
            with zipfile.ZipFile(changed, "w") as z:
                for name, raw in files[k].items():
                    z.writestr(name, change(rng, raw) if name == "cmd_data.npy" else raw)
            verified = subprocess.run([tosac, "verify", changed], capture_output=True).returncode
            ran, got = results(changed, k)
            crash = not 0 <= verified <= 4 or not 0 <= ran <= 4
            total["crashes" if crash else "turned down by the verifier" if verified else "turned down by the executor" if ran else
                  "other numbers" if got != want[k] else "nothing changed"] += 1
    n = sum(total.values())
    for words, count in total.most_common():
        print(f"{count:6d}  {100 * count / n:5.1f} %  {words}")
    print(f"{n - total['crashes']} passed, {total['crashes']} failed")
    return total["crashes"] > 0


if __name__ == "__main__":
    sys.exit(main())
