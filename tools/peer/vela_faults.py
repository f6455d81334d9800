#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which faults of Vela are still there, and whether the detours around them lead to the right numbers.

    vela_faults.py TOSAC [DIR] [--on ethos-u55-128,ethos-u65-256]      (numpy; Vela on the PATH)

DIR (test/vela-faults) has the smallest graph of each.  As it is, the graph goes through Vela and `tosac run X_vela.npz`; then through
`tosac compile`, which takes the detour, and `tosac run`.  `tosac run` of the graph itself says what is expected.  A fault that is
gone in the installed Vela is named: its detour can be dropped.  Exit 1: a detour does not lead to the right numbers.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import npu_vela
import numpy as np

RANGE = {"i8": (np.int8, -128, 128), "i16": (np.int16, -2 ** 15, 2 ** 15), "i32": (np.int32, -10 ** 5, 10 ** 5), "bool": (np.bool_, 0, 2)}


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def inputs_of(text, folder):
    """Random numbers for every input of the graph."""
    head, files = text[text.index("graph @main(") + 12:], []
    head = head[:head.index(") {")]
    for i, (dtype, dims) in enumerate(re.findall(r": (i\d+|bool)\[([\d,]*)\]", head)):
        kind, low, high = RANGE[dtype]
        files += ["-i", os.path.join(folder, f"in{i}.npy")]
        np.save(files[-1], np.random.default_rng(i).integers(low, high, [int(d) for d in dims.split(",")]).astype(kind))
    return files


def result(tosac, program, files, folder):
    """The numbers, or None when it does not run."""
    out = os.path.join(folder, "out")
    code, _ = call(tosac, "run", program, *files, "-o", out, "--raw")
    return None if code else [np.load(f).reshape(-1) for f in sorted(glob.glob(os.path.join(out, "*.npy")))]


def equal(a, b):
    return a is not None and len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


def try_fault(tosac, file, accelerator, folder):
    """(as it is, by the detour): right or not; None: the machine does not take it."""
    files = inputs_of(open(file).read(), folder)
    want = result(tosac, file, files, folder)
    plain, made = os.path.join(folder, "plain.tosa"), os.path.join(folder, "detour.pte")
    call(tosac, "compile", file, "-t", "TOSA-1.0+INT+int16", "-o", plain)
    code, _ = call("vela", plain, *npu_vela.options(accelerator), "--output-format", "raw", "--output-dir", folder)
    npz = os.path.join(folder, "plain_vela.npz")
    legal = code == 0 and call(tosac, "verify", npz)[0] == 0
    as_it_is = legal and equal(result(tosac, npz, files, folder), want)
    code, said = call(tosac, "compile", file, "-t", accelerator, "--ethosu-backend", "vela", "--check", "-o", made)
    if code and ("refused a region" in said or "[tosa-profile]" in said or "[unsupported]" in said):
        return as_it_is, None
    return as_it_is, code == 0 and equal(result(tosac, made, files, folder), want)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac")
    ap.add_argument("dir", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "vela-faults"))
    ap.add_argument("--on", default="ethos-u55-128,ethos-u65-256")
    options = ap.parse_args()
    tosac, passed, failed, gone = os.path.abspath(options.tosac), 0, 0, []
    for accelerator in options.on.split(","):
        for file in sorted(glob.glob(os.path.join(options.dir, "*.ir"))):
            name = os.path.splitext(os.path.basename(file))[0]
            with tempfile.TemporaryDirectory() as folder:
                as_it_is, by_detour = try_fault(tosac, file, accelerator, folder)
            if by_detour is None:
                print(f"{accelerator} {name}: not taken", flush=True)
                continue
            passed, failed = passed + by_detour, failed + (not by_detour)
            gone += [f"{name} on {accelerator}"] if as_it_is else []
            print(f"{accelerator} {name}: " + ("right by itself" if as_it_is else "still wrong") + ", " +
                  ("right by the detour" if by_detour else "WRONG by the detour"), flush=True)
    for words in gone:
        print(f"gone: {words}; its detour can be dropped")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
