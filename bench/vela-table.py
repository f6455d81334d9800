#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our streams beside Vela's from the same .tflite files, both by our timing model, in memories of three kinds.

  vela-table.py [--tosac build/tosac] [--on CASE,...] [--rows FILE.json] [--streams FOLDER] FILE.tflite...      Vela is wanted in PATH

CASE: MACHINE:KIND, KIND one of sram, flash, dram.  <: less than Vela's beyond the band; bold: more beyond it; else a tie.  -: Vela leaves operators of the
file to the CPU, one of them makes nothing, or takes more than 900 s.  --rows: figures that are there are not made again, new ones are added.  --streams: Vela's streams are kept there.
Exit 1 where a stream of ours is more expensive beyond the band.
"""
import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

SYSTEM = {  # by product and kind of memory: system, memory mode
    ("u55", "sram"): ("Ethos_U55_High_End_Embedded", "Sram_Only"), ("u55", "flash"): ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    ("u65", "sram"): ("Ethos_U65_High_End", "Sram_Only"), ("u65", "flash"): ("Ethos_U65_Embedded", "Shared_Sram"),
    ("u65", "dram"): ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
    ("u85", "sram"): ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only"), ("u85", "flash"): ("Ethos_U85_SYS_Flash_High", "Shared_Sram"),
    ("u85", "dram"): ("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB")}
CASES = [f"{m}:{k}" for m in ("u55-128", "u65-512", "u85-256", "u85-1024") for k in ("sram", "flash", "dram") if (m[:3], k) in SYSTEM]


def run(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return None


def figures(words):
    """Cycles and their band; None: there are none."""
    if words is None or words.returncode:
        return None
    p = json.loads(words.stdout)
    return [p["cycles"], p["cycles_low"], p["cycles_high"], p["macs"]] if p.get("cycles") else None


def ours(tosac, file, machine, system):
    with tempfile.TemporaryDirectory() as work:
        out = f"{work}/m.pte"
        made = run(tosac, "compile", file, "-t", f"ethos-{machine}", "--system", ",".join(system), "-o", out, "--json")
        if made is None or made.returncode:
            return None
        j = json.loads(made.stdout)
        sram = max((r["stream"]["fast_scratch"] or r["stream"]["scratch"] for r in j["regions"]), default=0)
        found = figures(run(tosac, "profile", out, "--system", ",".join(system), "--json"))
        return found and found + [sram, len(j["cpu"])]


def velas(tosac, file, machine, system, streams):
    with tempfile.TemporaryDirectory() as work:
        name = os.path.basename(file)[:-len(".tflite")]
        to = os.path.join(streams, "__".join((name, machine, *system))) if streams else work
        if not streams or not os.path.exists(to):
            os.makedirs(to, exist_ok=True)
            run("vela", file, f"--accelerator-config=ethos-{machine}", "--config=Arm/vela.ini", f"--system-config={system[0]}",
                f"--memory-mode={system[1]}", "--output-dir", to)
        out = glob.glob(f"{to}/*_vela.tflite")
        if not out:
            return None
        kinds = re.findall(r"^ +\d+  (\S+.*)$", run(tosac, "inspect", out[0]).stdout.partition("\noperators")[2], re.M)
        left = [k for k in kinds if not k.startswith("CUSTOM ethos-u")]
        found = figures(run(tosac, "profile", out[0], "--system", ",".join(system), "--json"))
        return found and found + [len(left)]


def verdict(a, b):
    if b[4]:  # the CPU has some of it
        return None
    return "tie" if a[1] <= b[0] <= a[2] or b[1] <= a[0] <= b[2] else "less" if a[0] < b[0] else "MORE"


def table(rows, cases, names):
    yield "| file | " + " | ".join(cases) + " |\n|---|" + "---:|" * len(cases)
    for n in names:
        cells = []
        for c in cases:
            r = rows.get(f"{n} {c}")
            word = verdict(*r) if r and r[0] and r[1] else None
            ratio = f"{r[0][0] / r[1][0]:.2f}" if word else "-"
            cells.append(f"**{ratio}**" if word == "MORE" else f"{ratio} <" if word == "less" else ratio)
        yield f"| {n} | " + " | ".join(cells) + " |"
    logs = [[math.log(r[0][0] / r[1][0]) for n in names if (r := rows.get(f"{n} {c}")) and r[0] and r[1] and verdict(*r)] for c in cases]
    yield "| mean | " + " | ".join(f"{math.exp(sum(of) / len(of)):.3f}" if of else "-" for of in logs) + " |"


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--tosac", default="build/tosac"), ap.add_argument("--on", default=",".join(CASES)), ap.add_argument("--rows"), ap.add_argument("--streams")
    ap.add_argument("file", nargs="+")
    a = ap.parse_args()
    cases, rows = a.on.split(","), json.load(open(a.rows)) if a.rows and os.path.exists(a.rows) else {}
    names = [os.path.basename(f)[:-len(".tflite")] for f in a.file]
    for c in cases:
        machine, kind = c.split(":")
        system = SYSTEM[machine[:3], kind]
        for f, n in zip(a.file, names):
            if f"{n} {c}" in rows:
                continue
            rows[f"{n} {c}"] = [ours(a.tosac, f, machine, system), velas(a.tosac, f, machine, system, a.streams)]
            if a.rows:
                json.dump(rows, open(a.rows, "w"), indent=1)
    print("\n".join(table(rows, cases, names)))
    return any(r[0] and r[1] and verdict(*r) == "MORE" for r in rows.values())


if __name__ == "__main__":
    sys.exit(main())
