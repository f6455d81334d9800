# SPDX-License-Identifier: Apache-2.0
"""The pages: every command and every piece of Python in them runs, and prints what the page says; links lead somewhere.

Blocks marked `sh` and `python` are run, page by page, in an empty folder that has the repository's `test` and `examples` in it; those
marked `python torch` where torch is there.  A `text` block after a `sh` block is what it prints: its lines, in their order.  A `c` block
after a file's name is that file.  `python theirs` and other `text` show what is not ours, or not for here; the verbs and options of
commands in them exist all the same.
"""
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import TOP

ALL = [TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "python" / "README.md", *sorted((TOP / "doc").glob("**/*.md")), *sorted((TOP / "examples").glob("**/*.md"))]
ELSEWHERE = {"examples/firmware/README.md": "test/firmware.sh"}  # who runs the blocks of a page that needs a board's tools
PAGES = [p for p in ALL if re.search(r"^```(sh|python)", p.read_text(), re.M) and str(p.relative_to(TOP)) not in ELSEWHERE]
BLOCK = re.compile(r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w+)(?: (?P<mark>\w+))?\n(?P<text>.*?)^```$(?=(?P<printed>(?:\n\n(?:prints|gives))?\n\n```text\n.*?^```$)?)", re.M | re.S)


def name_of(page):
    return str(page.relative_to(TOP))


def in_order(wanted, said):
    """The first line of `wanted` that is not in `said` behind those before it; None: all are there.  "..." stands for any lines."""
    lines = iter(line.rstrip() for line in said.splitlines())
    return next((line for line in map(str.rstrip, wanted.strip().splitlines()) if line.strip() != "..." and line not in lines), None)


def run_shell(block, folder):
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    said = subprocess.run(["bash", "-ec", block["text"]], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert said.returncode == 0, f"{block['text']}\n{said.stdout}\n{said.stderr}"
    if block["printed"]:
        wanted = re.search(r"```text\n(.*)^```$", block["printed"], re.M | re.S)[1]
        missing = in_order(wanted, said.stdout)
        assert missing is None, f"{block['text']}\nprints\n{said.stdout}\nand not the page's line\n{missing}"


def prepare(folder):
    """Where a page's commands run: `tosac` and `build/tosac` are the package's."""
    for place in ("bin", "build"):
        (folder / place).mkdir()
        (folder / place / "tosac").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tosac "$@"\n')
        (folder / place / "tosac").chmod(0o755)
    for place in ("test", "examples"):
        (folder / place).symlink_to(TOP / place)


@functools.cache
def has_torch():
    try:
        import torch
    except ImportError:
        return False
    known = torch.library.register_fake  # torchvision's compiled part may be for another torch; its models need none of it
    torch.library.register_fake = lambda name, *a, **k: (lambda f: f) if str(name).startswith("torchvision::") else known(name, *a, **k)
    try:
        import torchvision  # noqa: F401
    except ImportError:
        pass
    finally:
        torch.library.register_fake = known
    return True


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_says_runs(page, tmp_path, monkeypatch):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    torch, left, ran = has_torch(), 0, 0
    names = {"__name__": "page"}
    for block in BLOCK.finditer(page.read_text()):
        language, mark, text = block["language"], block["mark"], block["text"]
        if language == "sh":
            run_shell(block, tmp_path)
            ran += 1
        elif language == "c" and block["file"]:
            (tmp_path / block["file"]).write_text(text)
        elif language == "python" and mark != "theirs":
            if mark == "torch" and not torch:
                left += 1
                continue
            exec(compile(text, f"{page.name}", "exec"), names)
            ran += 1
    if not ran:
        pytest.skip(f"{left} blocks need torch")


def test_pages_that_others_run():
    for page, by in ELSEWHERE.items():
        assert "```sh" in (TOP / page).read_text() and "README" in (TOP / by).read_text()


@functools.cache
def known_options():
    """By verb, the options that it takes."""
    said = subprocess.run([sys.executable, "-m", "tosac", "--dump-options"], capture_output=True, text=True, check=True)
    table = json.loads(said.stdout)
    flags = lambda rows: {name for row in rows for name in (row["name"], row["brief"]) if name}
    return {verb["name"]: flags(verb["options"]) | flags(table["common"]) | {"--help", "-h", "--version"} for verb in table["verbs"]}


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_commands_that_are_only_shown_exist(page):
    shown = "\n".join(re.findall(r"^```text\n(.*?)^```$", page.read_text(), re.M | re.S) + re.findall(r"^    (.*)$", page.read_text(), re.M))
    shown = re.sub(r"\\\n", " ", shown)
    for verb, rest in re.findall(r"^(?:\$ )?tosac ([a-z]+) (.*?)(?: {3}|  ?#|$)", shown, re.M):
        assert verb in known_options(), f"tosac {verb}"
        for option in re.findall(r"(?<=\s)(--?[a-z][\w-]*)", f" {rest}"):
            assert option in known_options()[verb], f"tosac {verb} ... {option}"


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_links_lead_somewhere(page):
    for text, link in re.findall(r"\[([^\]\n]+)\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text()):
        if not link.startswith(("http:", "https:")):
            assert (page.parent / link).exists(), f"[{text}]({link})"


def test_pictures_are_well_formed():
    import xml.etree.ElementTree as tree

    found = sorted((TOP / "doc" / "pictures").glob("*.svg"))
    assert found
    for picture in found:
        assert tree.parse(picture).getroot().tag.endswith("svg")


def test_the_front_page_has_every_page():
    front = (TOP / "doc" / "README.md").read_text()
    pages = [str(p.relative_to(TOP / "doc")) for part in ("*.md", "figures/*.md") for p in (TOP / "doc").glob(part)]
    missing = [name for name in pages if name != "README.md" and f"({name})" not in front]
    assert missing == []
