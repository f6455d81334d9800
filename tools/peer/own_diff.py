#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tosac's own Ethos-U back end on random integer graphs.

    own_diff.py NPU-OWN [--count N] [--seed S] [--from N] [--on MACHINE,...] [--keep DIR] [--write DIR]

Run it with the Python that has tosa_reference_model.  Two graphs of three are several operators that a back end joins, cuts and moves
(fused_graphs.py), some of them large; the third is one operator or a few with odd attributes (tosa_cases.py), half of these a window next to what
machines count to.  What the reference model
calls UNPREDICTABLE, and what has floats, is left out.  The others go to npu-own, many at a time: verified, executed, beside tosac's
reference kernels.  What is wrong or crashes is made smaller by taking operators away, and kept with --keep.  --write: the graphs are
only written.  Ends with "N passed, N failed".
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tosa_cases import CASES, FLOATS, FP8, LIMITS, WEIGHT  # noqa: E402
from tosa_write import Graph, serialize  # noqa: E402
from fused_graphs import Maker, recipe_of  # noqa: E402

PATH = os.environ["PATH"]
os.environ["PATH"] = ""  # the reference model starts a debugger where it finds one
import tosa_reference_model as model  # noqa: E402

os.environ["PATH"] = PATH
BATCH = 50
KINDS = [k for k in CASES if k not in ("float_chain", "COND_IF", "WHILE_LOOP")]
SHARE = np.array([WEIGHT.get(k, 1) for k in KINDS], float)


class Wide(Maker):
    """Larger extents: several blocks, cascades, weights in slices."""

    def extents(self, least=1, most=7):
        if self.chance(0.3):
            return super().extents(least, most)
        return 1, self.number(4, 40), self.number(4, 40), self.of(1, 3, 8, 16, 24, 33, 64)


class Case:
    """file is None: there is nothing to compare with."""

    def __init__(self, seed, number, recipe=None):
        self.seed, self.number, self.file = seed, number, None
        self.recipe = recipe or (recipe_of(seed, number) if number % 3 else None)
        if self.recipe:
            made = (Wide if number % 3 == 2 else Maker)(self.recipe, number)
            self.graph, regions = made.g, []
            if not made.ok:
                return
        else:
            rng = np.random.default_rng([seed, number])
            self.graph = Graph("main", "c")
            self.graph.regions = regions = []
            if number % 2:
                list(LIMITS.values())[int(rng.integers(len(LIMITS)))](rng, self.graph)
            else:
                CASES[KINDS[int(rng.choice(len(KINDS), p=SHARE / SHARE.sum()))]](rng, self.graph)
        if any(dtype in FLOATS + FP8 for dtype, _ in self.graph.type.values()):
            return
        data = serialize([self.graph] + regions)
        if self.predictable(data):
            self.file = data

    def predictable(self, data):
        kept = os.dup(1), os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        try:
            return model.run(data, self.graph.feeds)[1].name == "TOSA_VALID"
        except ValueError:  # no graph of TOSA
            return False
        finally:
            os.dup2(kept[0], 1), os.dup2(kept[1], 2)
            for f in (*kept, null):
                os.close(f)

    def operators(self):
        return " ".join(op[0] for op in self.graph.operators if not op[0].startswith("CONST"))

    def write(self, folder):
        os.makedirs(folder)
        open(os.path.join(folder, "test.tosa"), "wb").write(self.file)
        for i, feed in enumerate(self.graph.feeds):
            np.save(os.path.join(folder, f"input-{i}.npy"), feed)


def tried(options, machine, folders):
    """The verdict and its words for each folder; a crash takes the whole batch with it, which is then tried one by one."""
    try:
        done = subprocess.run([options.program, "-v", machine, *folders], capture_output=True, text=True, timeout=30 + 5 * len(folders))
        code, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, out = "too long", ""
    if code not in (0, 1):
        if len(folders) == 1:
            return {folders[0]: ("CRASH", f"exit {code}")}
        return {k: v for f in folders for k, v in tried(options, machine, [f]).items()}
    found = (re.match(r"\S+ (\S+): (equal|refused|WRONG|not tried):? ?(.*)", line) for line in out.splitlines())
    return {m[1]: (m[2], m[3]) for m in found if m}


def fails(options, machine, case):
    if case.file is None:
        return None
    with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
        folder = os.path.join(d, "g")
        case.write(folder)
        verdict, words = tried(options, machine, [folder]).get(folder, ("CRASH", "nothing said"))
    return words if verdict in ("WRONG", "CRASH") else None


def smaller(options, machine, case, words):
    """Steps are taken away as long as it still fails."""
    k = 1
    while case.recipe and k < len(case.recipe):
        less = Case(case.seed, case.number, case.recipe[:k] + case.recipe[k + 1:])
        said = fails(options, machine, less)
        if said:
            case, words = less, said
        else:
            k += 1
    return case, words


def report(options, machine, case, verdict, words):
    case, words = smaller(options, machine, case, words)
    print(f"{machine} {case.number}: {verdict}: {case.operators()}: {words}", flush=True)
    if options.keep:
        where = os.path.join(options.keep, f"{machine}-{case.seed}-{case.number}")
        if not os.path.exists(where):
            case.write(where)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--count", type=int, default=300)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--from", type=int, default=0, dest="first")
    ap.add_argument("--on", default="ethos-u55-128,ethos-u65-512,ethos-u85-256,ethos-u85-1024")
    ap.add_argument("--keep")
    ap.add_argument("--write")
    options = ap.parse_args()
    total, refused, graphs, number = collections.Counter(), collections.Counter(), 0, options.first
    while graphs < options.count:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
            cases = {}
            while len(cases) < min(BATCH, options.count - graphs):
                case = Case(options.seed, number)
                if case.file is not None:
                    cases[os.path.join(options.write or d, str(number))] = case
                    case.write(os.path.join(options.write or d, str(number)))
                number += 1
            graphs += len(cases)
            for machine in () if options.write else options.on.split(","):
                said = tried(options, machine, list(cases))
                for folder, case in cases.items():
                    verdict, words = said.get(folder, ("CRASH", "nothing said"))
                    total[machine, verdict] += 1
                    if verdict == "refused":
                        refused[machine.split("-")[1], re.sub(r"-?\d+", "N", words)] += 1
                    if verdict in ("WRONG", "CRASH"):
                        report(options, machine, case, verdict, words)
    for machine in options.on.split(","):
        print(f"{machine}: " + ", ".join(f"{total[machine, v]} {v}" for v in ("equal", "refused", "WRONG", "CRASH", "not tried")))
    for (machine, words), n in refused.most_common(12):
        print(f"  refused {n}, {machine}: {words}")
    bad = sum(n for (_, v), n in total.items() if v in ("WRONG", "CRASH"))
    print(f"{graphs} graphs ({options.first} to {number - 1})")
    print(f"{sum(n for (_, v), n in total.items() if v == 'equal')} passed, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
