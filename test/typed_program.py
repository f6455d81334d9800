#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed_program.py -- what regions give beside the typed program computed again (tosac_check --typed).    typed_program.py TOSAC [--files FILE...] [--damage N]

Small models (with --files others, on drawn data) are compiled for an Ethos-U55 and an Ethos-U85 with a certificate and a dump; every region must be what
the typed program gives: bit for bit where it is of TOSA's operators, within what rounding explains elsewhere.  --damage N: what a mistake in the lowering does
is planted in the typed program, N times in each way (FAULTS): a scale, a zero point, a bound, a weight, a bias.  A fault that changes no result is harmless; of the
others LEAST must be found.
Ends with "N passed, N failed, N skipped".
"""
from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "check"), str(TOP / "test")]
from tosac_check import certificate, typed  # noqa: E402
from tosac_check.statements import side_of  # noqa: E402
from tosac_check.stream import Bad  # noqa: E402
from tosac_check.typed_operators import scales_of  # noqa: E402

from certified import QUICK, SMALL, Case  # noqa: E402

TARGETS = (("ethos-u55-128", "o.pte"), ("ethos-u85-256", "o.pte"))
LEAST = 0.6  # 73 of 110 in one run: a bias by an eighth or one bit of a weight may be less than what rounding explains
ENOUGH = 20


def quant_changed(quant: str, change) -> str:
    head, found = ("", quant) if not quant.startswith("axis") else quant.split("; ", 1)
    pairs, *codes = found.split(" in ")
    made = ", ".join(change(*p.split(":")) for p in pairs.split(", "))
    return (head + "; " if head else "") + " in ".join([made, *codes])


def typed_as(change):
    """Of a statement's one result: another type."""
    def by(program: typed.Typed, s, dice) -> bool:
        t = s.types[0]
        if len(s.types) != 1 or s.op == "const" or not t.quant or scales_of(t)[3] >= 1 << 16:
            return False
        program.types[s.results[0]] = s.types[0]._replace(quant=quant_changed(t.quant, change))
        s.types[0] = program.types[s.results[0]]
        return True
    return by


def bound(program, s, dice) -> bool:
    ends = [k for k in ("lo", "hi") if s.op == "clamp" and np.isfinite(s.attributes[k]) and s.attributes[k]]
    for k in ends:
        s.attributes[k] *= 0.9
    return bool(ends)


def constant(kind: str, change):
    def by(program, s, dice) -> bool:
        if s.op != "const" or s.types[0].dtype != kind or not s.types[0].elements:
            return False
        flat = program.constant(s).copy().reshape(-1)
        at = dice.randrange(flat.size)
        flat[at] = change(flat[at])
        program.constants[s.results[0]] = flat.reshape(s.types[0].dims)
        return True
    return by


FAULTS = {
    "a scale": typed_as(lambda s, z: f"{float(s) * 1.02!r}:{z}"),
    "a zero point": typed_as(lambda s, z: f"{s}:{int(z) + 1}"),
    "a bound": bound,
    "a weight": constant("i8", lambda v: v ^ 32),
    "a bias": constant("i32", lambda v: v + max(abs(int(v)) // 8, 64)),
}


def planted(beside, side: bytes, kind: str, dice) -> typed.Typed | None:
    program = typed.Typed(beside.text, side)
    order = list(program.statements)
    dice.shuffle(order)
    return program if any(FAULTS[kind](program, s, dice) for s in order) else None


def tried(beside, program: typed.Typed) -> tuple[list[str], list]:
    """Faults, and what the program gives."""
    gave: list = []
    report = typed.report_of()
    for said in beside.record["regions"]:
        samples = certificate.samples_of(beside, said["name"])
        takes, gives = ([program.value_at(port) for port in said[k]] for k in ("inputs", "outputs"))
        part = program.part(takes, gives)
        for given, _ in samples:
            made = program.compute(part, {v: np.asarray(a).reshape(program.types[v].dims) for v, a in zip(takes, given)})
            gave += [made[v].tobytes() for v in gives]
        report["faults"] += typed.check_region(program, said, samples, report)
    return report["faults"], gave


def damage(beside, side: bytes, times: int, dice, count: Counter) -> None:
    _, right = tried(beside, typed.Typed(beside.text, side))
    for kind in FAULTS:
        for _ in range(times):
            program = planted(beside, side, kind, dice)
            if program is None:
                continue
            try:
                faults, gave = tried(beside, program)
            except (NotImplementedError, Bad):  # a border has another type
                faults, gave = ["a border"], []
            count[kind, "found" if faults else "harmless" if gave == right else "missed"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tosac")
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--damage", type=int, default=0)
    args = parser.parse_args()
    good = bad = skipped = 0
    count: Counter = Counter()
    dice = random.Random(1)
    for model, calib in SMALL * (not args.files) + [(path, "random:1") for path in args.files]:
        for target, name in TARGETS:
            with tempfile.TemporaryDirectory() as work:
                dump = Path(work) / "dump"
                case = Case(args.tosac, model, calib, target, name, Path(work), "--threads", "1", "--dump-dir", str(dump))
                if not case.made:
                    skipped += case.refused
                    bad += not case.refused
                    print(f"{model.parent.name}/{model.name} {target}: {case.said.splitlines()[0] if case.said else ''}")
                    continue
                beside = certificate.open_certificate(case.path)
                begun = time.process_time()
                report = typed.judge(beside, dump)
                faults = report["faults"] + (["no region was computed"] if not report["typed_regions"] and not args.files else [])
                words = "; ".join(faults) or f"{report['typed_regions']} regions, {report['typed_operators']} operators, {report['typed_samples']} samples"
                words += "".join(f"; not computed: {w}" for w in report["typed_not_computed"])
                spent = time.process_time() - begun
                print(f"{model.parent.name}/{model.name} {target}: {words}, {spent:.1f} s", flush=True)
                bad += bool(faults)
                good += not faults and report["typed_regions"] > 0
                skipped += not faults and not report["typed_regions"]
                if args.damage and not report["typed_not_computed"] and spent < QUICK:
                    damage(beside, side_of(beside.text, dump), args.damage, dice, count)
    for (kind, how), n in sorted(count.items()):
        print(f"{kind}: {n} {how}")
    found, missed = (sum(n for (_, how), n in count.items() if how == word) for word in ("found", "missed"))
    if args.damage:
        print(f"mistakes: {found} of {found + missed} that change a result are found")
    bad += found + missed >= ENOUGH and found < LEAST * (found + missed)
    print(f"{good} passed, {bad} failed, {skipped} skipped")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
