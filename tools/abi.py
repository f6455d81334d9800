# SPDX-License-Identifier: Apache-2.0
"""abi.py -- what is stable in include/tosac against the last release.

    abi.py            compares the headers with the newest of test/abi/VERSION.txt; says what was added and what was broken
    abi.py --write    writes test/abi/VERSION.txt of this version, unless it has a tag: then it is what users have

Stable are functions without TC_EXPERIMENTAL, and the enums, records and callbacks that they lead to.  The text has the values of
enumerators, and offsets, types and sizes of records on machines with 64-bit pointers; a C compiler confirms them.

A break is a function, enumerator or field that is gone or different.  An addition is a new one: a record that starts with `size` may grow
at its end, another one may name some of its `reserved` words.  Within a minor version a break is a failure; a later minor version has a
library name of its own (libtosac.so.0.3), and breaks are listed.
"""
from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "python"))
import headers  # noqa: E402

FOLDER = TOP / "test" / "abi"


def stable(items: list[headers.Item]) -> list[headers.Item]:
    """Stable functions and all that their types lead to, in the headers' order."""
    named = {i.name: i for i in items if i.name and i.kind != "function"}
    found, waiting = set(), [i for i in items if i.kind == "function" and "TC_EXPERIMENTAL" not in i.text]
    kept = {i.name for i in waiting}
    while waiting:
        i = waiting.pop()
        for text in [i.returns, *(t for _, t in i.params), *(t for _, t in i.fields)]:
            for word in re.findall(r"\w+", text):
                if word in named and word not in found:
                    found.add(word)
                    waiting.append(named[word])
    return [i for i in items if i.name in kept | found or (i.kind == "enum" and not i.name)]


def dump(include: Path) -> str:
    """The stable part as text: a line for each enum, record, callback and function, with lines for what is inside."""
    space: dict = {}
    exec(headers.bindings(include), space)
    out = []
    for i in stable(headers.read(include)[1]):
        types = ", ".join(t for _, t in i.params)
        if i.kind == "enum":
            out += [f"enum {i.name}".rstrip(), *(f"  {name} {value}" for name, value in i.fields)]
        elif i.kind == "record":
            of = space[i.name]
            size = __import__("ctypes").sizeof(of)
            out += [f"record {i.name} {size}", *(f"  {name} {getattr(of, name).offset} {kind}" for name, kind in i.fields)]
        elif i.kind in ("callback", "function"):
            out.append(f"{i.kind} {i.name}: {i.returns} ({types})")
    return "\n".join(out) + "\n"


def confirmed(text: str, include: Path) -> bool:
    """Whether the C compiler has the same values, offsets and sizes."""
    out, record = ["#include <stddef.h>", "#include <tosac/tosac.h>"], ""
    for line in text.splitlines():
        word = line.split()
        if word[0] == "record":
            record = word[1]
            out.append(f"_Static_assert(sizeof({record}) == {word[2]}, \"{record}\");")
        elif line.startswith("  ") and len(word) == 2:
            out.append(f"_Static_assert({word[0]} == {word[1]}, \"{word[0]}\");")
        elif line.startswith("  "):
            out.append(f"_Static_assert(offsetof({record}, {word[0]}) == {word[1]}, \"{record}.{word[0]}\");")
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("\n".join(out) + "\n")
        f.flush()
        said = subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{include.parent}", f.name], capture_output=True, text=True)
    print(said.stderr, end="")
    return said.returncode == 0


def parts(text: str) -> dict[str, list[str]]:
    """What each line that is not indented has inside, by that line without a record's size."""
    out: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            out[name].append(line.strip())
            continue
        name, _, rest = line.partition(":")
        if line.startswith("record "):
            name, rest = line.rsplit(" ", 1)
        while name in out:  # enums without a name
            name += " "
        out[name] = [rest.strip()]
    return out


def of_record(before: list[str], now: list[str]) -> tuple[bool, bool]:
    """Whether a record is broken, and whether it has more."""
    old, new = before[1:], now[1:]
    if old == new:
        return before[0] != now[0], False
    kept = [field for field in old if not field.startswith("reserved ")]
    broken = any(field not in new for field in kept)
    if kept == old and old and old[0].startswith("size 0 "):
        return broken or new[:len(old)] != old, True
    return broken or before[0] != now[0], True  # words that were reserved have names: the size stays


def compare(before: str, now: str) -> tuple[list[str], list[str]]:
    """Breaks and additions."""
    old, new, breaks, more = parts(before), parts(now), [], []
    values = {line for name, lines in new.items() if name.startswith("enum") for line in lines[1:]}
    for name, inside in old.items():
        if name.startswith("enum"):
            breaks += [f"{line.split()[0]} is not {line.split()[1]} any more" for line in inside[1:] if line not in values]
        elif name not in new:
            breaks.append(f"{name} is gone")
        elif name.startswith("record"):
            broken, grown = of_record(inside, new[name])
            breaks += [f"{name} has another layout"] * broken
            more += [f"{name} has more fields"] * (grown and not broken)
        elif inside != new[name]:
            breaks.append(f"{name}: {new[name][0]}; it was {inside[0]}")
    had = {line.split()[0] for name, lines in old.items() if name.startswith("enum") for line in lines[1:]}
    more += [f"{line.split()[0]}" for line in sorted(values) if line.split()[0] not in had]
    return breaks, more + [name for name in new if name not in old and not name.startswith("enum")]


def version() -> str:
    return ".".join(re.findall(r"define TOSAC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (TOP / "include/tosac/base.h").read_text()))


def number(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def main() -> int:
    now, text = version(), dump(TOP / "include" / "tosac")
    if not confirmed(text, TOP / "include" / "tosac"):
        return 1
    if sys.argv[1:] == ["--write"]:
        if subprocess.run(["git", "-C", str(TOP), "show-ref", "-q", "--verify", f"refs/tags/v{now}"]).returncode == 0:
            print(f"abi: {now} has a tag: its interface stays as it is; a new one has a new version")
            return 0
        (FOLDER / f"{now}.txt").write_text(text)
        return 0
    last = max((p.stem for p in FOLDER.glob("*.txt")), key=number)
    breaks, more = compare((FOLDER / f"{last}.txt").read_text(), text)
    for line in more:
        print(f"new since {last}: {line}")
    for line in breaks:
        print(f"broken since {last}: {line}")
    wrong = bool(breaks) and number(last)[:2] == number(now)[:2]
    if wrong:
        print(f"abi: {now} cannot break {last}; where that is not released yet, tools/abi.py --write writes it anew")
    print(f"abi: {len(breaks)} breaks, {len(more)} additions since {last}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
