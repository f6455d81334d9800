# SPDX-License-Identifier: Apache-2.0
"""reference.py -- doc/reference-python.md, from the package's sources.      reference.py OUT.md

Reads signatures and documentation strings without importing anything, so that the page can be made wherever the sources
are.
"""
from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def definitions() -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for path in sorted((HERE / "tosac").glob("_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.setdefault(node.name, node)
    return found


def offered() -> list[str]:
    for node in ast.parse((HERE / "tosac" / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return [n for n in ast.literal_eval(node.value) if not n.startswith("__")]
    raise SystemExit("reference.py: no __all__")


def signature(f: ast.FunctionDef, name: str, method: bool = False) -> str:
    args = f.args
    if method and args.args:
        args = ast.parse(f"def f({ast.unparse(args)}): ...").body[0].args
        args.args = args.args[1:]
    returns = f" -> {ast.unparse(f.returns)}" if f.returns else ""
    inside = ast.unparse(args)
    if len(name) + len(inside) + len(returns) < 100:
        return f"{name}({inside}){returns}"
    parts, depth, at = [], 0, 0
    for i, c in enumerate(inside):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append(inside[at:i].strip())
            at = i + 1
    lines, line = [], "   "
    for part in parts + [inside[at:].strip()]:
        if len(line) + len(part) > 98:
            lines.append(line)
            line = "   "
        line += f" {part},"
    return "\n".join([f"{name}(", *lines, line.rstrip(","), f"){returns}"])


def words_of(node: ast.AST) -> str:
    return ast.get_docstring(node) or ""


def shown(words: str) -> list[str]:
    """A list of arguments in a documentation string stays one."""
    out = []
    for line in words.splitlines():
        head = line.split(":")[0]
        out.append(f"- `{head}`:{line[len(head) + 1:]}" if ":" in line and head.replace(", ", "").isidentifier() and not head[0].isupper() else line)
    return out


def decorated(node: ast.AST, by: str) -> bool:
    return any(ast.unparse(d).startswith(by) for d in getattr(node, "decorator_list", []))


def class_page(node: ast.ClassDef, lines: list[str]) -> list[str]:
    bases = ", ".join(ast.unparse(b) for b in node.bases)
    out = ["", f"### class `{node.name}`" + (f" ({bases})" if bases else ""), "", *shown(words_of(node))]
    fields = [n for n in node.body if isinstance(n, ast.AnnAssign)]
    if fields:
        out.append("")
    for f in fields:
        comment = lines[f.end_lineno - 1].partition("#:")[2].strip()
        out.append(f"- `{ast.unparse(f.target)}: {ast.unparse(f.annotation)}`" + (f": {comment}" if comment else ""))
    for f in (n for n in node.body if isinstance(n, ast.FunctionDef) and (not n.name.startswith("_") or n.name == "__call__")):
        words = words_of(f)
        if decorated(f, "property"):
            out += ["", f"**`.{f.name}`** -> `{ast.unparse(f.returns)}`" + (f": {words}" if words else "")]
        else:
            name = node.name.lower() if f.name == "__call__" else f".{f.name}"
            out += ["", "```py", signature(f, name, True), "```", *shown(words)]
    return out


def page() -> str:
    found, names = definitions(), offered()
    source = {n.name: p.read_text().splitlines() for p in sorted((HERE / "tosac").glob("_*.py")) for n in ast.parse(p.read_text()).body
              if isinstance(n, ast.ClassDef)}
    out = ["# The Python package, name by name", "",
           "Made by `make docs` from `python/tosac`; [python.md](python.md) shows it at work.", "", "## Functions"]
    for name in names:
        if isinstance(found[name], ast.FunctionDef):
            out += ["", f"### `tosac.{name}`", "", "```py", signature(found[name], f"tosac.{name}"), "```", "", *shown(words_of(found[name]))]
    out += ["", "## Classes"]
    for name in names:
        if isinstance(found[name], ast.ClassDef):
            out += class_page(found[name], source[name])
    text = (HERE / "tosac" / "distributed.py").read_text()
    tree = ast.parse(text)
    out += ["", "## `tosac.distributed`", "", "```py", *[line[4:] for line in words_of(tree).splitlines() if line.startswith("    ")], "```", "",
            *[line for line in words_of(tree).splitlines()[1:] if not line.startswith("    ")]]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            name = f"tosac.distributed.{node.name}"
            out += ["", f"### `{name}`", "", "```py", signature(node, name), "```", "", *shown(words_of(node))]
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            out += class_page(node, text.splitlines())
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
