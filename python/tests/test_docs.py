# SPDX-License-Identifier: Apache-2.0
"""The pages: every command and every piece of Python in them runs; links lead somewhere.

Blocks marked `sh` and `python` are run, page by page, in an empty folder that has the repository's `test` in it; those
marked `python torch` where torch is there.  `python theirs` and `text` show what is not ours, or not for here.
"""
import functools
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import TOP

PAGES = [p for p in [TOP / "README.md", *sorted((TOP / "doc").glob("*.md"))] if "```sh" in p.read_text() or "```python" in p.read_text()]


def blocks(page):
    return re.findall(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", page.read_text(), re.M | re.S)


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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_a_page_says_runs(page, tmp_path, monkeypatch):
    (tmp_path / "test").symlink_to(TOP / "test")
    monkeypatch.chdir(tmp_path)
    torch, left, ran = has_torch(), 0, 0
    names = {"__name__": "page"}
    for language, mark, text in blocks(page):
        if language == "sh":
            for line in text.strip().splitlines():
                command = line.replace("tosac ", f"{sys.executable} -m tosac ", 1) if line.startswith("tosac ") else line
                said = subprocess.run(command, shell=True, capture_output=True, text=True)
                assert said.returncode == 0, f"{line}\n{said.stderr}"
                ran += 1
        elif language == "python" and mark != "theirs":
            if mark == "torch" and not torch:
                left += 1
                continue
            if "ethos-u" in text and "tosac.compile" in text and not (os.environ.get("TOSAC_VELA") or shutil.which("vela")):
                left += 1
                break  # what follows stands on it
            exec(compile(text, f"{page.name}", "exec"), names)
            ran += 1
    if not ran:
        pytest.skip(f"{left} blocks need torch or Vela")


@pytest.mark.parametrize("page", sorted((TOP / "doc").glob("*.md")) + [TOP / "README.md"], ids=lambda p: p.stem)
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
    missing = [p.name for p in (TOP / "doc").glob("*.md") if p.name != "README.md" and f"({p.name})" not in front]
    assert missing == []
