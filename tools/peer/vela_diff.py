#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vela's command streams beside the TOSA reference model, on random integer graphs.

    vela_diff.py TOSAC [--count N] [--seed S] [--from N] [--on ACCELERATOR,...] [--keep DIR] [--detours] [--seconds S]

Run it with the Python that has tosa_reference_model and the ethosu.vela that is to be tried.  A graph is a few operators that Vela
joins, cuts and moves: changes of scale, sums, slices, pads, joins, transposes, reductions, products.  The reference model gives what is
expected, Vela (in a child) a stream, tosac's library what the machine computes.  Where that differs the graph goes through
`tosac compile --check`, as a user's would: "avoided" when a detour makes it right in one region on the machine.  Everything else has
failed, is made smaller by taking operators away, and is kept with --keep.  --detours: every graph through `tosac compile --check` only.
Ends with "N passed, N failed".
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
import tosac_lib  # noqa: E402
import vela_fork  # noqa: E402
from tosa_write import serialize  # noqa: E402
from vela_graphs import Maker, recipe_of  # noqa: E402

PATH = os.environ["PATH"]
os.environ["PATH"] = ""  # the reference model starts a debugger where it finds one
import tosa_reference_model as model  # noqa: E402

os.environ["PATH"] = PATH


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


def by_detours(options, accelerator, case):
    """The same through `tosac compile --check`, which leads around what is known and executes the stream by itself.  '' when it is whole
    and right, None when it is not taken, or what is wrong."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
        path = os.path.join(d, "g.tosa")
        open(path, "wb").write(case.file)
        done = subprocess.run([options.tosac, "compile", path, "-t", accelerator, "--ethosu-backend", "vela", "--check", "-o", os.path.join(d, "g.pte")], capture_output=True,
                              text=True, env={**os.environ, "TOSAC_VELA": options.server.path, "TMPDIR": d})
    if not done.returncode:
        return "" if ": 1 region," in done.stdout + done.stderr else f"in pieces: {(done.stdout + done.stderr).strip()[-300:]}"
    refused = "refused a region" in done.stderr or "was ended by signal" in done.stderr or "[tosa-profile]" in done.stderr or "[unsupported]" in done.stderr
    return None if refused else f"exit {done.returncode}: {done.stderr.strip()[:300]}"


def by_itself(options, accelerator, case):
    """Vela's own answer."""
    def work():
        try:
            stream = vela_fork.compiled(case.file, accelerator)
        except Exception:  # noqa: BLE001
            return None
        made = tosac_lib.run(options.lib, "g_vela.npz", stream, case.graph.g.feeds)
        if isinstance(made, str):
            return "run: " + made[-160:]
        for i, (got, ref) in enumerate(zip(made, case.want)):
            kind = np.int8 if ref.dtype == np.bool_ else ref.dtype
            if len(got) != ref.size * ref.itemsize or not np.array_equal(np.frombuffer(got, kind), ref.reshape(-1).view(kind)):
                return f"output {i} {ref.shape} {ref.dtype} differs"
        return "" if len(made) == len(case.want) else f"{len(made)} outputs, expected {len(case.want)}"

    said, ended = vela_fork.forked(work)
    return None if ended else said


def judge(options, accelerator, case, detours):
    """'' when equal, None when it is not taken, or what is wrong."""
    return None if case.want is None else by_detours(options, accelerator, case) if detours else by_itself(options, accelerator, case)


def smaller(options, accelerator, recipe, seed, words, detours):
    """Steps are taken away as long as it still differs."""
    k = 1
    while k < len(recipe):
        less = recipe[:k] + recipe[k + 1:]
        said = judge(options, accelerator, Case(less, seed), detours)
        if said and not said.startswith("in pieces") or said and words.startswith("in pieces"):
            recipe, words = less, said
        else:
            k += 1
    return recipe, words


def tried(options, accelerator, case):
    """What came of it, its words, and whether the detours are asked."""
    if options.detours:
        words = judge(options, accelerator, case, True)
        pieces = words and words.startswith("in pieces")
        return "skipped" if words is None or pieces else "failed" if words else "passed", words
    words = judge(options, accelerator, case, False)
    if not words:
        return "skipped" if words is None else "passed", ""
    round_about = judge(options, accelerator, case, True)
    return ("avoided", words) if round_about == "" else ("failed", round_about or "refused by the detour: " + words)


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
    machines = options.on.split(",")
    for accelerator in machines:
        vela_fork.learn(accelerator)
    options.lib, options.server = tosac_lib.load(options.tosac), vela_fork.Server()
    total, began, number, machine_runs = collections.Counter(), time.time(), options.first, 0
    while number < options.first + options.count and time.time() - began < options.seconds:
        recipe = recipe_of(options.seed, number)
        case = Case(recipe, number)
        total["graphs"] += case.want is not None
        for accelerator in machines if case.want is not None else ():
            verdict, words = tried(options, accelerator, case)
            total[verdict] += 1
            machine_runs += 1
            if verdict != "failed":
                continue
            less, words = smaller(options, accelerator, recipe, number, words, not words.startswith("refused"))
            made = Maker(less, number)
            ops = [op[0] for op in made.g.operators if not op[0].startswith("CONST")]
            print(f"{accelerator} {number}: {' '.join(ops)}: {words}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                open(os.path.join(options.keep, f"{accelerator}-{options.seed}-{number}.tosa"), "wb").write(serialize([made.g]))
        number += 1
        if number % 100 == 0:
            print(f"  {number}: {dict(total)}, {1000 * (time.time() - began) / machine_runs:.1f} ms a graph and machine", flush=True)
    options.server.close()
    print(f"{total['graphs']} graphs ({options.first} to {number - 1}): {total['passed']} passed, {total['failed']} failed, "
          f"{total['avoided']} avoided, {total['skipped']} refused by Vela; {1000 * os.times().user / max(1, machine_runs):.1f}"
          f" + {1000 * os.times().children_user / max(1, machine_runs):.1f} ms of processor a graph and machine")
    return total["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
