# SPDX-License-Identifier: Apache-2.0
"""SPIR-V from text, as `tosac inspect` prints it: "%sum = OpFAdd %float %a %b".  Ids are %names, numbers are numbers, reals have a
point and become the bits of a float, texts stand in quotes.  The instructions are those of src/wire/spirv.def and glsl.def."""
import os
import re
import shlex
import struct

WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "wire")
ROWS = {name: (int(number), operands) for number, name, operands in
        re.findall(r"^SPV\(\s*(\d+), (\w+),\s*\"([^\"]*)\"", open(os.path.join(WIRE, "spirv.def")).read(), re.M)}
GLSL = {name: int(number) for number, name in re.findall(r"^GLSL\(\s*(\d+), (\w+)", open(os.path.join(WIRE, "glsl.def")).read(), re.M)}


def number(word):
    if word in GLSL:
        return GLSL[word]
    if re.fullmatch(r"-?\d+\.\d*(e-?\d+)?", word):
        return struct.unpack("<I", struct.pack("<f", float(word)))[0]
    return int(word, 0) & 0xffffffff


def text_words(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def assemble(source):
    """The module's bytes."""
    ids, words = {}, []

    def of(name):
        return ids.setdefault(name, len(ids) + 1)

    for line in source.split("\n"):
        line = line.split(";")[0].strip()
        if not line:
            continue
        result = re.match(r"(%\w+)\s*=\s*(.*)", line)
        if result:
            line = result.group(2)
        parts = shlex.split(line, posix=False)
        op, kinds = ROWS[parts[0][2:]]
        rest, body = parts[1:], []
        k = 0
        while k < len(kinds):
            kind = kinds[k]
            if kind == "r":
                body.append(of(result.group(1)))
            elif not rest:
                break
            elif kind == "s":
                body += text_words(rest.pop(0)[1:-1])
            else:
                word = rest.pop(0)
                body.append(of(word) if word.startswith("%") else number(word))
            if k + 1 < len(kinds) and kinds[k + 1] == "*":
                if not rest:
                    break
            else:
                k += 1
        assert not rest, line
        words += [(len(body) + 1) << 16 | op] + body
    return struct.pack(f"<{len(words) + 5}I", 0x07230203, 0x00010500, 0, len(ids) + 1, 0, *words)
