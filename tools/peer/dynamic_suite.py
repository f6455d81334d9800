#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One program for many sizes, before the reference model of TOSA 1.1 and beside PyTorch.

    dynamic_suite.py TOSAC FIXTURES [--only WORD] [--table] [--check] [--one-size] [--least DB]

FIXTURES/NAME has an export with dynamic sizes, calibration samples of four sizes, and what PyTorch computes at five (dynamic_fixtures.py).
Each export is compiled once for TOSA-1.1+FP+shape and once, quantized, for TOSA-1.1+INT+shape.  At each size three things must hold:
  - with that size filled in (`compile --shape`), the reference model runs the program, shape operators and all, and gives what `tosac run` gives
    of the program that leaves it open: the same integers, floats within 2^-18 of the largest;
  - what PyTorch gives is as near as float allows, or as the table below asks of 8 bits;
  - past the bounds of the export `tosac run` refuses, by the program's own assertion.
--check compiles with --check, which compares with the program of every size in bounds.  --table prints a row for each export.
--one-size calibrates with samples of one size, to see what several are worth; --least is what int8 must keep.  A model of tokens is float in
TOSA-1.1+INT+FP+shape, as dimensions of integers are PRO-INT's.
Run it with a Python that has tosa-tools 2026.8 or newer (tools/setup.sh tosa11).  Ends with "N passed, N failed".
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROGRAM = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin", "tosa_reference_model")
TARGETS = {"float": "TOSA-1.1+FP+shape", "int8": "TOSA-1.1+INT+shape"}


def call(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def reference(folder, inputs, files, outputs):
    out = [f"rm_{i}.npy" for i in range(len(outputs))]
    desc = {"tosa_file": "filled.tosa", "ifm_name": inputs, "ifm_file": files, "ofm_name": outputs, "ofm_file": out, "expected_failure": False}
    (folder / "desc.json").write_text(json.dumps(desc))
    done = subprocess.run([PROGRAM, "--test_desc", folder / "desc.json", "--flatbuffer_dir", folder, "--output_dir", folder],
                          capture_output=True, text=True, env={"PATH": ""})
    if done.returncode:
        return None, (done.stdout + done.stderr).strip()[-300:]
    return [np.load(folder / f) for f in out], ""


def same(a, b):
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return np.array_equal(a.astype(np.int64), b.astype(np.int64))
    return np.abs(a - b).max(initial=0) <= 2.0 ** -18 * np.abs(b).max(initial=0)


def sqnr(want, got):
    noise = np.square(want.astype(np.float64) - got).sum()
    return 10 * np.log10(np.square(want.astype(np.float64)).sum() / noise) if noise else np.inf


class Suite:
    def __init__(self, options, folder):
        self.o, self.folder, self.passed, self.failed = options, folder, 0, 0

    def say(self, good, what):
        self.passed += good
        self.failed += not good
        if not good:
            print("failed:", what)
        return good

    def size(self, name, kind, program, ports, file):
        """One size: the reference model's verdict, and dB beside PyTorch."""
        data, label = np.load(file), f"{name} {kind} {file.stem}"
        x, want = data["in0"], data["out0"]
        rng = np.random.default_rng(1)
        whole = x.dtype.kind == "i"
        feed = x[0] if kind == "float" or whole else rng.integers(-128, 128, x.shape[1:]).astype(np.int8)
        feed = feed.astype(np.int32) if whole else feed
        np.save(self.folder / "feed.npy", feed)
        np.save(self.folder / "x.npy", x)
        shape = ",".join(map(str, x.shape[1:]))
        done = call(self.o.tosac, "compile", program, "-t", self.target(kind, x), "--shape", f"{ports['in']}={shape}", "-o", self.folder / "filled.tosa")
        if not self.say(done.returncode == 0, f"{label}: {done.stderr[-300:]}"):
            return "-", np.nan
        judged, words = reference(self.folder, [ports["in"]], ["feed.npy"], [ports["out"]])
        done = call(self.o.tosac, "run", program, "-i", self.folder / "feed.npy", "-o", self.folder / "ours")
        ours = np.load(self.folder / "ours" / "output_0.npy") if done.returncode == 0 else None
        equal = judged is not None and ours is not None and same(ours, judged[0])
        self.say(equal, f"{label}: reference model {words or 'computes other numbers'} {done.stderr[-200:]}")
        done = call(self.o.tosac, "run", program, "-i", self.folder / "x.npy", "-o", self.folder / "ours", *(["--dequantize"] if kind == "int8" else []))
        db = sqnr(want, np.load(self.folder / "ours" / "output_0.npy")) if done.returncode == 0 else np.nan
        self.say(db >= (100 if kind == "float" else self.o.least), f"{label}: {db:.1f} dB from PyTorch {done.stderr[-200:]}")
        return "equal" if equal else "differs", db

    def beyond(self, name, kind, program, file):
        """A size past the largest: every axis twice as long."""
        x = np.load(file)["in0"]
        open_axes = self.open_axes(program)
        more = np.concatenate([x[0]] * 9, axis=open_axes[0])
        np.save(self.folder / "more.npy", more if kind == "float" or x.dtype.kind == "i" else more.astype(np.int8))
        done = call(self.o.tosac, "run", program, "-i", self.folder / "more.npy", "-o", self.folder / "ours")
        self.say(done.returncode == 1 and "assert_equal_shape" in done.stderr, f"{name} {kind}: past its bounds: {done.stderr[-300:]}")

    def target(self, kind, x):
        return "TOSA-1.1+INT+FP+shape" if kind == "float" and x.dtype.kind == "i" else TARGETS[kind]

    def ports(self, program):
        told = json.loads(call(self.o.tosac, "inspect", "--json", program).stdout)
        return {"in": told["inputs"][0]["name"], "out": told["outputs"][0]["name"]}

    def open_axes(self, program):
        told = json.loads(call(self.o.tosac, "inspect", "--json", program).stdout)
        return [i for i, d in enumerate(told["inputs"][0]["type"].split("[")[1].rstrip("]").split(",")) if d == "?"]

    def export(self, folder, kind):
        name, program = folder.name, self.folder / f"{folder.name}-{kind}.tosa"
        files = [f for f in folder.glob("*.npz") if f.stem not in ("calib", "one")]
        files.sort(key=lambda f: np.load(f)["in0"].size)
        x = np.load(files[0])["in0"]
        command = [self.o.tosac, "compile", folder / "model.pt2", "-t", self.target(kind, x), "-o", program]
        command += ["-q", "none"] if kind == "float" and x.dtype.kind == "i" else []
        command += ["--calib", folder / ("one.npz" if self.o.one_size else "calib.npz")] if kind == "int8" else []
        begun = time.time()
        done = call(*command, *(["--check"] if self.o.check else []))
        took = time.time() - begun
        if not self.say(done.returncode == 0, f"{name} {kind}: {done.stderr[-400:]}"):
            return
        ports, cells = self.ports(program), []
        for file in files:
            verdict, db = self.size(name, kind, program, ports, file)
            cells.append(f"{file.stem}: {verdict}, {db:.1f} dB")
        self.beyond(name, kind, program, files[-1])
        if self.o.table:
            print(f"| {name} | {kind} | {' | '.join(cells)} | {took:.1f} s, {program.stat().st_size} bytes |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--one-size", action="store_true")
    parser.add_argument("--least", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(options, Path(work))
        for folder in sorted(options.fixtures.iterdir()):
            if (folder / "model.pt2").exists() and options.only in folder.name:
                for kind in TARGETS:
                    suite.export(folder, kind)
        print(f"{suite.passed} passed, {suite.failed} failed")
    sys.exit(suite.failed > 0)


main()
