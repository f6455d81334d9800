# SPDX-License-Identifier: Apache-2.0
"""headers.py -- the public C headers, read once for the bindings and once for the reference page.

    headers.py bindings INCLUDE OUT.py     ctypes records, callbacks and functions
    headers.py reference INCLUDE OUT.md    doc/reference-c.md

The headers keep to a plain form: typedefs of enums, records and functions, and functions marked TC_API.  What is of
another form is an error here, not a hole in the bindings.
"""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ORDER = ["base", "context", "about", "model", "data", "quantize", "compile", "advise", "run", "inspect", "profile", "report", "evaluate"]

SCALAR = {
    "void": "None", "bool": "c_bool", "char": "c_char", "int": "c_int", "size_t": "c_size_t", "double": "c_double", "float": "c_float",
    "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}


@dataclass
class Item:
    """One declaration: what it is, its own text, and the comment above it."""

    kind: str  # enum, record, opaque, callback, function
    name: str
    header: str
    comment: str
    text: str
    section: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)  # records and enums: (name, type or value)
    returns: str = ""
    params: list[tuple[str, str]] = field(default_factory=list)  # (name, type)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)).strip()


def comment_text(text: str) -> str:
    """The words of a comment, its frame taken off."""
    lines = text[2:-2].split("\n")
    lines = [lines[0].strip()] + [re.sub(r"^ ?\* ?", "", line.strip("\n").lstrip()).rstrip() for line in lines[1:]]
    return "\n".join(lines).strip()


def split_top(text: str, by: str = ",") -> list[str]:
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == by and not depth:
            parts.append(text[at:i])
            at = i + 1
    return [p.strip() for p in parts + [text[at:]] if p.strip()]


def declarator(base: str, text: str) -> tuple[str, str]:
    """`const char` and `*name[4]` are ("name", "const char *[4]")."""
    m = re.fullmatch(r"((?:\*|\s|const\b)*)(\w+)((?:\[\w+\])?)", text.strip())
    if not m:
        raise SystemExit(f"headers.py: what is '{base} {text}'?")
    return m[2], plain(f"{base} {m[1]}{m[3]}")


def parameter(text: str) -> tuple[str, str]:
    m = re.fullmatch(r"((?:const )?\w+)\s*(.*)", text)
    return declarator(m[1], m[2])


def members(body: str) -> list[tuple[str, str]]:
    out = []
    for declaration in split_top(plain(body), ";"):
        pointer = re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", declaration)
        if pointer:
            out.append((pointer[2], f"function {pointer[1].strip()}({pointer[3]})"))
            continue
        base, rest = re.fullmatch(r"((?:const )?\w+)\s*(.*)", declaration).groups()
        out += [declarator(base, d) for d in split_top(rest)]
    return out


def enumerators(body: str) -> list[tuple[str, str]]:
    out, last = [], -1
    for one in split_top(plain(body)):
        name, _, value = (p.strip() for p in one.partition("="))
        last = eval(value, {}, {}) if value else last + 1  # "1 << 3", "8"
        out.append((name, str(last)))
    return out


def function(text: str) -> tuple[str, str, list[tuple[str, str]]]:
    m = re.fullmatch(r"(.+?)(\w+)\((.*)\)", text)
    params = [] if m[3] == "void" else [parameter(p) for p in split_top(m[3])]
    return m[1].strip(), m[2], params


def make(header: str, comment: str, text: str, section: str) -> Item | None:
    t = plain(text)
    if m := re.fullmatch(r"(?:typedef )?enum (\w+)? ?\{.*\} ?(\w+)?;", t):
        body = text[text.index("{") + 1:text.rindex("}")]
        return Item("enum", m[2] or "", header, comment, text, section, enumerators(body))
    if m := re.fullmatch(r"typedef struct (\w+) \{.*\} (\w+);", t):
        body = text[text.index("{") + 1:text.rindex("}")]
        return Item("record", m[2], header, comment, text, section, members(body))
    if m := re.fullmatch(r"typedef struct (\w+) (\w+);", t):
        return Item("opaque", m[2], header, comment, text, section)
    if m := re.fullmatch(r"typedef (.+\));", t):
        returns, name, params = function(m[1])
        return Item("callback", name, header, comment, text, section, returns=returns, params=params)
    if m := re.fullmatch(r"TC_API (?:TC_EXPERIMENTAL )?(?:TC_MUST_USE )?(.+\));", t):
        returns, name, params = function(m[1])
        return Item("function", name, header, comment, text, section, returns=returns, params=params)
    raise SystemExit(f"headers.py: {header}.h has something of another form:\n{text}")


def read(include: Path) -> tuple[dict[str, str], list[Item]]:
    """What each header says of itself, and every declaration in order."""
    about, items = {}, []
    names = ORDER + sorted(p.stem for p in include.glob("*.h") if p.stem not in ORDER + ["tosac"])
    for header in names:
        text = (include / f"{header}.h").read_text()
        inside = text.split('extern "C" {\n#endif\n', 1)[1].rsplit("#ifdef __cplusplus", 1)[0]
        inside = re.sub(r"(?m)^#(?:.*\\\n)*.*\n", "", inside)
        inside = re.sub(r"(?m)^TC_SIZED_RECORD\(\w+\)\n", "", inside)
        about[header] = comment_text(re.findall(r"/\*.*?\*/", text, flags=re.S)[1]).partition(" -- ")[2]
        at, section, comment = 0, "", ""
        while m := re.compile(r"\s*(/\*.*?\*/|[^\s/][^;{]*(?:\{[^}]*\}[^;]*)?;)", re.S).match(inside, at):
            at = m.end()
            if m[1].startswith("/*"):
                words = comment_text(m[1])
                title = re.fullmatch(r"-+ (.*) -+", words)
                section, comment = (title[1], "") if title else (section, words)
            elif not re.match(r"/\*", m[1]):
                # what directly follows a declaration without a blank line shares its comment
                items.append(make(header, comment, m[1], section))
                if inside[at:at + 2].startswith("\n\n"):
                    comment = ""
        if inside[at:].strip():
            raise SystemExit(f"headers.py: {header}.h: left over: {inside[at:].strip()[:200]}")
    return about, items


# ---- bindings ----

def ctype(text: str, known: dict[str, str]) -> str:
    """A C type as ctypes has it; known: our own names and what kind they are."""
    if m := re.fullmatch(r"function (.+?)\((.*)\)", text):
        return callback(m[1], [parameter(p) for p in split_top(m[2])], known)
    if m := re.fullmatch(r"(.+?) ?\[(\w+)\]", text):
        return f"{ctype(m[1], known)} * {m[2]}"
    words = text.replace("const", " ").replace("struct", " ")
    base, stars = words.replace("*", " ").split()[0], words.count("*")
    kind = known.get(base)
    if stars == 0:
        return "c_int" if kind == "enum" else SCALAR.get(base, base)
    if base == "char":
        inner, stars = "c_char_p", stars - 1
    elif base == "void" or kind == "opaque":
        inner, stars = "c_void_p", stars - 1
    elif kind == "callback":
        inner, stars = base, stars - 1
    else:
        inner = "c_int" if kind == "enum" else SCALAR.get(base, base)
    for _ in range(stars):
        inner = f"POINTER({inner})"
    return inner


def callback(returns: str, params: list[tuple[str, str]], known: dict[str, str]) -> str:
    types = [ctype(returns, known)] + [ctype(t, known) for _, t in params]
    return f"CFUNCTYPE({', '.join(types)})"


def bindings(include: Path) -> str:
    _, items = read(include)
    known = {i.name: i.kind for i in items if i.name}
    out = ['# SPDX-License-Identifier: Apache-2.0', '"""Made by headers.py from include/tosac/*.h: records, callbacks and functions."""',
           "# fmt: off", "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8, c_int16, c_int32, c_int64,",
           "                    c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)", ""]
    functions = []
    for i in items:
        if i.kind == "enum":
            out += [f"{n} = {v}" for n, v in i.fields]
        elif i.kind == "record":
            out.append(f"class {i.name}(Structure):")
            out.append("    _fields_ = [" + ", ".join(f'("{n}", {ctype(t, known)})' for n, t in i.fields) + "]")
        elif i.kind == "callback":
            out.append(f"{i.name} = {callback(i.returns, i.params, known)}")
        elif i.kind == "function":
            types = [("c_char_p" if "[" in t else ctype(t, known)) for _, t in i.params]
            functions.append(f'    "{i.name}": ({ctype(i.returns, known)}, [{", ".join(types)}]),')
    return "\n".join(out + ["FUNCTIONS = {"] + functions + ["}", ""])


# ---- the reference page ----

def reference(include: Path) -> str:
    about, items = read(include)
    out = ["# The C library, declaration by declaration", "",
           "Made by `make docs` from `include/tosac/*.h`; [api.md](api.md) has the picture, and what holds everywhere.", ""]
    for header, words in about.items():
        out += [f"- [`tosac/{header}.h`](#{header}h): {words.splitlines()[0].rstrip('.')}"]
    for header, words in about.items():
        out += ["", f"## {header}.h", "", words[:1].upper() + words[1:]]
        section, comment = "", None
        for i in (i for i in items if i.header == header):
            if i.section != section:
                section = i.section
                out += ["", f"### {section[:1].upper()}{section[1:]}"]
            if i.comment and i.comment != comment:
                out += ["", *("    " + line if line.startswith(("  ", "\t")) else line for line in i.comment.splitlines())]
            comment = i.comment
            out += ["", "```c", i.text, "```"]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    what, include, path = sys.argv[1:]
    Path(path).write_text({"bindings": bindings, "reference": reference}[what](Path(include)))
