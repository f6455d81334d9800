# SPDX-License-Identifier: Apache-2.0
"""build.py -- programs of a build by ninja, with some of their objects replaced.  The build is not touched."""
from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path


def said(words: list, folder: Path) -> str:
    return subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True, check=True).stdout


class Build:
    def __init__(self, folder: Path, work: Path):
        self.folder, self.work = folder, work
        self.commands = {Path(row["file"]): row["command"] for row in json.loads(said(["ninja", "-t", "compdb"], folder)) if row["file"].endswith(".c")}
        self.unchanged: dict[tuple, bytes | None] = {}
        self.archive = work / "libtosac.a"  # without line numbers: quick to link
        said(["objcopy", "-g", folder / "libtosac.a", self.archive], folder)

    def compile(self, path: Path, source: Path, out: Path, *more: str) -> bool:
        """`source` in place of `path`, by its command; False: it does not compile."""
        words = [w for w in shlex.split(self.commands[path]) if w not in ("ccache", "-Werror", "-MD", "-c", str(path)) and not w.startswith("-g")]
        for option in ("-o", "-MF", "-MT"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        words += ["-w", "-iquote", str(path.parent), *more, "-c", str(source), "-o", str(out)]
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def object_of(self, path: Path, text: str, *more: str) -> bytes | None:
        """None: it does not compile."""
        source, out = self.work / path.name, self.work / "changed.o"
        source.write_text(text)
        return out.read_bytes() if self.compile(path, source, out, *more) else None

    def changed(self, m, *more: str) -> str:
        """What became of it ("": it is another program); its object is in changed.o."""
        key = (m.path, more)
        if key not in self.unchanged:
            self.unchanged[key] = self.object_of(m.path, m.path.read_text(), *more)
        made = self.object_of(m.path, m.source, *more)
        return "does not compile" if made is None else "equal code" if made == self.unchanged[key] else ""

    def link(self, target: str, objects: list[Path], out: Path, *more: str) -> Path:
        """The objects stand in front of the library."""
        words = self.words(target)
        own = [w for w in words if w.endswith(".o") or w.startswith("-Wl,--wrap")]
        libraries = [self.archive if w.endswith("libtosac.a") else w for w in self.words("golden") if w.endswith((".a", ".so")) or w.startswith("-l")]
        said(["cc", "-fuse-ld=lld", *more, "-o", out, *own, *objects, *libraries], self.folder)
        return out

    def words(self, target: str) -> list[str]:
        """Of the command that links it."""
        text = said(["ninja", "-t", "commands", "-s", target], self.folder)
        return shlex.split(re.sub(r"^: && ", "", text.strip()).split(" && ")[0])
