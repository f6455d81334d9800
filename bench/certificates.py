# SPDX-License-Identifier: Apache-2.0
"""certificates.py -- what certificates cost, and what tosac_check says of them.    certificates.py ZOO [-k WORD] [--targets A,B] [--json FILE]

Each model of ZOO that has calibration data is compiled for each target on one thread, by the installed Python package:
processor seconds of the compile and of its certificate, sizes of the record, of the typed program and of the samples, then tosac_check: faults,
elements, seconds.  A Markdown table.
"""
from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "check"), str(TOP / "test")]

import tosac  # noqa: E402
from certified import zoo  # noqa: E402
from tosac_check import certificate  # noqa: E402

TARGETS = {"ethos-u55-128": "o.pte", "ethos-u85-256": "o.pte", "cortex-m55": "o.c", "vgf": "o.vgf"}


def seconds(work) -> tuple[float, object]:
    since = time.process_time()
    found = work()
    return time.process_time() - since, found


def row(model: Path, calib: Path, target: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out, path = Path(folder) / TARGETS[target], Path(folder) / "o.json"
        spent, compiled = seconds(lambda: tosac.compile(str(model), target, calibration=[str(calib)], threads=1, progress=False).save(out))
        added, _ = seconds(lambda: compiled.certificate(path))
        sizes = [path.with_suffix(part).stat().st_size for part in (".json", certificate.PROGRAM, certificate.SAMPLES)]
        checked, report = seconds(lambda: certificate.judge(path))
    return {"model": model.parent.name, "target": target, "compile": spent, "certificate": added, "bytes": sizes, "faults": report["faults"],
            "elements": report.get("elements", 0), "samples": report.get("samples", 0), "not_checked": report.get("not_checked", ""), "check": checked}


def line(r: dict) -> str:
    kilo = " + ".join(f"{n / 1000:.0f}" for n in r["bytes"])
    said = f"{len(r['faults'])} faults" if r["faults"] else r["not_checked"] and "record alone" or f"agrees, {r['elements']:,} elements, {r['samples']} samples"
    return (f"| {r['model']} | {r['target']} | {r['compile']:.1f} | {r['certificate']:.2f} ({r['certificate'] / r['compile']:.1%}) | {kilo} | {said} | "
            f"{r['check']:.1f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoo", type=Path)
    parser.add_argument("-k", default="")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print("| model | target | compile, s | certificate, s | record + typed program + samples, KB | tosac_check | s |\n|---|---|---|---|---|---|---|")
    rows = []
    for model, calib in [m for m in zoo(args.zoo) if args.k in str(m[0])]:
        for target in args.targets.split(","):
            rows.append(row(model, calib, target))
            print(line(rows[-1]), flush=True)
            if args.json:
                args.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
