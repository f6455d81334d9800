#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our own Ethos-U back end beside Vela on the same TOSA files, as a table.

  ethosu-table.py [--own build/npu-own] [--size] [--made] MACHINE[:MODE] FILE.tosa...      Vela is wanted in PATH

Cycles of both streams are by our cost model, memory of both processes is what they had at most, seconds are the processor's; Vela's are with
Python's start.  --size: also constants with --optimise Size of both.  --made: our streams are not executed.  What is worse than Vela's is bold.  The last row has geometric means.
Ends with exit 1 where a stream of ours is wrong.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "peer"))
import npu_vela  # noqa: E402

FIGURES = re.compile(r"(\d+) cycles, (\d+) bytes of SRAM, (\d+) bytes of constants, (\d+) bytes moved(?:.*?, ([\d.]+) s, (\d+) KB)?")
COLUMNS = ("cycles", "SRAM", "constants", "moved", "seconds", "MB")


def figures(words):
    found = FIGURES.search(words)
    if not found:
        return None
    n = found.groups()
    return [int(x) for x in n[:4]] + ([float(n[4]), int(n[5]) / 1000] if n[4] else [])


def own(tool, machine, mode, file, *more):
    done = subprocess.run([tool, "-v", *more, f"{machine}:{mode}", file], capture_output=True, text=True)
    first = done.stdout.splitlines()[0] if done.stdout else f"exit {done.returncode}"
    if done.returncode:
        sys.exit(first)
    if ": not tried" in first and "-t" not in more: # drawn inputs leave what TOSA defines
        return own(tool, machine, mode, file, "-t", *more)
    return figures(first), first


def vela(tool, machine, mode, file, goal):
    with tempfile.TemporaryDirectory() as work:
        child = subprocess.Popen(["/usr/bin/env", "vela", *npu_vela.options(machine, mode), "--output-format=raw", f"--optimise={goal}",
                                  f"--output-dir={work}", file],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        made = os.path.join(work, os.path.basename(file)[:-len(".tosa")] + "_vela.npz")
        if child.returncode or not os.path.exists(made):
            return None
        found = own(tool, machine, mode, made)[0]
        return found + [used.ru_utime + used.ru_stime, used.ru_maxrss / 1000]


def shown(x, column):
    return f"{x:.2f}" if column == "seconds" else f"{x:.0f}" if column == "MB" else f"{x:,}"


def pair(ours, theirs, column):
    if ours is None:
        return ["refused", shown(theirs, column) if theirs is not None else "refused"]
    if theirs is None:
        return [shown(ours, column), "refused"]
    mark = "**" if ours > theirs else ""
    return [mark + shown(ours, column) + mark, shown(theirs, column)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--own", default="build/npu-own")
    parser.add_argument("--size", action="store_true")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("machine")
    parser.add_argument("file", nargs="+")
    a = parser.parse_args()
    machine, _, mode = a.machine.partition(":")
    mode = mode or npu_vela.SYSTEM[machine.split("-")[1]][1]
    columns = list(COLUMNS) + (["constants, Size"] if a.size else [])
    print(f"| `{machine}` | " + " | ".join(f"{c} | Vela" for c in columns) + " |")
    print("|---|" + "---|" * 2 * len(columns))
    logs = [[] for _ in columns]
    how = ["-t"] if a.made else []
    for file in a.file:
        ours, said = own(a.own, machine, mode, file, *how)
        theirs = vela(a.own, machine, mode, file, "Performance")
        if a.size:
            small, size = own(a.own, machine, mode + ":size", file, "-t")[0], vela(a.own, machine, mode, file, "Size")
            ours = ours + [small[2]] if ours else None
            theirs = theirs + [size[2] if size else None] if theirs else None
        cells = []
        for k, column in enumerate(columns):
            x, y = ours[k] if ours else None, theirs[k] if theirs else None
            cells += pair(x, y, column)
            if x and y:
                logs[k].append(math.log(x / y))
        print(f"| {os.path.basename(file).split('.')[0]} | " + " | ".join(cells) + " |", flush=True)
        if not ours:
            print(said, file=sys.stderr)
    means = [f"{math.exp(sum(of) / len(of)):.3f}" if of else "" for of in logs]
    print("| mean, ours over Vela's | " + " | ".join(f"{m} | " for m in means) + "|")


if __name__ == "__main__":
    main()
