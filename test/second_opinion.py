# SPDX-License-Identifier: Apache-2.0
"""second_opinion.py -- our back end's command streams before tosac_check.    second_opinion.py NPU-OWN CASES [--every N] [--damage]

For TOSA's suite in CASES: each stream is written by NPU-OWN, executed by check/tosac_check on the case's inputs, and must give the case's
results without a fault; a stream that NPU-OWN makes and does not keep is a failure.  --damage: each stream is damaged too, once in each way
that it has a place for.  Damage to what a stream never uses changes nothing, so each kind has a share that must be found at least (LEAST).
Ends with "N passed, N failed, N skipped".
"""
from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "check"))
from tosac_check.__main__ import judge  # noqa: E402
from tosac_check.stream import Raw, parse_payload  # noqa: E402

MACHINES = ("ethos-u55-128", "ethos-u65-512", "ethos-u85-256")
SKIPPED = ("bf16", "f16", "f32", "fp8e4m3", "fp8e5m2")
WAITS = (17, 18)  # DMA_WAIT, KERNEL_WAIT
LEAST = {"an address moved": 0.9, "a zero point": 0.75, "a type": 0.45, "a size": 0.45, "a factor's last bit": 0.4, "a weight or constant": 0.3,
         "a wait dropped": 0.5}
ENOUGH = 10  # to speak of a share
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


def try_damage(stream: Path, given, want, allowed, dice: random.Random, count: Counter) -> None:
    for kind, found in places(Raw(stream)).items():
        if not found:
            continue
        other = stream.with_name("damaged.npz")
        damaged(stream, other, *dice.choice(found))
        report = judge(other, given, want, allowed)
        count[kind, "not checked" if "not_checked" in report else "found" if report["faults"] else "the same results"] += 1


def too_few(count: Counter) -> list[str]:
    """Kinds of which less than their share was found."""
    tried = {kind: sum(n for (k, _), n in count.items() if k == kind) for kind, _ in count}
    return [f"{kind}: {count[kind, 'found']} of {n} are found, less than {LEAST[kind]:.0%}" for kind, n in tried.items()
            if n >= ENOUGH and count[kind, "found"] < LEAST[kind] * n]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("own")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--damage", action="store_true")
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
                        try_damage(stream, given, want, allowed, dice, count)
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
