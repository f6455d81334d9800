# SPDX-License-Identifier: Apache-2.0
"""Checks what `tosac` has written, without code of the compiler.

    python3 -m tosac_check CERTIFICATE.json [--typed FOLDER] [--tosa FOLDER] [--json]
    python3 -m tosac_check STREAM.npz [--inputs A.npy ...] [--outputs B.npy ...] [--json]

A certificate (`tosac compile --certificate`) is held to the files that it names: hashes, container, borders and types, the plan of memory,
the machine's rules, waits, and numbers, by executing each command stream on the certificate's samples.  What the streams must give is computed again from
the typed program (typed.py); constants of more than 64 elements stand in a file of their own, which --typed finds in FOLDER (compile --dump-dir).  --tosa: the same
by Arm's TOSA reference model, from the regions' files in FOLDER, where the package tosa-tools is installed.  A stream by itself (an archive, a
payload, a .pte or a .tflite) is checked in the same way; with inputs it is executed on them, with outputs its results must be these, bit for
bit, without inputs they are drawn from a fixed seed.
Exit status: 0 nothing wrong, 1 something is, 2 the file cannot be judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from . import certificate, reference, typed
from .program import WRONG, execute
from .stream import Bad


def judge(path: Path, given: list | None, want: list | None, bounds: list | None = None) -> dict:
    """A file without its certificate.  bounds: where a result is implementation-defined, what else it may be; None: equal alone."""
    data = path.read_bytes()
    report = {"file": path.name, "sha256": hashlib.sha256(data).hexdigest(), "faults": [], "operations": []}
    try:
        regions, _ = certificate.regions_of(data)
        for region in regions:
            outcome = execute(region.program, given, want, bounds)
            report["faults"] += outcome.faults
            report["operations"] = sorted(set(report["operations"]) | outcome.operations)
            if want is not None and outcome.results:
                report["numbers"] = "equal" if not outcome.faults else "different"
        if not regions:
            return report | {"not_checked": "it has no command stream"}
    except NotImplementedError as error:
        return report | {"not_checked": f"no rule for {error}"}
    except WRONG as error:
        report["faults"] = [f"{type(error).__name__}: {error}"]
    return report


def words_of(report: dict) -> str:
    parts = [f"{len(report['faults'])} faults"]
    if report.get("samples"):
        parts.append(f"{report['elements']} elements on {report['samples']} samples as the certificate has them")
    if report.get("typed_regions"):
        parts.append(f"{report['typed_operators']} operators of the typed program were computed again on {report['typed_samples']} samples")
    parts += [f"not computed again: {words}" for words in report.get("typed_not_computed", [])]
    if report.get("reference_regions"):
        parts.append(f"the reference model ran {report['reference_regions']} regions on {report['reference_samples']} samples")
    if report.get("table_entries"):
        parts.append(f"{report['table_entries_read']} of {report['table_entries']} entries of tables were read")
    parts.append(report.get("not_checked") or report.get("numbers") or ("executed" if report.get("operations") else "no stream was executed"))
    return "; ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tosac-check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--inputs", nargs="*", type=Path)
    parser.add_argument("--outputs", nargs="*", type=Path)
    parser.add_argument("--typed", type=Path, metavar="FOLDER")
    parser.add_argument("--tosa", type=Path, metavar="FOLDER")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        if args.file.suffix == ".json":
            report = certificate.judge(args.file)
            for judged, folder in ((typed.judge, args.typed), (reference.judge, args.tosa)):
                if folder:
                    more = judged(certificate.open_certificate(args.file), folder)
                    report |= more | {"faults": report["faults"] + more["faults"]}
        else:
            given = None if args.inputs is None else [np.load(p) for p in args.inputs]
            want = None if args.outputs is None else [np.load(p) for p in args.outputs]
            report = judge(args.file, given, want)
    except (OSError, ValueError, ImportError, Bad) as error:
        print(f"tosac-check: {error}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(report, indent=1))
    else:
        for fault in report["faults"]:
            print(f"{args.file}: {fault}")
        print(f"{args.file}: {words_of(report)}")
    return 1 if report["faults"] else 2 if "not_checked" in report else 0


if __name__ == "__main__":
    sys.exit(main())
