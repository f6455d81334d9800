#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles an instruction of Cortex-M cores, from MLPerf Tiny's published results (doc/cortex-m.md).

  cortexm_cycles.py REPOSITORY...      clones of mlcommons/tiny_results_vX

A result is inferences a second of one network on one board.  Where the runtime's kernels are CMSIS-NN's, clock / rate / instructions of the same network with CMSIS-NN (counted in
QEMU, doc/cortex-m.md) are cycles an instruction.  Other runtimes have unknown instructions: two boards with one runtime give the ratio of their cycles.
"""
import math
import re
import subprocess
import sys

BOARDS = {  # part of a board's name: core, MHz
    "L4R5": ("m4", 120), "CY8C": ("m4", 150), "M467": ("m4", 200), "U575": ("m33", 160), "U585": ("m33", 160), "RA6M4": ("m33", 200),
    "NRF5340": ("m33", 128), "H7A3": ("m7", 280), "F746": ("m7", 216), "RA8D1": ("m85", 480), "G0B1": ("m0+", 64)}
REFERENCE = "L4R5"
DSP = {"kws": 7841520, "ic": 29870800, "vww": 24710640, "ad": 579200}  # instructions with CMSIS-NN, by network
MVE = {"kws": 1781344, "ic": 4807438, "vww": 6423219, "ad": 146812}
CMSIS_NN = re.compile("cmsis.nn|renesas/|Skymizer/|Nuvoton/", re.I)  # runtimes on it, by submitter or system
CHANGED = {("v1.1", "vww")}  # half the cycles with every runtime of that round but the unchanged ones: another network inside


def results(repository):
    version = re.search(r"v\d\.\d", repository)[0]
    git = lambda *words: subprocess.run(["git", "-c", "core.quotepath=off", "-C", repository, *words], capture_output=True, text=True, errors="replace").stdout
    for f in git("ls-tree", "-r", "--name-only", "HEAD").split("\n"):
        m = re.search(r"closed/([^/]+/)results/(.*)/(kws|ic|vww|ad)/performance/(?:performance_)?results\.txt$", f)
        board = m and next((b for b in BOARDS if b.lower() in m[2].lower()), None)
        rate = re.findall(r"Throughput\s*:\s*([\d.]+)", git("show", "HEAD:" + f)) if board and not re.search("silicon_labs|U3C5", m[2]) else []
        if rate:
            core, mhz = BOARDS[board]
            runtime = re.sub("(?i)(DISCO|NUCLEO|NUMAKER|EK|DK|CY8CPROTO)?[-_]?(STM32)?" + board + "[A-Z0-9]*([-_](Q|P|DK|4343W))?", "", m[2])
            yield version, m[1] + runtime, board, core, m[3], mhz * 1e6 / float(rate[-1])


def spread(values):
    g = [math.log(v) for v in values]
    return f"{math.exp(sum(g) / len(g)):.2f} ({min(values):.2f} to {max(values):.2f}, {len(values)} points)"


rows = [r for repository in sys.argv[1:] for r in results(repository)]
by_core, ratio = {}, {}
known = {(v, who, n): c for v, who, b, _, n, c in rows if b == REFERENCE}
for v, who, b, core, n, cycles in rows:
    if CMSIS_NN.search(who) and ((v, n) not in CHANGED or "cmsis" in who.lower()):
        by_core.setdefault(core, {})[who.lower(), b, n] = cycles / (MVE if core == "m85" else DSP)[n]
    if b != REFERENCE and (v, who, n) in known:
        ratio.setdefault((core, b), []).append(cycles / known[v, who, n])
for core, of in sorted(by_core.items()):
    print(f"{core}: cycles an instruction {spread(list(of.values()))}")
    for (who, b, n), x in sorted(of.items()):
        print(f"    {who}{b} {n} {x:.2f}")
for (core, b), of in sorted(ratio.items()):
    print(f"{core} {b}: cycles beside {REFERENCE}'s {spread(of)}")
