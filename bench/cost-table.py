#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every trained model costs on the Ethos-U machines, what it could not go below, and what binds; memory against cycles.

  cost-table.py [--seconds N] [--models DIR] OUT.md

A profile that takes longer than N seconds (150) is estimated, and marked with ~.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import tempfile

MACHINES = ("ethos-u85-256", "ethos-u55-256", "ethos-u65-512")
BY_HAND = "## What binds attention"  # from there on the page stays as it is
PLAIN = "multiplications and writing results"
SHORT = (  # of the hints of `tosac profile`
    ("column", "matrix products, a column at a time"), ("weights", "waiting for weights"), ("every weight", "weights used once or twice"),
    ("depthwise", "depthwise convolutions"), ("channels", "few channels"), ("order", "elements put in another order"),
    ("elsewhere", "copies"), ("constant", "waiting for constants"), ("memory", "waiting for memory"), ("table", "tables, changes of scale"), ("reduction", "reductions"))


def short(hint):
    return next((words for part, words in SHORT if hint and part in hint), hint or PLAIN)


def call(arguments, seconds):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def data_of(folder):
    found = [os.path.join(folder, f) for f in ("calib.npz", "calib.npy") if os.path.exists(os.path.join(folder, f))]
    return found[0] if found else "random:2"


def profile(tosac, folder, machine, seconds):
    command = [tosac, "profile", os.path.join(folder, "model.pt2"), "-t", machine, "--calib", data_of(folder), "--json"]
    done = call(command, seconds)
    guessed = done is None or done.returncode != 0
    done = call(command + ["--estimate"], None) if guessed else done
    return (json.loads(done.stdout), guessed) if done.returncode == 0 else (None, guessed)


def cost_row(name, machine, p, guessed):
    by = collections.Counter()
    for row in p["nodes"]:
        by[short(row["hint"])] += row["cycles"]
    binds = ", ".join(f"{words} {100 * n / p['cycles']:.0f} %" for words, n in by.most_common(3) if n >= 0.01 * p["cycles"])
    mark = "~" if guessed else ""
    return f"| {name} | {machine} | {mark}{p['cycles'] / 1e6:.3f} | {p['limits']['macs'] / 1e6:.3f} | {p['limits']['bytes'] / 1e6:.3f} | {binds} |"


def compiled(tosac, folder, machine, *more):
    with tempfile.TemporaryDirectory() as work:
        done = call([tosac, "compile", os.path.join(folder, "model.pt2"), "-t", machine, "--calib", data_of(folder), "-o", os.path.join(work, "m.pte"), *more], 600)
    found = re.search(r"(\d+) cycles, (\d+) KiB", done.stdout + done.stderr) if done else None
    return (int(found[1]), int(found[2])) if found else None


def memory_row(tosac, folder, name, machine):
    first = compiled(tosac, folder, machine)
    if not first:
        return f"| {name} | {machine} | no answer | | | |"
    cells = [first, compiled(tosac, folder, machine, "--optimise", "Size")]
    cells += [compiled(tosac, folder, machine, "--max-scratch", str(int(first[1] * 1024 * share))) for share in (0.75, 0.5)]
    return f"| {name} | {machine} | " + " | ".join(f"{c[1]} KiB, {c[0] / 1e6:.3f} M" if c else "none found" for c in cells) + " |"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=150)
    p.add_argument("--models", default=os.path.join(os.environ.get("TOSAC_SHARED", "../shared"), "zoo"))
    p.add_argument("--tosac", default="build/tosac")
    p.add_argument("out")
    a = p.parse_args()
    folders = [os.path.join(root, d) for root in (a.models, os.path.join(a.models, "small")) if os.path.isdir(root) for d in sorted(os.listdir(root))]
    folders = [f for f in folders if os.path.exists(os.path.join(f, "model.pt2"))]
    kept = open(a.out).read().partition("\n" + BY_HAND) if os.path.exists(a.out) else ("", "", "")
    with open(a.out, "w") as out:
        print("# What the trained models cost\n\nMade by `make cost-table` (bench/cost-table.py); cycles in millions, by [the cost model](../profile.md); ~: estimated from the TOSA\n"
              "operators ([profile](../profile.md)). *By MACs*: every multiplier busy. *By bytes*: everything the streams read and write, at the full speed\n"
              "of the busiest memory. *What binds*: the share of the cycles by what is behind them.\n\n"
              "| model | machine | cycles | by MACs | by bytes | what binds |\n|---|---|---|---|---|---|", file=out, flush=True)
        for folder in folders:
            for machine in MACHINES:
                found, guessed = profile(a.tosac, folder, machine, a.seconds)
                if found and found["machine"]:
                    print(cost_row(os.path.basename(folder), machine, found, guessed), file=out, flush=True)
        print("\n## Memory against cycles\n\nSRAM and cycles as compiled by default, with `--optimise Size`, and with `--max-scratch` at three quarters and half of the default.\n\n"
              "| model | machine | default | Size | 75 % | 50 % |\n|---|---|---|---|---|---|", file=out, flush=True)
        for folder in folders:
            print(memory_row(a.tosac, folder, os.path.basename(folder), MACHINES[0]), file=out, flush=True)
        out.write(kept[1] + kept[2])


main()
