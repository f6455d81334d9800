# SPDX-License-Identifier: Apache-2.0
"""nets.py -- the tests that mutants are put before, in single pieces: what each says of a compiler, as text for each net."""
from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple

from places import TOP

sys.path.insert(0, str(TOP / "check"))

DIGITS, LSTM, SPOTTER = (TOP / "test" / "fixture" / name for name in ("digits", "lstm", "spotter"))
#: nets that say what a compiler is worth and no more: other bytes without other numbers are no mistake
PRICES = ("price",)
MACHINES = ("ethos-u55-128", "ethos-u65-512", "ethos-u85-256")
ENDS = ("ethos-u55-128", "ethos-u85-256", "ethos-u55-128:products", "ethos-u85-128")
SKIPPED = re.compile(r"ERRORIF|_(bf16|f16|f32|fp8)")
EVERY = 6  # of the suite's cases
UNITS = re.compile(r"lower_.*|value_bounds|shader|proof|regions|forms|codegen|own|passes|lemmas|cycles|c_runs|cortexm_scratch|place|api_compile|tflite_write")
FILES = [("ethos-u85-256", "model.pte", []), ("ethos-u55-128", "model.tflite", []), ("vgf", "model.vgf", []), ("cortex-m55", "model.c", ["--emit=c"])]
MODELS = [(DIGITS / "model.pt2", DIGITS / "calib.npz", "ethos-u55-128"), (SPOTTER / "stream.pt2", SPOTTER / "frames.npy", "ethos-u65-512"),
          (LSTM / "stream.pt2", LSTM / "samples.npy", "ethos-u85-256")]
LONGEST = 900
RANDOM_MODELS, RANDOM_GRAPHS, OPERATORS = 300, 500, 210  # `make check` has 1,000 models; rows of the table of operators
JUDGES = Path(os.environ.get("TOSAC_JUDGES", TOP / "build" / "peers" / "judges")).resolve() / "bin" / "python"
DRAWN_ON = (*MACHINES, "ethos-u85-1024")


class Test(NamedTuple):
    net: str
    name: str
    target: str  # the program that is linked to the compiler under test
    says: Callable[["Bench", Path], dict[str, str]]
    words: tuple = ()  # of a command that takes several tests at a time: what stands in front of all of them,
    own: object = None  # and what is of this one


class Bench:
    """Where tests run, and how long they may."""

    def __init__(self, build: Path, work: Path, cases: Path):
        self.build, self.work, self.cases = build, work, cases
        self.seconds = LONGEST
        self.reach: Path | None = None

    def run(self, *words, cwd: Path = TOP) -> tuple[str, str]:
        more = {"TOSAC_REACH": str(self.reach)} if self.reach else {}
        try:
            done = subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=self.seconds, cwd=cwd, env=os.environ | more)
            return str(done.returncode), done.stdout
        except subprocess.TimeoutExpired:
            return "takes too long", ""

    def tried(self, test: Test, program: Path) -> tuple[dict[str, str], float]:
        """What it says, and processor time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = test.says(self, program)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tallied(said: str) -> list[int]:
    """The exit status and what is counted at the end."""
    counts = re.findall(r"(\d+) (?:equal|refused|not tried|passed|failed|skipped|left)\b", said)
    return [0 if said.startswith("0 ") or said == "0" else 1, *map(int, counts)]


def together(bench: "Bench", program: Path, tests: list[Test]) -> str:
    """What several tests of one command say at a time."""
    head, *rest = tests[0].words
    own = [",".join(str(t.own) for t in tests)] if head == "models" else [t.own for t in tests]
    if head == "golden":
        return bench.run(bench.build / "golden", "--tosac", program, *own)[0]
    code, said = bench.run(program, *rest, *own)
    return f"{code} {said if head == 'npu-own' else said.splitlines()[-2:]}"


def as_before(said: str, before: list[str]) -> bool:
    """Whether they say together what they said one by one of the unchanged compiler."""
    now, then = tallied(said), [tallied(b) for b in before]
    return len(now) == len(then[0]) and now[1:] == [sum(column) for column in zip(*then)][1:] and now[0] == max(t[0] for t in then)


def golden(file: Path) -> Test:
    return Test("golden", str(file.relative_to(TOP)), "tosac",
                lambda bench, program: {"golden": bench.run(bench.build / "golden", "--tosac", program, file)[0]}, ("golden",), file)


def graph(file: Path, machine: str) -> Test:
    return own(file, machine, "graphs")


def unit(name: str) -> Test:
    return Test("units", name, f"unit-{name}", lambda bench, program: {"units": bench.run(program)[0]})


def operator(name: str) -> Test:
    def says(bench: Bench, program: Path) -> dict[str, str]:
        return {"operators": bench.run(program, "lowered", "--cases", bench.cases, "-j", 1, "-k", f"{name}/")[0]}
    return Test("operators", name, "conformance", says)


def stream(case: Path, machine: str) -> Test:
    """Our executor and verifier, and tosac_check on the same stream."""
    def says(bench: Bench, program: Path) -> dict[str, str]:
        out = bench.work / "stream.npz"
        out.unlink(missing_ok=True)
        own = " ".join(bench.run(program, "-o", out, machine, case))
        return {"streams": own, "second": second(out, case) if out.exists() else "none"}
    return Test("streams", f"{case.name} {machine}", "npu-own", says)


def second(made: Path, case: Path) -> str:
    import numpy as np
    from tosac_check.__main__ import judge
    text = json.loads((case / "desc.json").read_text())
    given, want = ([np.load(case / name) for name in text[key]] for key in ("ifm_file", "ofm_file"))
    bounds = [np.load(f) if f.exists() else None for f in (case / f"bounds_{name}" for name in text["ofm_file"])]
    try:
        report = judge(made, given, want, bounds)
    except Exception as error:  # a stream that is none
        return type(error).__name__
    return "fault" if report["faults"] else "right"


def own(case: Path, machine: str, net: str) -> Test:
    """Our executor and verifier alone."""
    return Test(net, f"{case.name} {machine}", "npu-own", lambda bench, program: {net: " ".join(bench.run(program, machine, case))}, ("npu-own", machine), case)


def drawn_graphs(folder: Path) -> list[Path]:
    """Graphs of tools/peer/own_diff.py, by the Python that has Arm's reference model; none without it."""
    if not folder.exists() and JUDGES.exists():
        subprocess.run([JUDGES, TOP / "tools" / "peer" / "own_diff.py", "npu-own", "--count", str(RANDOM_GRAPHS), "--write", folder], check=True, capture_output=True)
    return sorted(folder.iterdir(), key=lambda p: int(p.name)) if folder.exists() else []


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "none"


def same_bytes(target: str, name: str, more: list[str]) -> Test:
    """Of digits: the files of test/same_bytes.sh."""
    def says(bench: Bench, program: Path) -> dict[str, str]:
        out = bench.work / name
        out.unlink(missing_ok=True)
        code, _ = bench.run(program, "compile", DIGITS / "model.pt2", "-t", target, "--calib", DIGITS / "calib.npz", *more, "--quiet", "--threads", 1, "-o", out)
        return {"bytes": f"{code} {sha256(out)}"}
    return Test("bytes", f"{target} {name}", "tosac", says)


def checked(model: Path, calib: Path, target: str) -> Test:
    """`compile --check`: every step, every stream and the result are executed; what is written without it, before tosac_check; its bytes."""
    def says(bench: Bench, program: Path) -> dict[str, str]:
        out, certificate, dump = bench.work / "o.pte", bench.work / "o.json", bench.work / "dump"
        out.unlink(missing_ok=True)
        certificate.unlink(missing_ok=True)
        shutil.rmtree(dump, ignore_errors=True)
        words = (program, "compile", model, "-t", target, "--calib", calib, "-o", out, "--threads", 1, "--quiet")
        code, _ = bench.run(*words, "--check")
        alone, _ = bench.run(*words, "--certificate", certificate, "--dump-dir", dump)
        judge = (sys.executable, "-m", "tosac_check", certificate)
        judged = [bench.run(*judge, *more, cwd=TOP / "check")[0] if certificate.exists() else "0" for more in ((), ("--typed", dump))]
        return {"check": code, "compiles": alone, "certificates": judged[0], "typed": judged[1], "price": sha256(out)}
    return Test("check", f"{model.parent.name} {target}", "tosac", says)


def last_line(bench: Bench, *words) -> str:
    code, said = bench.run(*words, "-j", 1, "--known", TOP / "test" / "models" / "known.txt", "--found", bench.work / "found")
    return f"{code} {said.splitlines()[-2:]}"


def table(number: int) -> Test:
    """An operator of the table in every type, for every target."""
    return Test("table", str(number), "models", lambda bench, program: {
        "table": last_line(bench, program, "--table", TOP / "test" / "golden" / "lower", "--seed", number, "--count", 1)})


def model(number: int) -> Test:
    """A random model: for every target, every step checked, files written, read back and run."""
    return Test("models", str(number), "models", lambda bench, program: {"models": last_line(bench, program, "--count", 1, "--seed", number)},
                ("models", "-j", 1, "--known", TOP / "test" / "models" / "known.txt", "--found", "/tmp", "--only"), number)


#: what of VGF files is run on Vulkan in software: the programs of `make check`
VULKAN = [("vgf_shaders.py", "operators", 9), ("vgf_shaders.py", "chains", 36), ("vgf_images.py", "formats", 9)]


def shaders(judge: str, what: str, every: int) -> Test:
    """Compute shaders of VGF files, and images, on Vulkan in software: one of every so many."""
    def says(bench: Bench, program: Path) -> dict[str, str]:
        code, said = bench.run(JUDGES, TOP / "tools" / "peer" / judge, what, program, "--every", every)
        return {"shaders": f"{code} {said.splitlines()[-1:]}"}
    return Test("shaders", f"{judge} {what}", "tosac", says)


def all_tests(build: Path, cases: Path, work: Path) -> list[Test]:
    """Those of which the build has the program."""
    suite = sorted(p for p in (cases / "suites" / "public").iterdir() if p.is_dir() and not SKIPPED.search(p.name))
    operators = sorted(p.name for p in (cases / "suites" / "aten").iterdir() if p.is_dir())
    units = sorted(p.stem for p in (TOP / "test" / "unit").glob("*.c") if UNITS.fullmatch(p.stem) and (build / f"unit-{p.stem}").exists())
    return [*map(golden, sorted((TOP / "test" / "golden").rglob("*.ir"))),
            *(graph(file, machine) for file in sorted((TOP / "test" / "codegen").glob("*.ir")) for machine in ENDS),
            *(stream(case, MACHINES[k % len(MACHINES)]) for k, case in enumerate(suite[::EVERY])),
            *(own(case, MACHINES[k % len(MACHINES)], "cases") for k, case in enumerate(suite) if k % EVERY),
            *(own(case, DRAWN_ON[k % len(DRAWN_ON)], "drawn") for k, case in enumerate(drawn_graphs(work / "drawn"))),
            *map(unit, units), *map(operator, operators), *(same_bytes(*f) for f in FILES), *(checked(*m) for m in MODELS),
            *(shaders(*row) for row in VULKAN if JUDGES.exists()), *(table(1 + k) for k in range(OPERATORS)), *(model(1 + k) for k in range(RANDOM_MODELS))]
