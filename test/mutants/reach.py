# SPDX-License-Identifier: Apache-2.0
"""reach.py -- which tests come by a place: each runs once on a compiler that notes the blocks that ran (reach.c).

A block is known by the line that it begins on.  A place is reached by a test that reached the last known block at or before it in its
function, or else the first; outside of functions (tables) by every test that ran anything of its file.
"""
from __future__ import annotations

import bisect
import json
import re
import subprocess
from pathlib import Path

import numpy as np

from build import Build
from nets import Bench, Test
from places import TOP, Place

OPTIONS = ("-O0", "-g1", "-fsanitize-coverage=trace-pc")


class Reach:
    def __init__(self, build: Build, bench: Bench, tests: list[Test], kept: Path):
        """kept: what was found of tests before."""
        self.tests = tests
        found = json.loads(kept.read_text()) if kept.exists() else {}
        new = [t for t in tests if key(t) not in found]
        if new:
            measured(build, bench, new, found, kept)
        self.said = [found[key(t)]["said"] for t in tests]
        self.seconds = [found[key(t)]["seconds"] for t in tests]
        self.by_line: dict[tuple[str, int], set[int]] = {}
        for k, t in enumerate(tests):
            for name, line in found[key(t)]["lines"]:
                self.by_line.setdefault((name, line), set()).add(k)
        self.lines: dict[str, list[int]] = {}
        for name, line in sorted(self.by_line):
            self.lines.setdefault(name, []).append(line)

    def of(self, place: Place, line: int) -> list[int]:
        """Numbers of tests, the quickest first."""
        name, text = str(place.path.relative_to(TOP)), place.path.read_text()
        opens, closes = text.rfind("\n{", 0, place.at), text.rfind("\n}", 0, place.at)
        known = self.lines.get(name, [])
        if opens > closes:  # from the blank line before the function's head to its end
            first, last = (text.count("\n", 0, at) + 1 for at in (text.rfind("\n\n", 0, opens), text.find("\n}", opens)))
            known = [at for at in known if first < at <= last]
            known = known[max(bisect.bisect_right(known, line) - 1, 0):][:1]
        found = set().union(*(self.by_line[name, at] for at in known))
        return sorted(found, key=lambda k: (self.seconds[k], k))


def key(test: Test) -> str:
    return f"{test.net} {test.name}"


def measured(build: Build, bench: Bench, tests: list[Test], found: dict, kept: Path) -> None:
    folder = build.work / "reach"
    folder.mkdir(exist_ok=True)
    objects = []
    for number, path in enumerate(sorted(p for p in build.commands if p.is_relative_to(TOP / "src" / "lower") or p.is_relative_to(TOP / "src" / "codegen"))):
        objects.append(folder / f"{number}.o")
        if not objects[-1].exists():
            assert build.compile(path, path, objects[-1], *OPTIONS), path
    objects.append(folder / "reach.o")
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-c", TOP / "test" / "mutants" / "reach.c", "-o", objects[-1]], check=True)
    programs = {}
    for number, t in enumerate(tests):
        if t.target not in programs:
            programs[t.target] = Program(build.link(t.target, objects, folder / t.target, "-no-pie"))
        bench.reach = folder / "ran"
        bench.reach.unlink(missing_ok=True)
        said, seconds = bench.tried(t, programs[t.target].path)
        ran = np.flatnonzero(np.fromfile(bench.reach, np.uint8)) if bench.reach.exists() else []
        found[key(t)] = {"said": said, "seconds": round(seconds, 3), "lines": programs[t.target].lines_of([int(a) for a in ran])}
        if number % 100 == 0:
            print(f"{number} of {len(tests)} tests have run once", flush=True)
            kept.write_text(json.dumps(found))
    bench.reach = None
    kept.write_text(json.dumps(found))


class Program:
    def __init__(self, path: Path):
        self.path = path
        self.known: dict[int, list] = {}  # by address: file and line

    def lines_of(self, ran: list[int]) -> list[list]:
        new = [a for a in ran if a not in self.known]
        text = "".join(f"{a - 1:#x}\n" for a in new)  # what was noted is behind a call
        said = subprocess.run(["addr2line", "-e", self.path], input=text, capture_output=True, text=True, check=True).stdout.splitlines() if new else []
        for a, line in zip(new, said):
            place = re.match(rf"{re.escape(str(TOP))}/(.+):(\d+)", line)
            self.known[a] = [place[1], int(place[2])] if place else []
        return sorted({tuple(self.known[a]) for a in ran if self.known[a]})
