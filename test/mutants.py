#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of the compiler, and which nets find them.    mutants.py BUILD CASES [--count 100] [--seed 1] [--only WORD] [--json FILE]

A mutant is src/lower or src/codegen with one place changed: a condition turned, a constant off by one, an operator in place of another.
Places are drawn by the seed from all of them.  Its file is compiled by the build's own command and linked in front of the library; the
build is not touched.  The nets, each by itself:

    golden     what rules and passes write, as text
    operators  recorded operators of PyTorch, lowered, before recorded results
    units      unit tests of lowering and of the back end
    streams    TOSA's cases on three machines: our executor and verifier (npu-own)
    second     the same streams before check/tosac_check
    check      small models, `compile --check`: every step, every stream and the result are executed
    certificates   the same files before check/tosac_check
    bytes      the same files: other bytes than the unchanged compiler writes

A mutant that no net finds is listed: it is harmless (no place reaches it, or what it changes is a price), or a hole.  `bytes` finds what
changes a price alone, and is counted apart.  Ends with "N passed, N failed, N skipped": failed is what no net found.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOLDERS = ("src/lower", "src/codegen")
EVERY = 12  # of so many mutants one goes through all nets, the others only until one finds it
SECONDS = 240  # for one net; longer is found, as a hang is
DIGITS, LSTM, SPOTTER = (TOP / "test" / "fixture" / name for name in ("digits", "lstm", "spotter"))
MACHINES = ("ethos-u55-128", "ethos-u65-512", "ethos-u85-256")
SKIPPED = ("bf16", "f16", "f32", "fp8")

#: what is turned into what; a name for each kind
CHANGES = [
    ("condition", r"(?<![<>=!-])<(?![<=])(?= )", "<="), ("condition", r"<=", "<"), ("condition", r"(?<![->])>(?![>=])(?= )", ">="),
    ("condition", r"(?<!>)>=", ">"), ("condition", r"==", "!="), ("condition", r"!=", "=="), ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "), ("condition", r"(?<=[( ])!(?=[a-z_])", ""), ("condition", r"\btrue\b", "false"), ("condition", r"\bfalse\b", "true"),
    ("operator", r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), ("operator", r"(?<=[\w)\]]) - (?=[\w(])", " + "), ("operator", r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    ("operator", r" / (?=[\w(])", " * "), ("operator", r" << ", " >> "), ("operator", r" >> ", " << "), ("operator", r"\bfmax\(", "fmin("),
    ("operator", r"\bti_max_i64\(", "ti_min_i64("), ("operator", r"\bti_min_i64\(", "ti_max_i64("),
    ("constant", r"(?<![\w.\"])(\d+)(?![\w.\"xX])", lambda m: str(int(m[0]) + 1)),
]
HIDDEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|^[ \t]*#[^\n]*|//[^\n]*|\'(?:[^\'\\]|\\.)+\'|^(?:typedef|enum)\b.*?;', re.S | re.M)


def masked(text: str) -> str:
    """The same length, with comments, texts and directives as blanks."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def body_starts(text: str) -> int:
    found = re.search(r"^\{", text, re.M)
    return found.start() if found else len(text)


class Mutant:
    def __init__(self, path: Path, at: int, kind: str, old: str, new: str, text: str):
        self.path, self.at, self.kind, self.old, self.new = path, at, kind, old, new
        self.line = text.count("\n", 0, at) + 1
        self.source = text[:at] + new + text[at + len(old):]
        self.shown = text.splitlines()[self.line - 1].strip()

    def __str__(self) -> str:
        return f"{self.path.relative_to(TOP)}:{self.line}: '{self.old.strip()}' is '{self.new.strip()}': {self.shown}"


def all_mutants() -> list[tuple]:
    found = []
    for folder in FOLDERS:
        for path in sorted((TOP / folder).rglob("*.c")):
            text = masked(path.read_text())
            first = body_starts(text)
            for kind, pattern, new in CHANGES:
                found += [(path, m.start(), kind, m[0], m.expand(new) if isinstance(new, str) else new(m)) for m in re.finditer(pattern, text) if m.start() > first]
    return found


class Build:
    """Commands of a build by ninja."""

    def __init__(self, folder: Path, work: Path):
        self.folder, self.work = folder, work
        listed = subprocess.run(["ninja", "-t", "compdb"], cwd=folder, capture_output=True, text=True, check=True).stdout
        self.commands = {row["file"]: row["command"] for row in json.loads(listed)}

    def compile(self, m: Mutant) -> Path | None:
        """NULL: it does not compile."""
        source, out = self.work / m.path.name, self.work / "mutant.o"
        source.write_text(m.source)
        words = shlex.split(self.commands[str(m.path)])
        words = [w for w in words if w not in ("ccache", "-Werror")]
        for option in ("-o", "-MF", "-MT"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        words = [w for w in words if w not in ("-MD", "-c", str(m.path))]
        done = subprocess.run([*words, "-w", "-iquote", str(m.path.parent), "-c", str(source), "-o", str(out)], cwd=self.folder, capture_output=True)
        return out if done.returncode == 0 else None

    def link(self, target: str, mutant: Path | None) -> Path:
        out = self.work / target
        objects = [w for w in self.words(target) if w.endswith(".o")]
        libraries = [w for w in self.words("golden") if w.endswith((".a", ".so")) or w.startswith("-l")]  # linked against the archive
        subprocess.run(["cc", "-s", "-o", str(out), *objects, *([str(mutant)] if mutant else []), *libraries], cwd=self.folder, check=True, capture_output=True)
        return out

    def words(self, target: str) -> list[str]:
        """Of the command that links it."""
        text = subprocess.run(["ninja", "-t", "commands", "-s", target], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        return shlex.split(text.split("&&")[1])


def run(words: list, **more) -> tuple[int, str]:
    """A command that is stopped where it takes too long: -1."""
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=SECONDS, **more)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, "takes too long"


class Nets:
    """Each gives a text; another text than that of the unchanged compiler is a find."""

    def __init__(self, build: Build, cases: Path):
        self.build, self.cases = build, cases
        public = cases / "suites" / "public"
        every = [p for p in sorted(public.iterdir()) if p.is_dir() and "ERRORIF" not in p.name and not any(s in p.name for s in SKIPPED)]
        by_operator: dict[str, list[Path]] = {}
        for case in every:
            details = json.loads((case / "desc.json").read_text())["test_details"]
            by_operator.setdefault(f"{details['operator']} {details['output_types']}", []).append(case)
        self.tosa = [group[len(group) // 2] for group in by_operator.values()]

    def golden(self, program: Path, tosac: Path) -> str:
        code, said = run([program, "--tosac", tosac, TOP / "test" / "golden"], cwd=TOP)
        return f"{code} {said.splitlines()[-1:]}"

    def operators(self, program: Path) -> str:
        code, said = run([program, "lowered", "--cases", self.cases, "-j", 1], cwd=TOP)
        return f"{code} {said.splitlines()[-1:]}"

    def units(self, mutant: Path | None) -> str:
        said = []
        for source in sorted([*(TOP / "test" / "unit").glob("lower_*.c"), TOP / "test" / "unit" / "own.c", TOP / "test" / "unit" / "codegen.c"]):
            if (self.build.folder / f"unit-{source.stem}").exists():
                code, words = run([self.build.link(f"unit-{source.stem}", mutant)], cwd=TOP)
                said.append(f"{source.stem} {code} {re.findall(r'[0-9]+ failed', words)[-1:]}")
        return " ".join(said)

    def streams(self, program: Path) -> tuple[str, str]:
        """What npu-own says of each case, and what tosac_check says of what it has made."""
        first, second = [], []
        for number, case in enumerate(self.tosa):
            stream = self.build.work / "stream.npz"
            stream.unlink(missing_ok=True)
            code, _ = run([program, "-o", stream, MACHINES[number % len(MACHINES)], case])
            first.append(f"{code}")
            second.append(self.second(stream, case) if stream.exists() else "none")
        return " ".join(first), " ".join(second)

    def second(self, stream: Path, case: Path) -> str:
        import numpy as np
        sys.path.insert(0, str(TOP / "check"))
        from tosac_check.__main__ import judge
        text = json.loads((case / "desc.json").read_text())
        given, want = ([np.load(case / name) for name in text[key]] for key in ("ifm_file", "ofm_file"))
        bounds = [np.load(f) if f.exists() else None for f in (case / f"bounds_{name}" for name in text["ofm_file"])]
        try:
            report = judge(stream, given, want, bounds)
        except Exception as error:  # a stream that is none
            return type(error).__name__
        return "fault" if report["faults"] else "right"

    def check(self, program: Path) -> tuple[str, str, str]:
        """What `compile --check` says, what it wrote, and what tosac_check says of the certificate."""
        said, wrote, judged = [], [], []
        for model, calib, target in ((DIGITS / "model.pt2", DIGITS / "calib.npz", "ethos-u55-128"), (SPOTTER / "stream.pt2", SPOTTER / "frames.npy", "ethos-u65-512"),
                                     (LSTM / "stream.pt2", LSTM / "samples.npy", "ethos-u85-256")):
            out, certificate = self.build.work / "o.pte", self.build.work / "o.json"
            out.unlink(missing_ok=True)
            certificate.unlink(missing_ok=True)
            code, _ = run([program, "compile", model, "-t", target, "--calib", calib, "-o", out, "--check", "--certificate", certificate, "--threads", 1, "--quiet"])
            said.append(str(code))
            wrote.append(hashlib.sha256(out.read_bytes()).hexdigest()[:12] if out.exists() else "none")
            if certificate.exists():
                code, _ = run([sys.executable, "-m", "tosac_check", certificate], cwd=TOP / "check")
                judged.append(str(code))
        return " ".join(said), " ".join(wrote), " ".join(judged)

    def all(self, mutant: Path | None, right: dict[str, str] | None = None) -> dict[str, str]:
        """With what is right: only until one finds it, in the order of their cost."""
        link, found = lambda name: self.build.link(name, mutant), {}
        over = lambda: right is not None and any(found[net] != right[net] for net in found)
        found["operators"] = self.operators(link("conformance"))
        if not over():
            found["golden"] = self.golden(self.build.folder / "golden", link("tosac"))
        if not over():
            found["streams"], found["second"] = self.streams(link("npu-own"))
        if not over():
            found["units"] = self.units(mutant)
        if not over():
            found["check"], found["bytes"], found["certificates"] = self.check(link("tosac"))
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="of files whose names contain this")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    places = [p for p in all_mutants() if not args.only or args.only in p[0].name]
    random.Random(args.seed).shuffle(places)
    count: Counter = Counter()
    rows, lost = [], []
    with tempfile.TemporaryDirectory() as work:
        build = Build(args.build.resolve(), Path(work))
        nets = Nets(build, args.cases.resolve())
        right = nets.all(None)
        print(f"{len(places)} places; unchanged: {right['golden']}, {right['operators']}, {len(nets.tosa)} of TOSA's cases", flush=True)
        for place in places:
            if len(rows) == args.count:
                break
            m = Mutant(*place, place[0].read_text())
            made = build.compile(m)
            if not made:
                count["does not compile"] += 1
                continue
            found = nets.all(made, right if len(rows) % EVERY else None)
            by = [net for net in found if found[net] != right[net]]
            rows.append({"mutant": str(m), "kind": m.kind, "nets": list(found), "found_by": by})
            count.update(f"{net}, of those it saw" for net in found)
            count.update(by)
            count["found"] += any(net != "bytes" for net in by)
            count["bytes alone"] += by == ["bytes"]
            if not by:
                lost.append(str(m))
            print(f"{len(rows)}: {', '.join(by) or 'NOT FOUND'}: {m}", flush=True)
            if args.json:
                args.json.write_text(json.dumps({"seed": args.seed, "count": count, "mutants": rows}, indent=1))
    for name, n in sorted(count.items()):
        print(f"{name}: {n} of {len(rows)}")
    for words in lost:
        print(f"no net finds {words}")
    print(f"{len(rows) - len(lost)} passed, {len(lost)} failed, {count['does not compile']} skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
