#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vela's command streams beside the TOSA reference model, on random integer graphs.

    vela_diff.py TOSAC [--count N] [--seed S] [--on ACCELERATOR,...] [--keep DIR] [--detours] [--seconds S]

Run it with the Python that has tosa_reference_model and ethosu.vela.  A graph is a few operators that Vela joins, cuts and moves:
changes of scale, sums, slices, pads, joins, transposes, reductions, products.  The reference model gives what is expected, Vela
(in a child) a stream, `tosac run X_vela.npz` what the machine computes.  --detours: the graph goes through `tosac compile --check`, as a
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
from tosa_write import serialize  # noqa: E402
from vela_graphs import Maker, recipe_of  # noqa: E402

PATH = os.environ["PATH"]
os.environ["PATH"] = ""  # the reference model starts a debugger where it finds one
import tosa_reference_model as model  # noqa: E402

os.environ["PATH"] = PATH
SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}


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


class Case:
    """A graph and what it should give; None: there is nothing to compare with."""

    def __init__(self, recipe, seed):
        self.graph, self.want = Maker(recipe, seed), None
        if not self.graph.ok:
            return
        self.file = serialize([self.graph.g])
        kept = os.dup(2), os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2), os.dup2(null, 1)
        try:
            want, status = model.run(self.file, self.graph.g.feeds)
        except ValueError:  # no graph of TOSA
            return
        finally:
            os.dup2(kept[0], 2), os.dup2(kept[1], 1)
            for f in (*kept, null):
                os.close(f)
        self.want = want if status.name == "TOSA_VALID" else None


def by_detours(options, accelerator, path, folder):
    """The same through `tosac compile --check`, which leads around what is known and executes the stream by itself."""
    done = subprocess.run([options.tosac, "compile", path, "-t", accelerator, "--check", "-o", os.path.join(folder, "g.pte")], capture_output=True,
                          text=True)
    if not done.returncode:
        return ""
    refused = "refused a region" in done.stderr or "was ended by signal" in done.stderr or "[tosa-profile]" in done.stderr or "[unsupported]" in done.stderr
    return None if refused else f"exit {done.returncode}: {done.stderr.strip()[:300]}"


def by_itself(options, accelerator, path, folder, case):
    """Vela's own answer."""
    if not by_vela(path, accelerator, folder):
        return None
    files = []
    for i, x in enumerate(case.graph.g.feeds):
        files += ["-i", os.path.join(folder, f"in{i}.npy")]
        np.save(files[-1], x)
    program = os.path.join(folder, "g_vela.npz")
    done = subprocess.run([options.tosac, "run", program, *files, "-o", folder, "--raw"], capture_output=True, text=True)
    if done.returncode:
        return f"run: {done.stderr.strip()[-160:]}"
    for i, ref in enumerate(case.want):
        got = np.load(os.path.join(folder, f"output_{i}.npy"))
        if got.size != ref.size or not np.array_equal(got.reshape(ref.shape), ref):
            return f"output {i} {ref.shape} {ref.dtype}: {int(np.sum(got.reshape(-1) != ref.reshape(-1)))} of {ref.size} differ"
    return ""


def judge(options, accelerator, case):
    """'' when equal, None when it is not taken, or what is wrong."""
    if case.want is None:
        return None
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "g.tosa")
        open(path, "wb").write(case.file)
        return by_detours(options, accelerator, path, d) if options.detours else by_itself(options, accelerator, path, d, case)


def smaller(options, accelerator, recipe, seed, words):
    """Steps are taken away as long as it still differs."""
    k = 1
    while k < len(recipe):
        less = recipe[:k] + recipe[k + 1:]
        said = judge(options, accelerator, Case(less, seed))
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
    total, began, kinds, number = collections.Counter(), time.time(), collections.Counter(), options.first
    while number < options.first + options.count and time.time() - began < options.seconds:
        recipe = recipe_of(options.seed, number)
        case = Case(recipe, number)
        for accelerator in options.on.split(","):
            words = judge(options, accelerator, case)
            total["skipped" if words is None else "failed" if words else "passed"] += 1
            if not words:
                continue
            less, words = smaller(options, accelerator, recipe, number, words)
            made = Maker(less, number)
            ops = [op[0] for op in made.g.operators if not op[0].startswith("CONST")]
            kinds[" ".join(ops)] += 1
            print(f"{accelerator} {number}: {' '.join(ops)}: {words}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                open(os.path.join(options.keep, f"{accelerator}-{options.seed}-{number}.tosa"), "wb").write(serialize([made.g]))
        number += 1
    for ops, n in kinds.most_common(12):
        print(f"  {n:4d}  {ops}")
    print(f"graphs {options.first} to {number - 1}: {total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return total["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
