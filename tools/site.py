#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py -- the pages of doc/ and what they link to, as a site by mkdocs.        site.py OUT [MKDOCS]

The pages are copied as they are, in the folders where they lie, so that their links hold; a file that one of them links to comes
along, and a folder gets a page that lists it.  What is in which group of the menu, and its name, doc/README.md has.  mkdocs runs
with --strict; links to pages, files and headings that are not there are errors, and so is a script or a picture of another host, and a
block of code or a table that is not shown as one.
The search asks for a server: python3 -m http.server -d OUT/site.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Optional
from urllib.parse import unquote

TOP = Path(__file__).resolve().parent.parent
LOADED = re.compile(r'<(?:script|img|iframe|link rel="?stylesheet"?)\b[^>]*\b(?:src|href)="?((?:https?:)?//[^" >]+)')
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
LINK = re.compile(r"(\]\()([^)\s#]+)([^)]*\))")

SETTINGS = """\
site_name: tosac
site_description: A quantizing ahead-of-time compiler for Arm machine-learning targets
docs_dir: {docs}
site_dir: {site}
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.sections, navigation.top, search.suggest, search.highlight, content.code.copy, toc.follow]
  palette:
    - {{media: "(prefers-color-scheme)", toggle: {{icon: material/brightness-auto, name: "Light"}}}}
    - {{media: "(prefers-color-scheme: light)", scheme: default, primary: teal, toggle: {{icon: material/weather-sunny, name: "Dark"}}}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate, primary: teal, toggle: {{icon: material/weather-night, name: "As the system"}}}}
extra: {{generator: false}}
plugins: [search]
markdown_extensions:
  - tables
  - sane_lists
  - pymdownx.superfences
  - pymdownx.highlight
  - toc: {{permalink: true, slugify: !!python/object/apply:pymdownx.slugs.slugify {{kwds: {{case: lower}}}}}}
validation: {{nav: {{omitted_files: ignore, not_found: warn}}, links: {{not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}}}}
nav:
{nav}"""


def spaced_lists(words: str) -> str:
    """Lists that follow a line of a paragraph get an empty line before them: Python's Markdown takes them for its words otherwise."""
    out, code, before = [], False, ""
    for line in words.splitlines():
        code ^= line.startswith("```")
        if not code and ITEM.match(line) and before and not ITEM.match(before) and not before.startswith((" ", "#", "```")):
            out.append("")
        out.append(line)
        before = line
    return "\n".join(out) + "\n"


def stage(docs: Path) -> None:
    """The pages, and all that they lead to, below `docs`."""
    waiting = [TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "CHANGELOG.md", *sorted((TOP / "doc").glob("**/*.md"))]
    done = set()
    while waiting:
        page = waiting.pop(0)
        to = docs / page.relative_to(TOP)
        if page in done:
            continue
        done.add(page)
        to.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix != ".md":
            shutil.copy(page, to)
            continue

        def follow(m: re.Match[str]) -> str:
            target = m[2]
            if re.match(r"[a-z]+:", target):
                return m[0]
            path = (page.parent / target).resolve()
            if not path.is_relative_to(TOP) or not path.exists():
                return m[0]  # mkdocs tells
            if path.is_dir():
                if not (path / "README.md").exists():
                    list_folder(docs, path)
                    waiting.extend(p for p in path.iterdir() if p.is_file())
                else:
                    waiting.append(path / "README.md")
                return m[1] + target.rstrip("/") + "/README.md" + m[3]
            waiting.append(path)
            return m[0]

        words = re.sub(r"^(```\w+) \w+$", r"\1", page.read_text(), flags=re.M)  # "python torch": the second word is for our tests
        words = spaced_lists(words)
        outside = re.split(r"(^```.*?^```$|^    .*?$|`[^`\n]*`)", words, flags=re.M | re.S)
        to.write_text("".join(part if i % 2 else LINK.sub(follow, part) for i, part in enumerate(outside)))


def list_folder(docs: Path, folder: Path) -> None:
    """A page for a folder that has none of its own."""
    rows = []
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        title = path.name
        if path.suffix == ".md":
            title = next((line.lstrip("# ").strip() for line in path.read_text().splitlines() if line.startswith("#")), path.name)
        rows.append(f"- [{title}]({path.name})")
    to = docs / folder.relative_to(TOP) / "README.md"
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(f"# {folder.relative_to(TOP)}\n\n" + "\n".join(rows) + "\n")


def menu() -> str:
    """The groups of doc/README.md and the pages that they link to, each once."""
    out, seen = ["  - {tosac: README.md}", "  - {All pages: doc/README.md}"], set()
    for line in (TOP / "doc" / "README.md").read_text().splitlines():
        group = re.match(r"\*\*([^*]+)\*\*", line)
        if group:
            out.append(f"  - {group[1]!r}:")
        for text, target in re.findall(r"\[([^\]]+)\]\(([^)#\s]+)\)", line):
            path = f"doc/{target}" if target.endswith(".md") else f"doc/{target}/README.md"
            if path not in seen and not target.startswith(".."):
                seen.add(path)
                out.append(f"    - {(text[0].upper() + text[1:]).replace('`', '')!r}: {path}")
    out.append("  - {Changes: CHANGELOG.md}\n  - {Contributing: CONTRIBUTING.md}")
    return "\n".join(out) + "\n"


def check_links(site: Path) -> int:
    """Every link inside the site leads to a file, and to a heading where it names one, and no page loads anything from elsewhere; how many
    links there are."""
    text = {p: p.read_text() for p in site.glob("**/*.html")}
    ids = {p: set(re.findall(r'\bid="([^"]+)"', t)) for p, t in text.items()}
    count, bad = 0, []
    for page, words in text.items():
        bad += [f"{page.relative_to(site)}: loads {url}" for url in LOADED.findall(words)]
        if page.name == "404.html":  # is served from anywhere, and links from the root
            continue
        for link in re.findall(r'\b(?:href|src)="?([^" >]+)', words):
            if re.match(r"[a-z]+:|//", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name).resolve() if name else page
            count += 1
            if target.is_dir():
                target /= "index.html"
            if not target.exists() or (anchor and target in ids and anchor not in ids[target] and anchor != "__skip"):
                bad.append(f"{page.relative_to(site)}: {link}")
    if bad:
        raise SystemExit("site.py: links that lead nowhere, or away:\n" + "\n".join(sorted(set(bad))))
    return count


class Rendered(HTMLParser):
    """What a page shows: its blocks of code, its tables, and words outside of code."""

    EMPTY = {"br", "img", "link", "meta", "input", "hr", "source", "wbr"}

    def __init__(self, words: str):
        super().__init__()
        self.open: list[str] = []
        self.blocks = self.tables = 0
        self.words: list[str] = []
        self.feed(words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        self.blocks += tag == "pre"
        self.tables += tag == "table"
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"code", "pre", "script", "style"} & set(self.open):
            self.words.append(data)


MARKS = re.compile(r"```|\|\s*:?---|\]\([^)\s]+\)|\*\*\w|`")  # of Markdown, which a page shows only where it was not understood


def check_rendered(docs: Path, site: Path) -> int:
    """Every block of code and every table of a page is one in HTML too, and no mark is left in the words; how many blocks and tables."""
    count, bad = 0, []
    for page in sorted(docs.glob("**/*.md")):
        source = page.read_text()
        html = site / page.relative_to(docs).with_name("index.html" if page.name == "README.md" else f"{page.stem}.html")
        shown = Rendered(html.read_text())
        outside = re.sub(r"^```.*?^```$", "```", source, flags=re.M | re.S)
        blocks, tables = len(re.findall(r"^```$", outside, re.M)), len(re.findall(r"^ *\|[-:| ]*---[-:| ]*\|$", outside, re.M))
        bad += [f"{page.relative_to(docs)}: {blocks} blocks of code, {shown.blocks} shown"] * (shown.blocks < blocks)
        bad += [f"{page.relative_to(docs)}: {tables} tables, {shown.tables} shown"] * (shown.tables != tables)
        bad += [f"{page.relative_to(docs)}: a mark is left: {w.strip()[:80]!r}" for w in shown.words if MARKS.search(w)]
        bad += [f"{page.relative_to(docs)}: a list is shown as words: {w.strip()[:80]!r}" for w in re.findall(r"<p>[^<]*(?:<(?!/p)[^<]*)*</p>", html.read_text())
                if re.search(r"\n(?:-|\d+\.) ", w) and "<pre" not in w]
        count += blocks + tables
    if bad:
        raise SystemExit("site.py: pages that are not shown as they are meant:\n" + "\n".join(bad))
    return count


def main(out: Path, mkdocs: str) -> None:
    docs, site = out / "pages", out / "site"
    shutil.rmtree(docs, ignore_errors=True)
    stage(docs)
    settings = out / "mkdocs.yml"
    settings.write_text(SETTINGS.format(docs=docs.resolve(), site=site.resolve(), nav=menu()))
    subprocess.run([mkdocs, "build", "--strict", "--quiet", "--clean", "-f", str(settings)], check=True,
                   env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    links, blocks = check_links(site.resolve()), check_rendered(docs, site)
    print(f"{site}/index.html: {len(list(site.glob('**/*.html')))} pages, {links} links inside, all of them lead somewhere; "
          f"{blocks} blocks of code and tables, all of them shown")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "mkdocs")
