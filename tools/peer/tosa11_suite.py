#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TOSA 1.1 beside the reference model: every operator and type that it adds, and random graphs.

    tosa11_suite.py TOSAC [--only WORD] [--random N] [--seed S] [--keep DIR] [--record DIR] [--list]

Run it with a Python that has tosa-tools 2026.8 or newer (tools/setup.sh tosa11).  A case of tosa11_cases.py is valid, breaks an ERROR_IF, or
breaks a REQUIRE.  The reference model's program says which by its exit status, and `tosac verify` and `tosac run` must say the same;
results are compared bit for bit ("exact"), within two units in the last place ("ulp"), or beside the sum of magnitudes ("near", "cancel").
Where the reference model crashes, or refuses what the draft allows, it is given the same sums in operators that it takes (tosa11_detours.py);
what is left then, programs that break a rule and crash it, is counted, with --list shown.
--record writes the cases that agree and need no tolerance as DIR/1.1__rm_NAME, which build/conformance-tosa replays (test/suites).
Ends with "N passed, N failed".
"""
import argparse
import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tosa11_cases import MX, cases, random_graph  # noqa: E402
from tosa11_detours import decoded  # noqa: E402
from tosa_write import BITS, DTYPE, Graph, serialize  # noqa: E402

PROGRAM = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin", "tosa_reference_model")
VERDICT = {0: "valid", 1: "require", 2: "error"}
NUMPY = {"bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def unpacked(bits, data, n):
    each = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:n * bits].reshape(n, bits)
    return (each << np.arange(bits)).sum(axis=1).astype(np.uint8)


def codes_of(dtype, shape, file):
    """The stored codes of a result that the reference model wrote."""
    array = np.load(file)
    value = dtype.replace("bs32_", "")
    if value in BITS:
        code = unpacked(BITS[value], array.tobytes(), int(np.prod(shape)))
    elif dtype == "i48":
        return array.astype(np.int64).reshape(shape)
    else:
        code = np.frombuffer(array.tobytes(), np.uint8 if dtype in MX else DTYPE[dtype][1] if dtype not in NUMPY else f"u{array.itemsize}")
    if dtype in MX:
        scale = np.frombuffer(np.load(file[:-4] + "_scale.npy").tobytes(), np.uint8)
        return (code.astype(np.uint16) | np.repeat(scale, 32).astype(np.uint16) << 8).reshape(shape)
    return code.reshape(shape)


def save_as(path, array, descr):
    """An array whose header names its type so: NumPy writes raw bits as |V2, which the reference model does not take."""
    with open(path, "wb") as f:
        np.lib.format._write_array_header(f, {"descr": descr, "fortran_order": False, "shape": array.shape}, (1, 0))
        f.write(array.tobytes())


RAW = {"bf16": "<V2", "e4m3": "<V1", "e5m2": "|u1"}  # how the reference model names the narrow floats


def feeds(g, folder):
    """The arrays of inputs, as the reference model reads them.  For tosac raw bits are V1 and V2 alike: own_in_N.npy."""
    files = []
    for i, (name, feed) in enumerate(zip(g.inputs, g.feeds)):
        files.append(f"in_{i}.npy")
        dtype = g.type[name][0]
        save_as(os.path.join(folder, files[-1]), feed, RAW.get(dtype, feed.dtype.str))
        save_as(os.path.join(folder, "own_" + files[-1]), feed, {"e5m2": "|V1"}.get(dtype, RAW.get(dtype, feed.dtype.str)))
    return files


def judge(g, folder, files):
    """What the reference model says, and its results."""
    out = [f"out_{i}.npy" for i in range(len(g.outputs))]
    json.dump({"tosa_file": "case.tosa", "ifm_name": g.inputs, "ifm_file": files, "ofm_name": g.outputs, "ofm_file": out,
               "expected_failure": False}, open(os.path.join(folder, "desc.json"), "w"))
    done = subprocess.run([PROGRAM, "--test_desc", os.path.join(folder, "desc.json"), "--flatbuffer_dir", folder, "--output_dir", folder],
                          capture_output=True, text=True, env={"PATH": ""})
    words = (done.stdout + done.stderr).strip()[-200:].replace("\n", " ")
    verdict = "crash" if "exception" in words.lower() and done.returncode not in VERDICT else VERDICT.get(done.returncode, "crash")
    if verdict != "valid":
        return verdict, words
    return verdict, [codes_of(*g.type[name], os.path.join(folder, f)) for name, f in zip(g.outputs, out)]


def ours(tosac, g, folder, files):
    file = os.path.join(folder, "case.tosa")
    done = subprocess.run([tosac, "verify", file], capture_output=True, text=True)
    if done.returncode:
        return "error" if done.returncode == 1 else f"exit {done.returncode}", done.stderr.strip()[-300:]
    command = [tosac, "run", file, "-o", os.path.join(folder, "ours"), "--raw"]
    for f in files:
        command += ["-i", os.path.join(folder, "own_" + f)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return "require" if done.returncode == 1 else f"exit {done.returncode}", done.stderr.strip()[-300:]
    results = []
    for i, name in enumerate(g.outputs):
        dtype, shape = g.type[name]
        array = np.load(os.path.join(folder, "ours", f"output_{i}.npy"))
        kind = np.int64 if dtype == "i48" else f"u{array.itemsize}" if dtype in NUMPY else DTYPE[dtype][1]
        results.append(np.frombuffer(array.tobytes(), kind).reshape(shape))
    return "valid", results


def numbers(dtype, code):
    with np.errstate(all="ignore"):
        return (code.view(NUMPY[dtype]) if dtype in NUMPY else code).astype(np.float64)


STEPS = {"f32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}


def differ(how, dtype, got, want):
    """Words about results that are not the same, or nothing."""
    if got.shape != want.shape:
        return f"shape {got.shape} is not {want.shape}"
    if got.tobytes() == want.tobytes():
        return ""
    if dtype in STEPS:
        a, b = numbers(dtype, got), numbers(dtype, want)
        with np.errstate(all="ignore"):
            slack = np.zeros_like(b)
            if how != "exact":
                top = np.abs(b).max() if how in ("cancel", "near") else np.abs(b)
                slack = 2 * np.exp2(np.floor(np.log2(np.maximum(top, 1e-30))) - STEPS[dtype]) * np.ones_like(b)
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= slack)
        if same.all():
            return ""
        return f"{dtype} {a[~same][:4]} is not {b[~same][:4]} ({(~same).sum()} of {same.size})"
    bad = got != want
    return f"{dtype} {got[bad][:4]} is not {want[bad][:4]} ({bad.sum()} of {bad.size})"


def record(folder, name, g, how, data, want):
    """A case and what the reference model says of it: a rule that is broken, or codes as they are stored."""
    to = os.path.join(folder, "1.1__rm_" + name)
    os.makedirs(to)
    open(os.path.join(to, "test.tosa"), "wb").write(data)
    desc = {"ifm_name": g.inputs, "ifm_file": [], "ofm_name": g.outputs, "ofm_file": [], "expected_failure": how in ("error", "level"),
            "unpredictable": how == "require", "meta": {"compliance": {"tensors": {o: {"mode": "BITS"} for o in g.outputs}}}}
    if how not in ("error", "level"):
        desc["ifm_file"] = feeds(g, to)
        for file in desc["ifm_file"]:
            os.replace(os.path.join(to, "own_" + file), os.path.join(to, file))
    if how == "exact":
        desc["ofm_file"] = [f"out_{i}.npy" for i in range(len(want))]
        for file, codes in zip(desc["ofm_file"], want):
            np.save(os.path.join(to, file), codes)
    json.dump(desc, open(os.path.join(to, "desc.json"), "w"))


class Tally:
    def __init__(self, options):
        self.options, self.passed, self.failed, self.open = options, collections.Counter(), [], collections.Counter()

    def wrong(self, name, words, data):
        self.failed.append(name)
        print(f"{name}: {words}", flush=True)
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            open(os.path.join(self.options.keep, name + ".tosa"), "wb").write(data)

    def aside(self, name, what, words):
        self.open[what] += 1
        if self.options.list:
            print(f"  {name}: {what}: {words}", flush=True)

    def by_detour(self, name, g, how, data, got):
        """What the reference model does not take, by a road that it does (tosa11_detours.py); False: there is none."""
        if not hasattr(g, "detour"):
            return False
        other = Graph("main")
        g.detour(other)
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "case.tosa"), "wb").write(serialize([other], 1))
            said, want = judge(other, folder, feeds(other, folder))
        if said != "valid":
            return False
        (dtype, _), = [g.type[o] for o in g.outputs]
        if dtype in MX:
            dtype, got = "f32", [decoded(dtype, got[0])]
        words = differ(how, dtype, got[0], want[0].reshape(got[0].shape))
        if words:
            self.wrong(name, "by a detour: " + words, data)
        else:
            self.passed["valid, by a detour" if how == "exact" else "valid, by a detour, within a few units in the last place"] += 1
        return True

    def agrees(self, name, g, how, data, want):
        if self.options.record and how in ("exact", "error", "level", "require"):
            record(self.options.record, name, g, how, data, want)

    def try_case(self, name, g, how):
        data = serialize([g] + getattr(g, "regions", []), 1)
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "case.tosa"), "wb").write(data)
            files = feeds(g, folder)
            said, want = judge(g, folder, files)
            verdict, got = ours(self.options.tosac, g, folder, files)
        expected = {"error": "error", "level": "error", "require": "require"}.get(how, "valid")
        if verdict != expected:
            self.wrong(name, f"expected {expected}, we say {verdict}: {got}; the reference model {said}: {want if said != 'valid' else ''}", data)
        elif expected == "valid" and said in ("crash", "error") and self.by_detour(name, g, how, data, got):
            return
        elif said == "crash" or (said != expected and not (how == "level" and said == "require")):
            self.aside(name, f"the reference model says {said}, the draft {expected}", "" if said == "valid" else want)
        elif expected != "valid":
            self.agrees(name, g, how, data, want)
            self.passed[expected] += 1
        else:
            words = [w for w in (differ(how, g.type[o][0], a, b) for o, a, b in zip(g.outputs, got, want)) if w]
            if words:
                self.wrong(name, words[0], data)
            else:
                self.agrees(name, g, how, data, want)
                self.passed["valid, within a few units in the last place" if how in ("ulp", "near", "cancel") else "valid, bit for bit"] += 1


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac")
    ap.add_argument("--only", default="")
    ap.add_argument("--random", type=int, default=0)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--keep")
    ap.add_argument("--record")
    ap.add_argument("--list", action="store_true")
    options = ap.parse_args()
    options.tosac = os.path.abspath(options.tosac)
    tally = Tally(options)
    if not options.random:
        for name, g, how in cases():
            if options.only in name:
                tally.try_case(name, g, how)
    for k in range(options.random):
        g, how = random_graph(np.random.default_rng([options.seed, k]))
        tally.try_case(f"random-{options.seed}-{k}", g, how)
    for what, n in tally.passed.items():
        print(f"{what}: {n}")
    for what, n in sorted(tally.open.items()):
        print(f"not compared: {what}: {n}")
    print(f"{sum(tally.passed.values())} passed, {len(tally.failed)} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
