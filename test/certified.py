# SPDX-License-Identifier: Apache-2.0
"""certified.py -- certificates and the files that they are of, before tosac_check.    certified.py TOSAC [--damage N] [--zoo DIR] [--files FILE...] [-k WORD]

Small models (with --zoo the trained ones too, with --files others, on drawn data) are compiled for Ethos-U as .pte, .tflite and streams, for a
Cortex-M and for vgf, with a certificate: tosac_check must find no fault, what no check covers must be said (GAPS), and the certificate must keep to
doc/schema/certificate.json.  Of each model one is made again in another folder, on three threads: the same bytes; and
Arm's TOSA reference model gives what the certificate says that its streams must give.  --damage N: each is damaged N times in every place that DAMAGE names.  With the
certificate's hashes everything must be found.  Without them what is not found is put before TOSAC (harmless.py): of what is not harmless LEAST must be
found by tosac_check or by `tosac verify`.
Ends with "N passed, N failed, N skipped".
"""
from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import jsonschema
import numpy as np

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "check"))
from tosac_check import bills, certificate, reference  # noqa: E402

from harmless import Facts  # noqa: E402

FIXTURES = TOP / "test" / "fixture"
SMALL = [(FIXTURES / "digits" / "model.pt2", FIXTURES / "digits" / "calib.npz"), (FIXTURES / "lstm" / "stream.pt2", FIXTURES / "lstm" / "samples.npy"),
         (FIXTURES / "spotter" / "stream.pt2", FIXTURES / "spotter" / "frames.npy")]
REFUSED = (1, 3)  # exit codes: turned down, not supported yet
QUICK = 0.5  # seconds that tosac_check may take of a case that is damaged
OUTPUTS = [("ethos-u55-128", "o.pte"), ("ethos-u55-128", "o.tflite"), ("ethos-u65-512", "o.bin"), ("ethos-u85-256", "o.pte"), ("ethos-u85-256", "o.npz"),
           ("cortex-m4", "o.c"), ("vgf", "o.vgf")]
STREAMS = OUTPUTS[:5]
LEAST = 0.99
ENOUGH = 100


class Case:
    """A model compiled with its certificate."""

    def __init__(self, tosac: str, model: Path, calib: str, target: str, name: str, folder: Path, *more: str):
        self.folder, self.path, self.file = folder, folder / "o.json", folder / name
        kind = ["--emit", "stream"] if name.endswith((".bin", ".npz")) else []
        done = subprocess.run([tosac, "compile", str(model), "-t", target, "--calib", str(calib), "-o", str(self.file), "--certificate", str(self.path), *kind,
                               "--quiet", *(more or ("--threads", "1"))], capture_output=True, text=True)
        self.said, self.refused = done.stderr.strip(), done.returncode in REFUSED

    @property
    def made(self) -> bool:
        return self.path.exists()


def stream_at(data: bytes) -> tuple[int, int]:
    """Where the words of the first command stream of a file stand, and how many bytes they have."""
    at = data.find(b"COP1")
    at = data.find(b"COP2") if at < 0 else at
    regions, _ = certificate.regions_of(data)
    if not regions or at < 0:
        return 0, 0
    payload = certificate.parse_payload(regions[0].program["cmd_data"])
    return at + payload["stream_at"], 4 * len(payload["stream"])


def words(data: bytes, wanted) -> list[int]:
    """Bytes of the operands of commands: wanted(opcode, whether it has two words)."""
    start, size = stream_at(data)
    found, at = [], start
    while at < start + size:
        word = int.from_bytes(data[at : at + 4], "little")
        long = word >> 14 & 3
        if wanted(word & 0x3FF, long):
            found.append(at + 4 if long else at + 2)
        at += 8 if long else 4
    return found


def nothing(data: bytearray, at: int) -> None:
    data[at - 2 : at + 2] = bytes([19, 0, 0, 0])  # PMU_MASK: a wait for nothing


def turn(bits: int):
    def by(data: bytearray, at: int) -> None:
        data[at] ^= bits
    return by


#: name, which places of the file, what is done there
DAMAGE = [
    ("an address", lambda d: words(d, lambda op, long: long and op in (0, 16, 32, 34, 48, 49, 128)), turn(16)),
    ("a scale's last bit", lambda d: words(d, lambda op, long: long and op in (36, 37, 38)), turn(1)),
    ("a wait", lambda d: words(d, lambda op, long: not long and op in (17, 18)), nothing),
    ("a type", lambda d: words(d, lambda op, long: not long and op in (261, 276, 389)), turn(1)),
    ("a size", lambda d: words(d, lambda op, long: not long and op in (260, 266, 267, 273, 274, 275)), turn(1)),
    ("a zero point", lambda d: words(d, lambda op, long: not long and op in (265, 280, 393)), turn(1)),
    ("a clamp", lambda d: words(d, lambda op, long: not long and op in (294, 295)), turn(4)),
    ("a border", lambda d: [d.find(name) + 36 + 4 * k for name in (b"inputs\0", b"outputs\0") if d.find(name) > 0 for k in range(9)], turn(1)),
    ("a byte of the container", lambda d: list(range(8, min(len(d), 4096))), turn(1)),
    ("a constant", lambda d: list(range(len(d) // 2, len(d) - 200)), turn(4)),
]


def facts_for(tosac: str, case: Case) -> Facts:
    """By the region's own samples for a stream, by its inputs' types for a program."""
    record = json.loads(case.path.read_text())
    with np.load(case.path.with_suffix(certificate.SAMPLES)) as samples:
        if case.file.suffix in (".npz", ".bin"):
            return Facts(tosac, [samples[k] for k in sorted(n for n in samples.files if ".0.in" in n)])
    shapes = [certificate.type_of(port["type"]) for port in record["inputs"]]
    return Facts(tosac, [np.linspace(-2, 2, max(t.elements, 1)).reshape(t.dims).astype(np.float32) for t in shapes])


def try_place(tosac: str, case: Case, kind: str, data: bytes, facts: Facts, right, count: Counter) -> str:
    case.file.write_bytes(data)
    if not certificate.judge(case.path)["faults"]:
        count[kind, "missed with hashes"] += 1
    if certificate.judge(case.path, hashes=False)["faults"]:
        return "found"
    now = facts.of(case.file)
    if now[2][0] != right[2][0]:
        return "found by verify"
    return "harmless" if now == right else "missed"


def damage(tosac: str, case: Case, times: int, dice: random.Random, count: Counter) -> list[str]:
    good, missed = case.file.read_bytes(), []
    facts = facts_for(tosac, case)
    right = facts.of(case.file)
    for kind, places, change in DAMAGE:
        found = places(good)
        for _ in range(times if found else 0):
            data, at = bytearray(good), dice.choice(found)
            change(data, at)
            how = try_place(tosac, case, kind, bytes(data), facts, right, count)
            count[kind, how] += 1
            if how == "missed":
                missed.append(f"{case.file.name}: {kind} at byte {at}")
    case.file.write_bytes(good)
    for part in (".json", certificate.PROGRAM, certificate.SAMPLES):
        path = case.path.with_suffix(part)
        whole = path.read_bytes()
        for _ in range(times):
            data = bytearray(whole)
            data[dice.randrange(len(data))] ^= 1
            path.write_bytes(bytes(data))
            found = certificate.judge(case.path)["faults"]
            count[f"a byte of the certificate's {part}", "found" if found else "missed"] += 1
            missed += [] if found else [f"a byte of {part}"]
        path.write_bytes(whole)
    return missed


#: words of not_checked, by target
GAPS = {"cortex-m4": "the C source", "vgf": "the SPIR-V"}


def record_faults(record: dict, target: str) -> list[str]:
    """What is wrong with a record beside what tosac_check says."""
    schema = json.loads((TOP / "doc" / "schema" / "certificate.json").read_text())
    wrong = [f"schema: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(record)]
    gap = GAPS.get(target, "hardware")
    return wrong + [f"it does not say that {gap} is not checked"] * (not any(gap in words for words in record["not_checked"]))


def made_again(tosac: str, case: Case, model: Path, calib: str, target: str) -> list[str]:
    """What differs when it is made in another folder on three threads; and what Arm's reference model makes of its regions."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump"
        Case(tosac, model, calib, target, case.file.name, Path(folder), "--threads", "3", "--dump-dir", str(dump))
        wrong = [f"{p.name} is not the same again" for p in sorted(case.folder.iterdir()) if not (Path(folder) / p.name).exists()
                 or (Path(folder) / p.name).read_bytes() != p.read_bytes()]
        third = reference.judge(certificate.open_certificate(case.path), dump)
        print(f"the reference model: {third['reference_regions']} regions, {third['reference_samples']} samples, {third['reference_elements']} elements")
        return wrong + third["faults"] + ["the reference model ran nothing"] * (not third["reference_samples"])


def bills_of(case: Case) -> list[str]:
    """Both bills name the files by their hashes, and the certificate by its own."""
    data = case.path.read_bytes()
    record, digest = certificate.record_of(data), certificate.sha256(data)
    files = sorted(certificate.sha256((case.folder / row["name"]).read_bytes()) for row in record["output"])
    parts = bills.bom(record, digest, "Apache-2.0")
    wrong = []
    if sorted(c["hashes"][0]["content"] for c in parts["components"] if c["type"] == "file") != files:
        wrong.append("the bill of materials has other files")
    if sorted(s["digest"]["sha256"] for s in bills.statement(record, digest)["subject"]) != files:
        wrong.append("the statement has other subjects")
    limits = parts["metadata"]["component"]["modelCard"]["considerations"]["technicalLimitations"]
    return wrong + ["the bill lacks a limit"] * (len(limits) != len(record["not_checked"]))


def zoo(folder: Path) -> list[tuple[Path, object]]:
    found = []
    for model in sorted(folder.glob("*/*.pt2")):
        calib = [p for p in sorted(model.parent.glob("calib*")) if p.suffix in (".npz", ".npy")]
        if calib and len(list(model.parent.glob("*.pt2"))) == 1:
            found.append((model, calib[0]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tosac")
    parser.add_argument("--damage", type=int, default=0)
    parser.add_argument("--zoo", type=Path)
    parser.add_argument("-k", default="", help="models whose paths contain this")
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    models = SMALL + (zoo(args.zoo) if args.zoo else []) + [(path, "random:1") for path in args.files]
    good = bad = skipped = 0
    count: Counter = Counter()
    dice = random.Random(1)
    for number, (model, calib) in enumerate(m for m in models if args.k in str(m[0])):
        for target, name in OUTPUTS:
            with tempfile.TemporaryDirectory() as work:
                case = Case(args.tosac, model, calib, target, name, Path(work))
                if not case.made:
                    skipped += case.refused
                    bad += not case.refused
                    print(f"{model.parent.name}/{model.name} {target} {name}: {case.said.splitlines()[0] if case.said else ''}")
                    continue
                begun = time.process_time()
                report = certificate.judge(case.path)
                spent = time.process_time() - begun
                report["faults"] += record_faults(json.loads(case.path.read_text()), target) + bills_of(case)
                if (target, name) == STREAMS[number % len(STREAMS)]:
                    report["faults"] += made_again(args.tosac, case, model, calib, target)
                sizes = [case.path.with_suffix(part).stat().st_size for part in (".json", certificate.PROGRAM, certificate.SAMPLES)]
                judged = "; ".join(report["faults"]) or report.get("not_checked") or f"{report.get('elements', 0)} elements on {report.get('samples', 0)} samples"
                print(f"{model.parent.name}/{model.name} {target} {name}: {judged}, {spent:.1f} s; certificate {sizes} bytes", flush=True)
                bad += bool(report["faults"])
                good += not report["faults"]
                if args.damage and not report["faults"] and "not_checked" not in report and spent < QUICK:
                    for words_ in damage(args.tosac, case, args.damage, dice, count):
                        print(f"missed: {model.name} {target}: {words_}")
    for (kind, how), n in sorted(count.items()):
        print(f"{kind}: {n} {how}")
    total = {how: sum(n for (_, h), n in count.items() if h == how) for how in ("found", "found by verify", "missed", "missed with hashes", "harmless")}
    found, harmful = total["found"] + total["found by verify"], total["found"] + total["found by verify"] + total["missed"]
    if args.damage:
        print(f"damage: {found} of {harmful} that is not harmless, {total['harmless']} harmless, {total['missed with hashes']} missed with hashes")
    bad += total["missed with hashes"] + (harmful >= ENOUGH and found < LEAST * harmful)
    print(f"{good} passed, {bad} failed, {skipped} skipped")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
