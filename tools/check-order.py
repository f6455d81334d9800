#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order in which a program makes things is its own, not the compiler's.        check-order.py [SRC]

C leaves open in which order the arguments of a call, the operands of an operator and the entries of an initializer are
evaluated.  Where two of them put a node into a graph, write to a file or read on in one, the result would depend on
the compiler.  Such places are found here: what makes things is any function that reaches one of MAKERS, by name, through
any number of calls.
"""

import pathlib
import re
import sys

# What is made, and the call by which a function has one of its own: what it does to that concerns nobody else.
MAKERS = (
    (r"t[ci]_b_(?!(d?type|attr|tensor|axis|bad|unsupported|known|settled|in|in_type|out_type|is_read|constant)$)\w+|t[ci]_graph_(add|const|scalar|input|output|emit|mutate|new)|t[ci]_module_new|t[ci]_infer_\w+|t[ci]_rewrite_(bind|copy|as)", ""),
    (r"t[ci]_fb_(put|set)_\w+|t[ci]_fb_(begin|end|finish)", "t[ci]_fb_write"),
    (r"t[ci]_spv_(id|put\w*|unique)", "t[ci]_spv_write"),
    (r"t[ci]_spv_next", "t[ci]_spv_read"),
    (r"t[ci]_lex_(accept|expect|word|number|int|string)", "t[ci]_lex_init"),
    (r"t[ci]_buf_(room|put|text|printf|zeros|align|u8|u16|u32|u64)", "t[ci]_buf_init|render"),
)

TOKEN = re.compile(
    r"(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<mark><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)",
    re.S | re.M,
)
WORDS = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "case", "defined", "_Alignof", "_Generic"}
# What has an order: the operands of these are evaluated from left to right, or only one of them is.
ORDERED = {"&&", "||", "?", ":", ";"}
OPERATORS = {"+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "<<", ">>",
             "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


class Token:
    __slots__ = ("text", "line", "close", "name")

    def __init__(self, text, line, name):
        self.text, self.line, self.name, self.close = text, line, name, None


DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\([^)]*\)((?:\\\n|[^\n])*)", re.M)


def tokens(source, line=1):
    out, open_at = [], []
    for found in TOKEN.finditer(source):
        text = found.group()
        if found.lastgroup != "skip":
            out.append(Token(text, line, found.lastgroup == "name"))
            if text in "([{":
                open_at.append(len(out) - 1)
            elif text in ")]}" and open_at:
                out[open_at.pop()].close = len(out) - 1
        line += text.count("\n")
    return out


class File:
    """A file's functions, each as the range of its body; the names that a body calls."""

    def __init__(self, path):
        source = path.read_text()
        self.path = path
        self.tokens = tokens(source)
        self.functions = {}  # name: (first, last) of the body
        self.calls = {}
        self.local = set()
        t, i, begun = self.tokens, 0, 0
        while i < len(t):
            if t[i].text == "{":
                if i and t[i - 1].text == ")":
                    self.function(begun, i)
                i = t[i].close or i
                begun = i + 1
            elif t[i].text in "([":
                if t[i].text == "(" and i and t[i - 1].text.isupper() and t[i].close:
                    self.functions[f"{t[i - 1].text} {i}"] = (i, t[i].close)
                i = t[i].close or i
            elif t[i].text == ";":
                begun = i + 1
            i += 1
        # A macro's body is looked at like a function's; so is what a macro outside of functions is given.
        for found in DEFINE.finditer(source):
            first = len(t)
            body = tokens("{" + found.group(2).replace("\\\n", " \n") + ";}", source.count("\n", 0, found.start(2)) + 1)
            for token in body:
                if token.close is not None:
                    token.close += first
            t += body
            self.functions[found.group(1)] = (first, len(t) - 1)
            if path.suffix == ".c":
                self.local.add(found.group(1))
        for name, body in self.functions.items():
            self.calls[name] = self.called(*body)

    def function(self, begun, brace):
        t, i = self.tokens, begun
        while i < brace:
            if t[i].text == "(" and t[i].close:
                if t[i].close == brace - 1 and t[i - 1].name:
                    name = t[i - 1].text if not t[i - 1].text.isupper() else f"{t[i - 1].text} {i}"
                    self.functions[name] = (brace, t[brace].close or brace)
                    if any(t[j].text == "static" for j in range(begun, i)):
                        self.local.add(t[i - 1].text)
                i = t[i].close
            i += 1

    def called(self, first, last):
        t = self.tokens
        return {t[i].text for i in range(first, last) if t[i].name and t[i].text not in WORDS and
                t[i + 1].text == "("}


def closure(files):
    """Which functions make things: (file, name) of the local ones, (None, name) of the others."""
    calls = {}
    for file in files:
        for name, names in file.calls.items():
            key = (file.path if name in file.local else None, name)
            calls.setdefault(key, set()).update(
                (file.path if other in file.local else None, other) for other in names)
    found = set()
    for maker, own in MAKERS:
        makers = {key for names in calls.values() for key in names if re.fullmatch(maker, key[1])}
        while True:
            more = {key for key, names in calls.items()
                    if key not in makers and names & makers and not any(re.fullmatch(own, name) for _, name in names)}
            if not more:
                break
            makers |= more
        found |= makers
    return found


def look(file, makers, told):
    """Every list of operands in the bodies of the file's functions."""
    t = file.tokens

    def makes(first, last):
        return any(t[i].name and t[i + 1].text == "(" and
                   ((file.path, t[i].text) in makers if t[i].text in file.local else (None, t[i].text) in makers)
                   for i in range(first, last))

    def tell(found):
        if len(found) > 1:
            told.append((file.path, t[found[0]].line, len(found)))

    def operands(first, last):
        """One expression: its parts are separated by operators, some of which have an order."""
        found, begun, i = [], first, first
        while i <= last:
            text = t[i].text if i < last else ";"
            if text in ORDERED or text in OPERATORS:
                if makes(begun, i):
                    found.append(begun)
                begun = i + 1
                if text in ORDERED:
                    tell(found)
                    found = []
            elif text in "([{" and t[i].close:
                inside(i)
                i = t[i].close
            i += 1

    def inside(bracket):
        """A list of arguments or of initial values; the head of a `for` has an order."""
        parts = split(bracket + 1, t[bracket].close)
        if t[bracket - 1].text != "for":
            tell([first for first, last in parts if makes(first, last)])
        for first, last in parts:
            operands(first, last)

    def split(first, last):
        """The ranges between commas."""
        parts, begun, i = [], first, first
        while i < last:
            if t[i].text == ",":
                parts.append((begun, i))
                begun = i + 1
            elif t[i].text in "([{" and t[i].close:
                i = t[i].close
            i += 1
        return parts + [(begun, last)]

    def block(first, last):
        """Statements: each ends at its ';' or at a block."""
        i = begun = first
        while i < last:
            text = t[i].text
            if text == "{" and t[i].close and (i == begun or t[i - 1].text in (")", "else", "do")) and not (
                    t[i - 1].text == ")" and compound(i)):
                operands(begun, i)
                block(i + 1, t[i].close)
                i = t[i].close
                begun = i + 1
            elif text in ";":
                statement(begun, i)
                begun = i + 1
            elif text in "([{" and t[i].close:
                i = t[i].close
            i += 1
        statement(begun, last)

    def compound(brace):
        """(type){..} is a value, `if (..) {` a statement: what stands before the parenthesis says which."""
        depth, i = 0, brace - 1
        while i >= 0:
            if t[i].text == ")":
                depth += 1
            elif t[i].text == "(":
                depth -= 1
                if depth == 0:
                    break
            i -= 1
        return not (t[i - 1].text in WORDS or (t[i - 1].name and t[i - 1].text.isupper()))

    def statement(first, last):
        """A declaration's declarators have an order; nothing else that a comma separates out here."""
        for part in split(first, last):
            operands(*part)

    for first, last in file.functions.values():
        block(first + 1, last)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    files = [File(path) for path in sorted(root.rglob("*.[ch]"))]
    makers = closure(files)
    told = []
    for file in files:
        look(file, makers, told)
    for path, line, count in sorted(set(told)):
        print(f"{path}:{line}: error: {count} operands make something, in an order that is the compiler's [order]",
              file=sys.stderr)
    looked = sum(len(file.functions) for file in files)
    wrong = len({(path, line) for path, line, _ in told})
    print(f"order of evaluation: {looked - wrong} passed, {wrong} failed")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
