# SPDX-License-Identifier: Apache-2.0
"""second_opinion.py -- our back end's command streams before tosac_check.    second_opinion.py NPU-OWN CASES [--every N] [--damage TOSAC]

For TOSA's suite in CASES: each stream is written by NPU-OWN, executed by check/tosac_check on the case's inputs, and must give the case's
results without a fault; a stream that NPU-OWN makes and does not keep is a failure.  --damage: each stream is damaged too, once in each way
that it has a place for.  What tosac_check does not find is put before TOSAC: damage that changes neither what it computes on four other inputs
nor what its verifier says is harmless (harmless.py); of the rest LEAST must be found.
Ends with "N passed, N failed, N skipped".
"""
from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "check"))
from tosac_check.__main__ import judge  # noqa: E402
from tosac_check.borders import borders  # noqa: E402
from tosac_check.stream import Raw, parse_payload  # noqa: E402

from harmless import Facts  # noqa: E402

MACHINES = ("ethos-u55-128", "ethos-u65-512", "ethos-u85-256")
SKIPPED = ("bf16", "f16", "f32", "fp8e4m3", "fp8e5m2")
WAITS = (17, 18)  # DMA_WAIT, KERNEL_WAIT
LEAST = 0.99  # of the damage that is not harmless, over all kinds
MORE = 8  # inputs beside the case's own
ENOUGH = 100  # to speak of a share
BASES = (0, 16, 128)  # of the first operand, the result, the second operand


def cases(folder: Path, every: int) -> list[Path]:
    found = sorted(p for p in folder.iterdir() if p.is_dir() and "ERRORIF" not in p.name and not any(f"_{s}" in p.name for s in SKIPPED))
    return found[::every]


def commands(raw: Raw) -> list[tuple[int, int, int]]:
    """Byte offset in cmd_data, opcode, and whether there is a second word."""
    payload = parse_payload(raw["cmd_data"])
    found, i = [], 0
    while i < len(payload["stream"]):
        word = payload["stream"][i]
        long = word >> 14 & 3
        found.append((payload["stream_at"] + 4 * i, word & 0x3FF, long))
        i += 2 if long else 1
    return found


def places(raw: Raw) -> dict[str, list[tuple[str, int, int]]]:
    """By kind of damage: member, byte, bits to turn."""
    all_of = commands(raw)
    return {
        "an address moved": [("cmd_data", at + 4, 16) for at, op, long in all_of if long and op in BASES],
        "a factor's last bit": [("cmd_data", at + 4, 1) for at, op, long in all_of if long and op == 36],
        "a weight or constant": [("weight_data", i, 4) for i in range(len(raw["weight_data"]))],
        "a type": [("cmd_data", at + 2, 1) for at, op, long in all_of if not long and op in (261, 276)],
        "a size": [("cmd_data", at + 2, 1) for at, op, long in all_of if not long and op in (273, 274, 275)],
        "a zero point": [("cmd_data", at + 2, 1) for at, op, long in all_of if not long and op in (265, 280)],
        "a wait dropped": [("cmd_data", at, 0) for at, op, long in all_of if not long and op in WAITS],
    }


def damaged(source: Path, to: Path, member: str, at: int, bits: int) -> None:
    """bits 0: the word becomes a wait for nothing (PMU_MASK)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            data = bytearray(old.read(name))
            if name == f"{member}.npy":
                start = len(data) - len(Raw(source)[member]) + at
                data[start] = data[start] ^ bits if bits else 19
            new.writestr(name, bytes(data))


def arrays(case: Path, names: list[str]) -> list[np.ndarray]:
    return [np.load(case / name) for name in names]


def bounds(case: Path, names: list[str]) -> list[np.ndarray | None]:
    """Of results that TOSA leaves to the implementation."""
    files = [case / f"bounds_{name}" for name in names]
    return [np.load(f) if f.exists() else None for f in files]


def drawn(case: Path, names: list[str], given: list[np.ndarray], tosac: str, work: Path) -> list[tuple[list, list]]:
    """The case's program on MORE inputs, between the least and the greatest number of the case's own: inputs, and what TOSA's kernels give."""
    dice, stacks, words = np.random.default_rng(1), [], []
    for k, array in enumerate(given):
        ends = (int(array.min()), int(array.max())) if array.size else (0, 0)
        stacks.append(dice.integers(ends[0], ends[1] + 1, (MORE, *array.shape)).astype(array.dtype))
        np.save(work / f"more{k}.npy", stacks[-1])
        words += ["-i", str(work / f"more{k}.npy")]
    found = work / "more"
    shutil.rmtree(found, ignore_errors=True)
    done = subprocess.run([tosac, "run", str(case / "test.tosa"), *words, "-o", str(found), "--quiet"], capture_output=True)
    if done.returncode or not given:
        return []
    results = [np.load(found / f"output_{k}.npy") for k in range(len(names))]
    cut = lambda a, shape, k: a[k] if a.shape == (MORE, *shape) else a[k * shape[0]:(k + 1) * shape[0]]
    shapes = [np.load(case / name).shape for name in names]
    if any(r.size != MORE * int(np.prod(s)) for r, s in zip(results, shapes)):
        return []
    return [([s[k] for s in stacks], [cut(r, s, k) for r, s in zip(results, shapes)]) for k in range(MORE)]


def try_damage(stream: Path, given, want, allowed, more, dice: random.Random, tosac: str, count: Counter, name: str) -> None:
    raw = Raw(stream)
    facts = Facts(tosac, [a.astype(np.int8 if a.dtype == bool else a.dtype).reshape(b.shape) for a, b in zip(given, borders(raw, "input"))])
    right = None
    for kind, found in places(raw).items():
        if not found:
            continue
        other = stream.with_name("damaged.npz")
        place = dice.choice(found)
        damaged(stream, other, *place)
        report = judge(other, given, want, allowed)
        for ins, outs in more if not any(b is not None for b in allowed) else []:
            report = report if report["faults"] or "not_checked" in report else judge(other, ins, outs)
        how = "not checked" if "not_checked" in report else "found" if report["faults"] else "harmless"
        if how == "harmless":
            right = right or facts.of(stream)
            now = facts.of(other)
            how = "harmless" if now == right else "missed"
        if how == "missed":
            what = [w for w, a, b in zip(("the executor's end", "numbers on other inputs", "what verify says"), now, right) if a != b]
            print(f"missed: {name}: {kind}: {place}: {', '.join(what)}")
        count[kind, how] += 1


def too_few(count: Counter) -> list[str]:
    """Less than its share was found."""
    total = {how: sum(n for (_, h), n in count.items() if h == how) for how in ("found", "missed")}
    harmful = sum(total.values())
    short = harmful >= ENOUGH and total["found"] < LEAST * harmful
    return [f"{total['found']} of {harmful} are found, less than {LEAST:.0%}"] * short


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("own")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--damage", metavar="TOSAC")
    args = parser.parse_args()
    good = bad = skipped = refused = 0
    count: Counter = Counter()
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as work:
        stream = Path(work) / "stream.npz"
        for machine in MACHINES:
            for case in cases(args.cases, args.every):
                stream.unlink(missing_ok=True)
                made = subprocess.run([args.own, "-o", str(stream), machine, str(case)], capture_output=True, text=True)
                if not stream.exists():
                    refused += not made.returncode
                    bad += bool(made.returncode)
                    print(f"{machine} {case.name}: {made.stdout}" if made.returncode else "", end="")
                    continue
                text = json.loads((case / "desc.json").read_text())
                given, want = arrays(case, text["ifm_file"]), arrays(case, text["ofm_file"])
                allowed = bounds(case, text["ofm_file"])
                report = judge(stream, given, want, allowed)
                if "not_checked" in report:
                    skipped += 1
                    print(f"{machine} {case.name}: {report['not_checked']}")
                elif report["faults"]:
                    bad += 1
                    print(f"{machine} {case.name}: {'; '.join(report['faults'])}")
                else:
                    good += 1
                    if args.damage:
                        more = drawn(case, text["ofm_file"], given, args.damage, Path(work))
                        try_damage(stream, given, want, allowed, more, dice, args.damage, count, f"{machine} {case.name}")
    for (kind, how), n in sorted(count.items()):
        print(f"{kind}: {n} {how}")
    for words in too_few(count):
        bad += 1
        print(words)
    print(f"{refused} are refused by the back end, or of floats")
    print(f"{good} passed, {bad} failed, {skipped} skipped")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
