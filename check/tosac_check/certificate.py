# SPDX-License-Identifier: Apache-2.0
"""certificate.py -- what `tosac compile --certificate` says of a file, held to the file, the typed program and the samples."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import backend, pte, tflite
from .program import Outcome, execute
from .stream import Bad, Raw, parse_payload, require
from .typed_text import BYTES, Program, range_of, scale_of, type_of

FORMAT = 1
PROGRAM, SAMPLES = ".program.ir", ".samples.npz"  # in place of .json
ABOVE = b',\n  "sha256_of_above"'
MEMBERS = ["certificate", "target", "tool", "model", "data", "settings", "output", "program", "samples", "inputs", "outputs", "regions", "kernels", "checks",
           "not_checked", "ranges", "map", "sha256_of_above"]
OPTIONAL = ("data", "kernels")
SAMPLED = ("command streams executed beside their TOSA programs", "drawn inputs for a second program")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Beside(NamedTuple):
    record: dict
    program: Program
    samples: dict[str, np.ndarray]
    folder: Path
    text: str  # of the typed program


def held(data: bytes, said: dict, what: str) -> bytes:
    require(len(data) == said["bytes"], f"{what} has {len(data)} bytes, the certificate says {said['bytes']}")
    require(sha256(data) == said["sha256"], f"{what} is another file than the certificate's")
    return data


def record_of(data: bytes) -> dict:
    record = json.loads(data)
    require(isinstance(record, dict) and record.get("certificate") == FORMAT, "not a certificate that is known here")
    require(list(record) == [m for m in MEMBERS if m in record or m not in OPTIONAL], "the certificate has other members")
    end = data.rfind(ABOVE)
    require(sha256(data[:end]) == record["sha256_of_above"], "the certificate was changed")
    return record


def open_certificate(path: Path) -> Beside:
    record = record_of(path.read_bytes())
    text = held(path.with_suffix(PROGRAM).read_bytes(), record["program"], "the typed program")
    data = held(path.with_suffix(SAMPLES).read_bytes(), record["samples"], "the archive of samples")
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        samples = {name[:-4]: np.load(io.BytesIO(z.read(name))) for name in z.namelist()}
    return Beside(record, Program(text.decode()), samples, path.parent, text.decode())


# ---- what it says of itself ----


def check_signature(beside: Beside) -> int:
    for kind, found in (("inputs", beside.program.inputs), ("outputs", beside.program.outputs)):
        said = [port["type"] for port in beside.record[kind]]
        require(said == found, f"the certificate's {kind} are not the typed program's")
    return len(beside.program.inputs) + len(beside.program.outputs)


def check_ranges(beside: Beside) -> int:
    checked = 0
    for value in beside.record["ranges"]["values"]:
        found = range_of(beside.program.named.get(value["name"], "none[]"))
        require(0 <= value.get("outside", 0) <= 1, f"'{value['name']}' has a share that is none")
        if found:
            checked += 1
            require(np.allclose([value["least"], value["most"]], found, rtol=1e-12, atol=0), f"the range of '{value['name']}' is not its type's")
    return checked


def check_claims(beside: Beside, commands: int) -> None:
    """Figures that can be counted again."""
    said = sum(c["elements"] for c in beside.record["checks"] if c["check"] in SAMPLED)
    results = [a for name, a in beside.samples.items() if ".out" in name]
    require(said == sum(a.size for a in results), "the certificate counts other elements than the samples have")
    for check in beside.record["checks"]:
        if check["check"] == "command streams executed beside their TOSA programs":
            rows = [row for row in beside.record["map"] if "tosa" in row]
            require(check["operators"] == len(rows), "the certificate counts other operators than its map")
        if "commands" in check and commands:
            require(check["commands"] == commands, f"the streams have {commands} commands, the certificate says {check['commands']}")


def check_map(beside: Beside, starts: dict[str, set[int]]) -> int:
    rows = 0
    for row in beside.record["map"]:
        if "commands" in row and row["region"] in starts:
            rows += 1
            lost = [w for w in row["commands"] if w not in starts[row["region"]]]
            require(not lost, f"the map has a command at word {lost[:1]} of '{row['region']}', where none is")
    return rows


# ---- the file ----


def regions_of(data: bytes) -> tuple[list[pte.Region], dict]:
    if data[4:8] == b"ET12":
        return pte.read(data)
    if data[4:8] == b"TFL3":
        return tflite.read(data)
    if data.startswith(backend.BEGIN.encode()):
        return [pte.Region("payload", backend.program_of(data), [], [])], {}
    if data[:2] == b"PK":
        return [pte.Region("archive", Raw(io.BytesIO(data)), [], [])], {}
    return [], {}


def check_borders(region: pte.Region, said: dict) -> None:
    """Elements and bytes of what goes in and out: those of the caller's tensors, and those that the certificate says."""
    for kind, called, port in (("input", region.inputs, said["inputs"]), ("output", region.outputs, said["outputs"])):
        own = [(int(e), int(np.prod(s))) for e, s in zip(region.program[f"{kind}_elem_size"], region.program[f"{kind}_shape"])]
        types = [type_of(p["type"]) for p in port]
        require(own == [(BYTES[t.dtype], t.elements) for t in types], f"the {kind}s of '{said['name']}' are not the certificate's")
        for k, t in enumerate(types):
            found, want = region.scales.get((kind, k)), scale_of(t)
            same = not found or not want or (bool(np.isclose(found[0], want[0], rtol=1e-6, atol=0)) and found[1] == want[1])
            require(same, f"{kind} {k} of '{said['name']}' is converted by {found}, not by {want}")
        require(not called or called == own, f"the {kind}s of '{said['name']}' are given tensors of another size")


def samples_of(beside: Beside, name: str) -> list[tuple[list, list]]:
    found = []
    while f"{name}.{len(found)}.out0" in beside.samples:
        k = len(found)
        sides = []
        for side in ("in", "out"):
            arrays = []
            while f"{name}.{k}.{side}{len(arrays)}" in beside.samples:
                arrays.append(beside.samples[f"{name}.{k}.{side}{len(arrays)}"])
            sides.append(arrays)
        found.append(tuple(sides))
    return found


def sized(program, said: dict) -> dict:
    """The machine's own memory is given by the driver: a payload need not say how much."""
    require(not isinstance(program, dict) or int(program["scratch_size"]) >= said.get("scratch", 0), f"'{said['name']}' asks for less scratch than said")
    if isinstance(program, dict) and not int(program["scratch_fast_size"]):
        return program | {"scratch_fast_size": np.int64(said.get("fast_scratch", 0))}
    return program


def check_region(region: pte.Region, said: dict, beside: Beside, judged: dict) -> list[str]:
    """Faults of one stream on its samples; what was seen is added to `judged`."""
    check_borders(region, said)
    program, faults, entries = sized(region.program, said), [], {}
    for given, want in samples_of(beside, said["name"]) or [(None, None)]:
        outcome: Outcome = execute(program, given, want)
        faults += [f"{said['name']}: {fault}" for fault in outcome.faults]
        judged["operations"] = sorted(set(judged.get("operations", [])) | outcome.operations)
        judged["samples"] = judged.get("samples", 0) + (want is not None)
        judged["elements"] = judged.get("elements", 0) + sum(a.size for a in want or [])
        for table, read in outcome.entries_read.items():
            entries[table] = entries.get(table, False) | read
    judged["table_entries"] = judged.get("table_entries", 0) + sum(r.size for r in entries.values())
    judged["table_entries_read"] = judged.get("table_entries_read", 0) + sum(int(r.sum()) for r in entries.values())
    return faults


def check_file(data: bytes, beside: Beside, judged: dict) -> list[str]:
    """Faults of one file that the certificate is of."""
    regions, seen = regions_of(data)
    judged["looked_at"] = seen
    said = beside.record["regions"]
    kernels = {row["name"]: row["calls"] for row in beside.record.get("kernels", [])}
    require(seen.get("kernels", {}) == kernels, "the file calls other kernels than the certificate says")
    if not regions:
        judged["not_checked"] = "the file has no command stream that is read here"
        return []
    require(len(said) <= len(regions), f"the file has {len(regions)} regions, the certificate {len(said)}")
    faults, starts = [], {}
    for region, row in zip(regions[len(regions) - len(said) :], said):
        faults += check_region(region, row, beside, judged)
        starts[row["name"]] = operations_of(region.program)
    judged["map_rows"] = check_map(beside, {name: set(words) for name, words in starts.items()})
    check_claims(beside, sum(map(len, starts.values())))
    return faults


def operations_of(program) -> list[int]:
    """Words at which an operation, a copy, a wait or the end stands: what the certificate counts as commands."""
    payload = parse_payload(program["cmd_data"])
    found, i = [], 0
    while i < len(payload["stream"]):
        word = payload["stream"][i]
        if not word >> 14 & 3 and word & 0x3FF < 256:
            found.append(i)
        i += 2 if word >> 14 & 3 else 1
    return found


def judge(path: Path, hashes: bool = True) -> dict:
    """hashes False: what remains when nobody has hashed the files, for tests."""
    judged: dict = {"file": path.name, "faults": []}
    try:
        beside = open_certificate(path)
        judged["borders"] = check_signature(beside)
        judged["ranges"] = check_ranges(beside)
        for row in beside.record["output"]:
            require("name" in row, "the certificate is of files that were not written")
            require(Path(row["name"]).name == row["name"], "a file's name has a folder")
            data = (beside.folder / row["name"]).read_bytes()
            if hashes:
                held(data, row, row["name"])
            judged["faults"] += check_file(data, beside, judged)
        if judged.get("operations") and not judged.get("samples"):
            judged["not_checked"] = "the certificate has no samples: the streams' numbers were compared with nothing"
    except NotImplementedError as error:
        judged["not_checked"] = f"no rule for {error}"
    except (Bad, OSError, KeyError, TypeError, ValueError, IndexError, AssertionError, OverflowError, RuntimeError, zipfile.BadZipFile) as error:
        judged["faults"].append(f"{type(error).__name__}: {error}")
    return judged
