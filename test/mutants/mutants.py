#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of the compiler, and which nets find them.    mutants.py BUILD CASES WORK [--count 100] [--seed 1] [--only WORD] [--deep FILE:LINE]

A mutant is src/lower or src/codegen with one place changed: a condition turned, a constant off by one, an operator in place of another
(places.py).  Places are drawn by the seed from all of them.  A mutant is compiled by the build's own command and linked in front of the
library; one that compiles to the unchanged code is none.  Every test runs once on a compiler that notes what ran (reach.py), and
a mutant is put before tests that come by its place, the quickest first, until one says something else than of the unchanged compiler.

The nets (nets.py), all of them parts of `make check`:

    golden     what rules and passes write, as text
    graphs     small graphs on two machines, our executor and verifier (npu-own)
    streams    every sixth case of TOSA's suite, on three machines by turns, the same
    second     the same streams before check/tosac_check
    cases      the other cases of the suite, by our executor and verifier alone
    drawn      500 random graphs of integers on four machines by turns, the same (tools/peer/own_diff.py)
    units      unit tests of lowering and of the back end
    operators  recorded operators of PyTorch, compiled, before recorded results
    bytes      hashes of digits for four targets
    check      small models, `compile --check`: every step, every stream and the result are executed
    compiles   the same models without --check: what the verifier and the writers refuse
    certificates   the files of that before check/tosac_check
    typed      the same with --typed: the typed program is computed again, too
    shaders    compute shaders and images of VGF files, on Vulkan in software
    table      every operator of the table, in every type, for every target
    models     300 random models for every target
    price      the same files: other bytes than the unchanged compiler writes; no finding, but said

Of a net at most MOST tests are tried first, drawn by the mutant, and none that takes LONG; then the others for at most --rest seconds.  One of ALL mutants goes
through all nets.  What nothing finds is listed: it is harmless, or a hole.  --deep: of the mutants at that line, without a limit.
--alone ROWS: those of an earlier run that were not found harmless by the machine, each before a few tests of every net.
WORK keeps what was found, so that a run that was stopped goes on.  Ends with "N passed, N failed, N skipped": failed is what no net found.
"""
from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

from build import Build
from nets import PRICES, Bench, all_tests, as_before, together
from places import Mutant, places
from reach import Reach, key

ALL = 12
MOST = {"golden": 80, "graphs": 60, "streams": 30, "cases": 60, "drawn": 60, "units": 8, "operators": 5, "bytes": 1, "check": 2, "table": 10, "models": 40}
FEW = 3  # one of so many of these, where every net is tried
LONG = 1.5  # seconds
BATCH = 16  # tests at a time, where a command takes several
QUICK = "-O0"  # to compile; what nothing finds is compared with the unchanged code as the build compiles it
PATIENCE, LEAST = 30, 20  # a test may take so many times its own time, and so many seconds


class Trial:
    def __init__(self, build: Build, bench: Bench, reach: Reach, deep: bool, wanted: str, rest: float, part: int = 1):
        self.build, self.bench, self.reach, self.deep, self.wanted, self.rest = build, bench, reach, deep, wanted, rest
        self.most = {net: -(-n // part) for net, n in MOST.items()}

    def chosen(self, found: list[int], name: str) -> list[int]:
        """Of each net at most MOST, drawn by the mutant's name."""
        dice = random.Random(name)
        by_net: dict[str, list[int]] = {}
        for k in (k for k in found if self.deep or self.reach.seconds[k] < LONG):
            by_net.setdefault(self.reach.tests[k].net, []).append(k)
        kept = {k for net, ks in by_net.items() for k in (ks if self.deep else dice.sample(ks, min(len(ks), self.most.get(net, 0))))}
        return [k for k in found if k in kept]

    def others(self, found: list[int], name: str) -> list[int]:
        """Those that were not chosen, as many as take `rest` seconds."""
        left, tried = self.rest, set(self.chosen(found, name))
        kept = []
        for k in (k for k in found if k not in tried):
            left -= self.reach.seconds[k]
            kept += [k] if left > 0 else []
        return kept

    def finds(self, changed: Path, found: list[int], all_nets: bool) -> dict[str, str]:
        """By net, the first test that says something else."""
        programs, by = {}, {}
        for ks in self.batches(found):
            t = self.reach.tests[ks[0]]
            if all_nets and set(self.reach.said[ks[0]]) - set(PRICES) <= set(by):
                continue
            if t.target not in programs:
                programs[t.target] = self.build.link(t.target, [changed], self.build.work / t.target, "-s")
            self.bench.seconds = LEAST + PATIENCE * sum(self.reach.seconds[k] for k in ks)
            for net in self.differs(programs[t.target], ks):
                by.setdefault(net, t.name)
            if not all_nets and set(by) - set(PRICES):
                break
        return by

    def differs(self, program: Path, ks: list[int]) -> list[str]:
        """Nets by which these tests say something else."""
        t, before = self.reach.tests[ks[0]], [self.reach.said[k] for k in ks]
        if len(ks) == 1:
            said, _ = self.bench.tried(t, program)
            return [net for net in said if said[net] != before[0][net]]
        return [] if as_before(together(self.bench, program, [self.reach.tests[k] for k in ks]), [b[t.net] for b in before]) else [t.net]

    def batches(self, found: list[int]) -> list[list[int]]:
        """Those of one command BATCH at a time, in the order of the first of each."""
        made: list[list[int]] = []
        filled: dict[tuple, list[int]] = {}
        for k in found:
            t = self.reach.tests[k]
            batch = filled.get((t.net, t.words), [])
            if not t.words or not 0 < len(batch) < BATCH:
                batch = []
                made.append(batch)
                filled[t.net, t.words] = batch
            batch.append(k)
        return made


def row_of(trial: Trial, place, number: int) -> dict:
    m = Mutant(place)
    row = {"mutant": m.words, "kind": m.kind, "is": "", "by": {}}
    row["is"] = trial.build.changed(m, QUICK)
    if row["is"]:
        return row
    reached = [k for k in trial.reach.of(place, m.line) if re.search(trial.wanted, key(trial.reach.tests[k]))]
    row["reached_by"] = dict(Counter(trial.reach.tests[k].net for k in reached))
    row["all"] = number % ALL == 0 or trial.most != MOST
    row["by"] = trial.finds(trial.build.work / "changed.o", trial.chosen(reached, m.words), row["all"])
    if not set(row["by"]) - set(PRICES) and not trial.deep:
        row["by"] |= trial.finds(trial.build.work / "changed.o", trial.others(reached, m.words), False)
    found = set(row["by"]) - set(PRICES)
    row["is"] = "found" if found else trial.build.changed(m) or ("a price" if row["by"] else "not found" if reached else "not reached")
    return row


def those_of(rows: list[dict], drawn: list) -> list:
    """The places of an earlier run's mutants that something found; a line may have moved since."""
    def parts(words: str) -> tuple:
        path, line, rest = words.split(":", 2)
        return (path, rest), int(line)

    by_words: dict[tuple, list] = {}
    for place in drawn:
        what, line = parts(Mutant(place).words)
        by_words.setdefault(what, []).append((line, place))
    found = []
    for what, line in (parts(r["mutant"]) for r in rows if r["is"] == "found"):
        if what in by_words:
            found.append(min(by_words[what], key=lambda at: abs(at[0] - line))[1])
    return found


def summary(rows: list[dict]) -> None:
    count = Counter(r["is"] for r in rows)
    alone, seen = Counter(), sum(r.get("all", False) for r in rows)
    for r in rows:
        alone.update(list(r["by"]) if r.get("all") else [])
    for how, n in sorted(count.items()):
        print(f"{how}: {n}")
    for net, n in sorted(alone.items()):
        print(f"{net} alone: {n} of {seen}")
    for r in rows:
        if r["is"] in ("not found", "not reached", "a price"):
            print(f"{r['is']}: {r['mutant']}")
    lost = count["not found"] + count["not reached"] + count["a price"]
    print(f"{count['found']} passed, {lost} failed, {count['equal code'] + count['does not compile']} skipped")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="of files whose names contain this")
    parser.add_argument("--skip", type=int, default=0, help="begin at this place of those that are drawn: for several runs at a time, each with its WORK")
    parser.add_argument("--again", nargs="*", default=[], help="those of which this was said before")
    parser.add_argument("--tests", default="", metavar="REGEX", help="those of which the net and the name match alone, without a limit; for --again")
    parser.add_argument("--rest", type=float, default=40, help="seconds for what was not tried first")
    parser.add_argument("--alone", type=Path, metavar="ROWS")
    parser.add_argument("--deep", help="FILE:LINE, or its beginning")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    drawn = [p for p in places() if not args.only or args.only in p.path.name]
    random.Random(args.seed).shuffle(drawn)
    if args.alone:
        drawn = those_of(json.loads(args.alone.read_text()), [p for p in drawn if p.path.name in args.alone.read_text()])
    drawn = drawn[args.skip:]
    work = args.work.resolve()
    build, bench = Build(args.build.resolve(), work), Bench(args.build.resolve(), work, args.cases.resolve())
    reach = Reach(build, bench, all_tests(bench.build, bench.cases, work), work / "reach.json")
    kept = work / f"{'alone' if args.alone else 'seed'}{args.seed}-{args.skip}.json"
    rows = json.loads(kept.read_text()) if kept.exists() and not args.deep else []
    print(f"{len(drawn)} places, {len(reach.tests)} tests", flush=True)
    trial = Trial(build, bench, reach, bool(args.deep) or bool(args.tests), args.tests, args.rest, FEW if args.alone else 1)
    for k, row in enumerate(rows):
        if row["is"] in args.again:
            now = row_of(trial, drawn[k], 1)
            rows[k] = row if args.tests and now["is"] != "found" else now
            print(f"again: {rows[k]['is']}: {', '.join(rows[k]['by'].values())}: {row['mutant']}", flush=True)
            kept.write_text(json.dumps(rows, indent=1))
    for place in drawn if args.deep else drawn[len(rows):]:
        tried = sum(r["is"] not in ("does not compile", "equal code") for r in rows)
        if tried >= args.count:
            break
        if args.deep and not Mutant(place).words.startswith(args.deep):
            continue
        rows.append(row_of(trial, place, tried))
        if rows[-1]["is"] not in ("does not compile", "equal code"):
            print(f"{tried + 1}: {rows[-1]['is']}: {', '.join(f'{net} ({name})' for net, name in rows[-1]['by'].items())}: {rows[-1]['mutant']}", flush=True)
        if not args.deep:
            kept.write_text(json.dumps(rows, indent=1))
    summary(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
