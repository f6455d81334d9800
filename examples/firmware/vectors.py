#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test vectors for main.c: random codes for the input, and the codes that `tosac run` gives for the numbers they stand for.

    vectors.py TOSAC FOLDER [COUNT]     FOLDER has network.h and network.ir (--emit c and --emit ir of the same model);
                                        vectors.h and vectors.c go there

For a model of one input and one output without state.  Python's standard library is all it needs.
"""
import random
import re
import struct
import subprocess
import sys
from math import prod
from pathlib import Path

LETTER = {"i8": "b", "u8": "B", "i16": "h", "i32": "i"}
DESCR = {"f": "<f4", "b": "|i1", "B": "|u1", "h": "<i2", "i": "<i4"}


def port(head, side):
    """Letter of struct's, shape, scale and zero point of the one input or output."""
    found = re.search(rf"_{side}S 1\n/\* (\w+)\[([\d,]+)\]", head)
    if not found or found[1] not in LETTER:
        sys.exit(f"vectors.py: network.h has no single {side.lower()} of codes: use `config` io int8, or write vectors of your own")
    scale, zero = (re.search(rf"_{side}_0_{word} (\S+)", head) for word in ("SCALE", "ZERO_POINT"))
    return LETTER[found[1]], [int(d) for d in found[2].split(",")], float(scale[1]) if scale else 1.0, int(float(zero[1])) if zero else 0


def takes_codes(program):
    """Whether the program's own input is of codes, as that of a quantized .tflite is."""
    found = re.search(r'graph @main\(%0 (?:"[^"]*")?: ?(\w+)\[', program.replace('%0:', '%0 :'))
    return bool(found) and found[1] in LETTER


def write_npy(path, shape, letter, values):
    head = f"{{'descr': '{DESCR[letter]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{letter}", *values))


def read_npy(path):
    """Letter and values."""
    data = path.read_bytes()
    size = 10 + struct.unpack("<H", data[8:10])[0]
    letter = next(k for k, v in DESCR.items() if f"'{v}'".encode() in data[:size])
    return letter, struct.unpack(f"<{(len(data) - size) // struct.calcsize(letter)}{letter}", data[size:])


def rows(name, letter, codes, count):
    each = len(codes) // count
    size = each * struct.calcsize(letter)
    text = [f"const uint8_t {name}[VECTORS][{size}] = {{"]
    for i in range(count):
        raw = struct.pack(f"<{each}{letter}", *codes[i * each: (i + 1) * each])
        text += ["    {"] + ["     " + "".join(f"{b}," for b in raw[k: k + 24]) for k in range(0, size, 24)] + ["    },"]
    return size, "\n".join(text) + "\n};\n"


def main(tosac, folder, count):
    head = (folder / "network.h").read_text()
    letter, shape, scale, zero = port(head, "INPUT")
    bits, numbers = 8 * struct.calcsize(letter), random.Random(1)
    lowest = 0 if letter == "B" else -(1 << bits - 1)
    codes = [numbers.randrange(lowest, lowest + (1 << bits)) for _ in range(count * prod(shape))]
    is_code = takes_codes((folder / "network.ir").read_text(errors="replace"))
    write_npy(folder / "vectors.npy", [count * shape[0], *shape[1:]], letter if is_code else "f",
              codes if is_code else [scale * (c - zero) for c in codes])
    subprocess.run([tosac, "run", folder / "network.ir", "-i", folder / "vectors.npy", "-o", folder / "out", "--quiet"], check=True)
    size_in, first = rows("vector_input", letter, codes, count)
    letter, _, scale, zero = port(head, "OUTPUT")
    kind, results = read_npy(folder / "out" / "output_0.npy")
    if kind == "f":
        results = [round(r / scale) + zero for r in results]
    size_out, second = rows("vector_output", letter, results, count)
    (folder / "vectors.h").write_text(
        f"#include <stdint.h>\n#define VECTORS {count}\n#define VECTOR_INPUT_BYTES {size_in}\n#define VECTOR_OUTPUT_BYTES {size_out}\n"
        "extern const uint8_t vector_input[VECTORS][VECTOR_INPUT_BYTES], vector_output[VECTORS][VECTOR_OUTPUT_BYTES];\n")
    (folder / "vectors.c").write_text('#include "vectors.h"\n' + first + second)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 8)
