#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The TOSA suite through Vela's command streams.     npu_suite.py TOSAC DIR/public [--on ethos-u85-256,...] [--every N] [--record FILE.zip] [--corpus DIR] [-v]

Every positive integer case that Vela takes: its _vela.npz is run by `tosac run`, every element beside the suite's result (RESCALE with
inexact rounding: between result and bound).  Vela's file does not say how many axes a tensor has, so shapes are compared without their
ones.  Known faults of Vela are listed as such.  --record writes the smallest case of every kind as an archive for test/unit/npu.c,
--corpus as files for fuzz/npu.c.  Vela must be on the PATH, in the Python that runs this.
"""
import argparse, collections, concurrent.futures, glob, json, os, re, struct, subprocess, sys, tempfile, zipfile
import numpy as np
from npu_vela import compile

FAULTS = [("u55|u65", r"arithmetic_right_shift_.*_i32_roundFalse", "rounds where TOSA goes down"),
          ("u55|u65", r"cast_.*_i32_outi(8|16)", "saturates where TOSA wraps"),
          ("u65-512", r"conv3d", "the second core's biases are in no stream")]


def differs(case, folder, names):
    for i, name in enumerate(names):
        want, got = np.load(os.path.join(case, name)).ravel(), np.load(os.path.join(folder, f"output_{i}.npy")).ravel()
        if want.dtype.kind == "u" and got.itemsize == want.itemsize:
            got = got.view(want.dtype)
        if got.size != want.size:
            return f"{got.size} elements, expected {want.size}"
        bound = os.path.join(case, "bounds_" + name)
        other = np.load(bound).ravel() if os.path.exists(bound) else want
        low, high = np.minimum(want, other).astype(np.int64), np.maximum(want, other).astype(np.int64)
        bad = int(np.sum((got.astype(np.int64) < low) | (got.astype(np.int64) > high)))
        if bad:
            return f"{bad} of {want.size} differ"
    return ""


def numbers(archive, name):
    return [int(v) for v in archive[name].ravel()]


def member(path, name):
    """A member's bytes behind its header, trailing zeros too."""
    data = zipfile.ZipFile(path).read(name + ".npy")
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def payload(path):
    """The blocks that EthosUBackend loads, from Vela's archive."""
    z = np.load(path)

    def block(name, data):
        return name.encode().ljust(16, b"\0") + struct.pack("<I", len(data)) + bytes(12) + data + bytes(-len(data) % 16)

    def tensors(side):
        shape, rest = z[side + "_shape"].reshape(-1, 6), zip(*(numbers(z, side + k) for k in ("_elem_size", "_offset", "_region")))
        return struct.pack("<I", len(shape)) + b"".join(struct.pack("<9i", *map(int, s), *r) for s, r in zip(shape, rest))

    return (block("vela_bin_stream", b"") + block("cmd_data", member(path, "cmd_data")) + block("weight_data", member(path, "weight_data")) +
            block("scratch_size", struct.pack("<I", int(z["scratch_size"]))) + block("fast_size", struct.pack("<Q", int(z["scratch_fast_size"]))) +
            block("inputs", tensors("input")) + block("outputs", tensors("output")) + block("vela_end_stream", b""))


def stored(array, size):
    """The array as the program's memory holds it."""
    return array.astype({1: np.int8, 2: "<i2", 4: "<i4", 8: "<i8"}[size] if array.dtype.kind != "u" else array.dtype).tobytes()


def operations(path):
    """What kinds of operations the stream has: opcode and mode."""
    data, kinds, i = member(path, "cmd_data"), set(), 8
    words = struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])
    while i < len(words) and words[i] & 0xffff:
        code, control = words[i] & 0x3ff, words[i] >> 14 & 3
        if not control and 2 <= code <= 16:
            kinds.add((code, words[i] >> 16 & 63))
        i += 1 + control
    return frozenset(kinds)


def judge(job):
    case, accelerator = job
    d = json.load(open(os.path.join(case, "desc.json")))
    with tempfile.TemporaryDirectory() as t:
        made = compile(os.path.join(case, d["tosa_file"]), accelerator, t + "/vela")
        if not made:
            return "refused", None
        command = [A.tosac, "run", made, "-o", t + "/out"] + [w for f in d["ifm_file"] for w in ("-i", os.path.join(case, f))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "no answer", None
        words = done.stderr.strip()[-300:] or f"exit {done.returncode}" if done.returncode else differs(case, t + "/out", d["ofm_file"])
        kept = None
        if not words and (A.record or A.corpus):
            z = np.load(made)
            kept = (operations(made), payload(made),
                    [stored(np.load(os.path.join(case, f)), s) for f, s in zip(d["ifm_file"], numbers(z, "input_elem_size"))],
                    [stored(np.load(os.path.join(t + "/out", f"output_{i}.npy")), s) for i, s in enumerate(numbers(z, "output_elem_size"))])
        return words or "equal", kept


def integer(case):
    d = json.load(open(os.path.join(case, "desc.json")))
    return not d.get("expected_failure") and all(np.load(os.path.join(case, f), mmap_mode="r").dtype.kind in "iub" for f in d["ifm_file"] + d["ofm_file"])


ap = argparse.ArgumentParser()
ap.add_argument("tosac"); ap.add_argument("dir"); ap.add_argument("--on", default="ethos-u55-128,ethos-u65-256,ethos-u85-256")
ap.add_argument("--every", type=int, default=1); ap.add_argument("--record"); ap.add_argument("--corpus"); ap.add_argument("-v", action="store_true")
A = ap.parse_args()
cases = [c for c in sorted(glob.glob(os.path.join(A.dir, "1.0__*"))) if integer(c)][::A.every]
wrong, best = 0, {}
for accelerator in A.on.split(","):
    total = collections.Counter()
    for case in cases:
        words, kept = judge((case, accelerator))
        name = os.path.basename(case)
        known = [why for on, form, why in FAULTS if re.search(on, accelerator) and re.search(form, name)]
        total["Vela's fault" if words not in ("equal", "refused") and known else words if words in ("equal", "refused") else "wrong"] += 1
        if words not in ("equal", "refused"):
            wrong += not known
            print(f"{accelerator} {name}: {words}{' (' + known[0] + ')' if known else ''}", flush=True)
        if kept:
            key, size = (accelerator, kept[0]), len(kept[1]) + sum(map(len, kept[2] + kept[3]))
            if key not in best or size < best[key][0]:
                best[key] = (size, name, kept)
    print(f"{accelerator}: " + ", ".join(f"{n} {k}" for k, n in sorted(total.items())), flush=True)
chosen = sorted(((a, name, kept) for (a, _), (size, name, kept) in best.items() if size < 6000), key=lambda row: row[:2])
if A.record:
    with zipfile.ZipFile(A.record, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for a, name, (_, program, ins, outs) in chosen:
            for part, data in [("program", program)] + [(f"in{i}", b) for i, b in enumerate(ins)] + [(f"out{i}", b) for i, b in enumerate(outs)]:
                z.writestr(zipfile.ZipInfo(f"{a}/{name}/{part}", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
if A.corpus:
    os.makedirs(A.corpus, exist_ok=True)
    for a, name, (_, program, _, _) in chosen:
        open(os.path.join(A.corpus, f"{a}-{name[5:40]}"), "wb").write(program)
sys.exit(wrong > 0)
