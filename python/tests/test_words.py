# SPDX-License-Identifier: Apache-2.0
"""The command line's words: JSON by its published schemas, exit codes and options by the one table, lines on a terminal."""
import json
import functools
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import TOP

jsonschema = pytest.importorskip("jsonschema")


def tosac(*args, **env):
    return subprocess.run([sys.executable, "-m", "tosac", *map(str, args)], capture_output=True, text=True, env={**os.environ, **env})


def schema(name):
    return json.loads((TOP / "doc" / "schema" / f"{name}.json").read_text())


def valid(name, *args, code=0, **env):
    """What a verb prints with --json keeps to its schema, and so do its messages."""
    said = tosac(*args, "--json", **env)
    assert said.returncode == code, said.stderr
    if said.stderr:
        messages = json.loads(said.stderr)
        jsonschema.validate(messages, schema("messages"))
        assert messages["exit"] == code
    if said.stdout or code == 0:
        jsonschema.validate(json.loads(said.stdout), schema(name))
    return said


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from conftest import Digits as d

    t = tmp_path_factory.mktemp("words")
    for out in ("d.tosa", "d.pte", "d.vgf"):
        assert tosac("compile", d.model, "-t", "TOSA-1.0+FP", "-o", t / out).returncode == 0
    assert tosac("quantize", d.model, "--calib", d.calib, "-o", t / "q.ir").returncode == 0
    return t


@pytest.mark.parametrize("name", sorted(p.stem for p in (TOP / "doc" / "schema").glob("*.json")))
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_every_verb(digits, files, tmp_path):
    d = digits
    valid("compile", "compile", d.model, "-t", "TOSA-1.0+INT", "--calib", d.calib, "-o", tmp_path / "d.tosa")
    valid("compile", "compile", d.model, "-t", "cpu")
    valid("explain", "explain", d.model, "-t", "ethos-u85-256")
    valid("quantize", "quantize", d.model, "--calib", d.calib, "-o", tmp_path / "q.ir")
    valid("quantize", "quantize", d.model, "--calib", d.calib, "-o", tmp_path / "q.obs", "--observe-only")
    valid("advise", "advise", d.model, "-t", "ethos-u85-256", "--tries", 6)
    valid("advise", "advise", d.model, "-t", "TOSA-1.0+INT", "--calib", d.calib)
    valid("run", "run", d.model, "-i", "random:1")
    valid("run", "run", d.model, "-i", "random:1", "--bench", 2)
    valid("compare", "compare", d.model, files / "q.ir", "-i", "random:1")
    valid("evaluate", "evaluate", d.model, files / "q.ir", "--data", TOP / "test/fixture/digits/test.npz", "--labels",
          TOP / "test/fixture/digits/test_label.npy")
    decoder = TOP / "test" / "fixture" / "decoder"
    valid("evaluate", "evaluate", decoder / "forward.pt2", "--data", decoder / "windows.npy", "--perplexity")
    valid("generate", "generate", decoder / "forward.pt2", "--tokenizer", decoder / "tokenizer.json", "--prompt", "The ", "-n", 4)
    valid("verify", "verify", files / "d.tosa", "-t", "TOSA-1.0+FP")
    valid("opt", "opt", "--pass=remove-dead-code", files / "q.ir")
    valid("opt", "opt", "--pass=remove-dead-code", files / "q.ir", "-o", tmp_path / "o.ir")
    assert tosac("compile", d.model, "-t", "cpu", "--report", tmp_path / "r.json").returncode == 0
    valid("report", "report", tmp_path / "r.json")
    valid("changes", "report", tmp_path / "r.json", tmp_path / "r.json")
    valid("targets", "targets")
    valid("boards", "boards")
    valid("compile", "compile", d.model, "--board", "alif-e7-hp", "--calib", d.calib, "-o", tmp_path / "b.pte")
    valid("ops", "ops")
    valid("ops", "ops", "-t", "vgf")
    valid("doctor", "doctor")
    for f in (d.model, d.calib, files / "d.tosa", files / "d.pte", files / "d.vgf", files / "q.ir"):
        valid("inspect", "inspect", f)


def test_ethos_u(digits, tmp_path):
    valid("compile", "compile", digits.model, "-t", "ethos-u85-256", "--calib", digits.calib, "-o", tmp_path / "d.pte")
    valid("verify", "verify", tmp_path / "d.pte")
    valid("verify", "verify", tmp_path / "d.pte", "--firmware", "executorch-1.4,driver=0.15", "--board", "alif-e7-hp")
    valid("profile", "profile", tmp_path / "d.pte")
    valid("inspect", "inspect", tmp_path / "d.pte")


@pytest.mark.parametrize("target, out", [("ethos-u85-256", "d.pte"), ("ethos-u55-128", "d.tflite"), ("vgf", "d.vgf"), ("cortex-m4", "d.c"), ("cpu", "d.pte"),
                                         ("TOSA-1.0+INT", "d.tosa")])
def test_certificates(digits, tmp_path, target, out):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    assert tosac("compile", digits.model, "-t", target, "--calib", digits.calib, "-o", tmp_path / out, "--certificate", paths[0]).returncode == 0
    found = json.loads(paths[0].read_text())
    jsonschema.validate(found, schema("certificate"))
    made = pytest.importorskip("tosac").compile(str(digits.model), target, calibration=str(digits.calib))
    made.save(tmp_path / out)
    assert made.certificate(paths[1]) == json.loads(paths[1].read_text())
    assert {**found, "tool": None} == {**json.loads(paths[1].read_text()), "tool": None}


def test_mistakes_are_told_as_json_too(digits, files):
    for code, args in ((1, ("run", "nowhere.pt2")), (2, ("run", "--bensh")), (2, ("rum",)), (2, ("compile", digits.model)), (2, ("compile",)),
                       (1, ("verify", files / "d.tosa", "-t", "TOSA-1.0+INT")), (1, ("inspect", "/dev/null")),
                       (2, ("compile", digits.model, "-t", "ethos-u85-25"))):
        said = valid("messages", *args, code=code)
        assert json.loads(said.stderr)["messages"] and said.stdout == ""


def test_every_kind_of_advice_is_on_its_page():
    kinds = re.findall(r"^ADVICE\( (\w+),", (TOP / "src" / "advise" / "advice.def").read_text(), re.M)
    page = (TOP / "doc" / "advise.md").read_text()
    assert len(kinds) > 20 and [k for k in kinds if f"| `{k}` |" not in page] == []


# ---- one table ----

def table():
    return json.loads(tosac("--dump-options").stdout)


def test_options_are_the_tables():
    """Help, manual pages and completions have the options of the table, no more and no fewer."""
    t = table()
    jsonschema.validate(t, schema("options"))
    common = {o["name"] for o in t["common"]}
    bash = (TOP / "share" / "tosac.bash").read_text()
    for verb in t["verbs"]:
        want = {o["name"] for o in verb["options"]} | common
        page = (TOP / "share" / f"tosac-{verb['name']}.1").read_text().replace("\\-", "-")
        assert set(re.findall(r"^(?:\\fB-\w\\fR, )?\\fB(--[a-z0-9-]+)\\fR", page, re.M)) == want, verb["name"]
        helped = tosac(verb["name"], "--help").stdout
        assert set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", helped, re.M)) == want, verb["name"]
        assert all(name in bash for name in want)


def test_exit_codes_are_the_tables():
    t = table()
    codes = {row["code"] for row in t["exit"]}
    page = (TOP / "share" / "tosac.1").read_text()
    inside = page.split(".SH EXIT STATUS")[1].split(".SH")[0]
    assert {int(c) for c in re.findall(r"^\.B (\d+)$", inside, re.M)} == codes
    assert set(schema("messages")["properties"]["exit"]["enum"]) == codes | {6}  # 6: called off
    base = (TOP / "include" / "tosac" / "base.h").read_text()
    assert codes <= {int(c) for c in re.findall(r"TC_\w+ = (\d+)", base)}
    readme = (TOP / "README.md").read_text().split("Exit codes:")[1].split("\n\n")[0]
    assert {int(c) for c in re.findall(r"\b(\d+) [a-z]", readme)} == codes


def test_every_verb_has_a_page_and_a_schema():
    for verb in table()["verbs"]:
        assert (TOP / "share" / f"tosac-{verb['name']}.1").exists()
        if verb["name"] != "emulate":  # what it prints is the firmware's; its refusals are messages.json
            assert (TOP / "doc" / "schema" / f"{verb['name']}.json").exists(), verb["name"]


# ---- terminals ----

def on_terminal(*args, **env):
    """What a command writes to a terminal."""
    read, write = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "tosac", *map(str, args)], stdin=subprocess.DEVNULL, stdout=write, stderr=write,
                               env={**os.environ, "TERM": "xterm", **env})
    os.close(write)
    said = b""
    while True:
        try:
            part = os.read(read, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    process.wait()
    os.close(read)
    return said.decode()


def test_colour_on_terminals_only():
    assert "\x1b[1;31merror\x1b[0m" in on_terminal("run", "nowhere.pt2")
    assert "\x1b[" not in on_terminal("run", "nowhere.pt2", NO_COLOR="1")
    assert "\x1b[" not in on_terminal("run", "nowhere.pt2", TERM="dumb")
    assert "\x1b[" not in tosac("run", "nowhere.pt2").stderr


def test_a_line_says_what_is_done(digits, tmp_path):
    """Stage, count and estimate after a second; nothing of it is left, and none of it when piped."""
    args = ("run", digits.model, "-i", digits.calib, "--bench", 4000, "--reference", "--threads", 1)
    said = on_terminal(*args)
    assert re.search(r"\d+ of 4000 runs, \d+ s left", said) and said.rindex("\x1b[K") < said.rindex("4000 runs: min")
    piped = tosac("run", digits.model, "-i", "random:1", "--bench", 2)
    assert piped.stderr == "" and "\x1b" not in piped.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupted_says_so_and_leaves_nothing(tmp_path):
    digits = TOP / "test" / "fixture" / "digits"
    command = [sys.executable, "-m", "tosac", "compile", digits / "model.pt2", "-t", "ethos-u85-256", "--calib", digits / "calib.npz",
               "-q", "best", "-o", tmp_path / "x.pte", "--report", tmp_path / "x.html"]
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what runs in the background ignores it
    started = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    time.sleep(1)
    started.send_signal(signal.SIGINT)
    said = started.communicate()[1]
    assert started.returncode == -signal.SIGINT and "tosac: interrupted" in said  # a shell sees 130
    assert os.listdir(tmp_path) == []
