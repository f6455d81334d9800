#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tosac's interpreter beside the TOSA reference model, on random graphs.

    tosa_diff.py TOSAC [--count N] [--seed S] [--only OP,OP] [--keep DIR] [--run "more arguments of tosac run"]

Run it with the Python that has tosa_reference_model.  A case is one operator or a few (tosa_cases.py).  The reference model
runs each by itself, in process; what it calls UNPREDICTABLE is counted and left out.  The others go to `tosac run` many to a
file.  Integers and booleans agree bit for bit, floats within an ulp (functions: four) of the reference model's f64 result, or exactly
where the operator is exact.  i48 and i4 results, which the binding does not hand out, come from the reference model's program.
Exit 0: all agree.  A case that does not is kept, with --keep, as DIR/<case>.tosa.  Ends with "N passed, N failed".
"""
import argparse
import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tosa_cases import CASES, WEIGHT  # noqa: E402
from tosa_write import DTYPE, Graph, serialize  # noqa: E402

os.environ["PATH"] = ""  # the reference model starts a debugger where it finds one
import tosa_reference_model as model  # noqa: E402

BATCH = 40
FRACTION = {"f32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}
LEAST = {"f32": -126, "f16": -14, "bf16": -126, "e4m3": -6, "e5m2": -14}


class Case:
    def __init__(self, seed, number, names, weights):
        rng = np.random.default_rng([seed, number])
        self.name = f"{names[int(rng.choice(len(names), p=weights))]}-{seed}-{number}"
        self.graph = Graph("main", f"c{number}.")
        self.graph.regions = []
        self.how = CASES[self.name.split("-")[0]](rng, self.graph)
        self.types = [self.graph.type[o] for o in self.graph.outputs]
        self.file = serialize([self.graph] + self.graph.regions)

    def by_program(self):
        """Results that the reference model's binding does not hand out."""
        return self.how != "exact" or any(dtype in ("i48", "i4") for dtype, _ in self.types)

    def judge(self):
        return model.run(self.file, self.graph.feeds)


def quietly(function, *arguments):
    """The reference model talks on both streams."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1), os.dup2(null, 2)
        return function(*arguments)
    finally:
        os.dup2(kept[0], 1), os.dup2(kept[1], 2)
        for fd in (*kept, null):
            os.close(fd)


def join(cases):
    """One graph that computes all of them."""
    whole = Graph("main")
    regions = []
    for c in cases:
        whole.append(c.graph)
        regions += c.graph.regions
    return whole, serialize([whole] + regions)


def run_tosac(options, cases):
    """Results of all cases, or the words of a failure."""
    whole, data = join(cases)
    with tempfile.TemporaryDirectory() as d:
        file = os.path.join(d, "case.tosa")
        open(file, "wb").write(data)
        command = [options.tosac, "run", file, "-o", os.path.join(d, "out"), "--raw"] + options.run.split()
        for i, feed in enumerate(whole.feeds):
            path = os.path.join(d, f"in_{i}.npy")
            np.save(path, feed)
            command += ["-i", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr.strip()}"
        return [np.load(os.path.join(d, "out", f"output_{i}.npy")) for i in range(len(whole.outputs))]


def run_program(cases, precise=False, bounds=False):
    """The reference model's program, for results that its binding does not hand out: a list for each case."""
    if not cases:
        return []
    whole, data = join(cases)
    program = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin", "tosa_reference_model")
    with tempfile.TemporaryDirectory() as d:
        open(os.path.join(d, "case.tosa"), "wb").write(data)
        for i, feed in enumerate(whole.feeds):
            np.save(os.path.join(d, f"in_{i}.npy"), feed)
        json.dump({"tosa_file": "case.tosa", "ifm_name": whole.inputs, "ifm_file": [f"in_{i}.npy" for i in range(len(whole.inputs))],
                   "ofm_name": whole.outputs, "ofm_file": [f"out_{i}.npy" for i in range(len(whole.outputs))], "expected_failure": False,
                   "test_requirements": {"bounds_file_required": bounds}}, open(os.path.join(d, "desc.json"), "w"))
        subprocess.run([program, "--test_desc", os.path.join(d, "desc.json"), "--flatbuffer_dir", d, "--output_dir", d,
                        "--precise_mode", str(int(precise))], check=True, capture_output=True)
        kind = "bounds_" if bounds else ""
        results = iter([np.load(os.path.join(d, f"{kind}out_{i}.npy")) for i in range(len(whole.outputs))])
        return [[next(results) for _ in c.types] for c in cases]


def as_reals(dtype, array):
    array = np.asarray(array)
    if array.dtype == np.float64:
        return array
    with np.errstate(all="ignore"):
        return np.frombuffer(array.tobytes(), DTYPE[dtype][1]).astype(np.float64).reshape(array.shape)


def float_differs(dtype, how, got, want, bound):
    got, want = as_reals(dtype, got).reshape(-1), as_reals(dtype, want).reshape(-1)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if how != "exact":
        with np.errstate(all="ignore"):
            exponent = np.maximum(np.floor(np.log2(np.abs(want))), LEAST[dtype])
            slack = np.exp2(exponent - FRACTION[dtype])
            if bound is not None:
                slack = np.maximum(slack, as_reals(dtype, bound).reshape(-1) * 2.0 ** -40)
            slack = slack * {"few": 4, "loose": 1024}.get(how, 1)
            rounded = want.astype(DTYPE[dtype][1]).astype(np.float64)
            same |= (np.abs(got - want) <= slack) | (rounded == got)
    return "" if same.all() else f"{got[~same][:4]} is not {want[~same][:4]}"


def differs(case, got, want, bound):
    """Words about the first result that is not right, or nothing."""
    for i, ((dtype, shape), g) in enumerate(zip(case.types, got)):
        if g.shape != shape:
            return f"result {i}: shape {g.shape}, expected {shape}"
        if case.how == "between":
            one, two = (np.asarray(v[i]).astype(np.int64) for v in (want, bound))
            inside = (np.minimum(one, two) <= g) & (g <= np.maximum(one, two))
            words = "" if inside.all() else f"{g[~inside][:4]} is not between {one[~inside][:4]} and {two[~inside][:4]}"
        elif dtype in FRACTION:
            words = float_differs(dtype, case.how, g, want[i], bound[i] if bound else None)
        else:
            same = g.tobytes() == np.asarray(want[i]).astype(DTYPE[dtype][1]).tobytes()
            at = np.flatnonzero(g.reshape(-1) != np.asarray(want[i]).reshape(-1)) if not same else []
            words = "" if same else f"{dtype} at {at[:4]}: {g.reshape(-1)[at][:4]} is not {np.asarray(want[i]).reshape(-1)[at][:4]}"
        if words:
            return f"result {i}: {words}"
    return ""


class Tally:
    def __init__(self, options):
        self.options, self.agreed, self.wrong, self.open_, self.refused = options, collections.Counter(), [], collections.Counter(), []

    def note(self, case, words):
        if not words:
            self.agreed[case.name.split("-")[0]] += 1
            return
        self.wrong.append(case.name)
        print(f"{case.name}: {words}", flush=True)
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            open(os.path.join(self.options.keep, case.name + ".tosa"), "wb").write(case.file)

    def compare(self, batch):
        """batch: (case, its results by the reference model, or None where the program is to be asked)"""
        want = {c.name: r for c, r in batch}
        asked = [c for c, r in batch if r is None]
        exact, close, dots = ([c for c in asked if c.how in kinds] for kinds in (("exact",), ("close", "few", "dot", "loose", "between"), ("dot", "between")))
        want.update(zip([c.name for c in exact + close], run_program(exact) + run_program(close, precise=True)))
        bound = dict(zip([c.name for c in dots], run_program(dots, precise=True, bounds=True)))
        self.try_tosac([(c, want[c.name], bound.get(c.name)) for c, _ in batch])

    def try_tosac(self, batch):
        results = run_tosac(self.options, [c for c, _, _ in batch])
        if isinstance(results, str) and len(batch) > 1:  # one of them spoils it: each by itself
            for one in batch:
                self.try_tosac([one])
        elif isinstance(results, str):
            self.note(batch[0][0], results)
        else:
            results = iter(results)
            for case, want, bound in batch:
                self.note(case, differs(case, [next(results) for _ in case.types], want, bound))

    def judge(self, case):
        """What the reference model says, ready to be compared; None when there is nothing to compare."""
        try:
            results, status = quietly(case.judge)
        except Exception as refusal:  # the graph is not one it takes: our generator's mistake
            self.refused.append(case.name)
            print(f"{case.name}: reference model: {refusal}", flush=True)
            return None
        if status.name != "TOSA_VALID":
            self.open_[case.name.split("-")[0]] += 1
            return None
        return case, None if case.by_program() else results


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", default="")
    ap.add_argument("--keep")
    ap.add_argument("--from", type=int, default=0, dest="first")
    ap.add_argument("--run", default="", help="more arguments of tosac run")
    options = ap.parse_args()
    options.tosac = os.path.abspath(options.tosac)
    names = options.only.split(",") if options.only else list(CASES)
    weights = np.array([WEIGHT.get(n, 1) for n in names], float)
    weights /= weights.sum()
    tally, batch = Tally(options), []
    for number in range(options.first, options.first + options.count):
        judged = tally.judge(Case(options.seed, number, names, weights))
        if judged:
            batch.append(judged)
        if len(batch) == BATCH:
            tally.compare(batch)
            batch = []
    if batch:
        tally.compare(batch)
    print(f"{len(tally.agreed)} of {len(names)} kinds of graphs, {sum(tally.open_.values())} unpredictable ones left out, "
          f"{len(tally.refused)} that the reference model does not take")
    print(f"{sum(tally.agreed.values())} passed, {len(tally.wrong) + len(tally.refused)} failed")
    return 1 if tally.wrong or tally.refused or not tally.agreed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        sys.exit(2)
