#!/usr/bin/env python3
"""CONTRIBUTING's new operators, added in a copy of the tree.        new_operator.py [CASES [COPY]]

The page's blocks are the whole change: the rows, of one and of two tensors, go into src/ir/op.def, the case into test/golden.  Then the
copy is built, and the operator is read from text, PyTorch and ONNX, compiled for every kind of target and compared with what it means.  CASES has the
recorded cases (build/cases): a file with sinh, which is spelled as long, becomes one with sinc.
"""
import math
import pathlib
import re
import shutil
import struct
import sys
import zipfile

from copied_tree import HERE, Copy

CASES = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "build/cases").resolve()
SHAPE, NUMBERS = (4, 64), [i / 40 - 3.2 for i in range(256)]


def meaning(x):
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def of_two(numbers):
    """The second operator of a tensor and its rows backwards."""
    rows = [numbers[i : i + SHAPE[1]] for i in range(0, len(numbers), SHAPE[1])]
    return [(a - b) ** 2 for row in rows for a, b in zip(row, row[::-1])]


def blocks():
    """The row, and the case with its file's name."""
    page = (HERE / "CONTRIBUTING.md").read_text()
    text = page[page.index("**A new operator**"):page.index("**An operator of PyTorch")]
    block = [re.sub(r"(?m)^ {4}", "", b).strip("\n") + "\n" for b in re.findall(r"(?m)(?:^(?: {4}.*)?\n)+", text) if b.strip()]
    name = re.search(r"`(test/golden/\S+\.ir)`", text)[1]
    row = next(b for b in block if b.startswith("FUNCTION("))
    row += next(b for b in block if b.startswith("FUNCTION2("))
    return row, name, next(b for b in block if b.startswith("#"))


def add(copy, row, name, case):
    table = copy.where / "src/ir/op.def"
    text = table.read_text()
    end = text.index("\n", text.rindex("\nFUNCTION(") + 1) + 1
    table.write_text(text[:end] + row + text[end:])
    (copy.where / name).write_text(case + "----\n")
    return 2, row.count("\n") + case.count("\n")


def save(path, shape, numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(numbers), *numbers))


def load(path):
    data = path.read_bytes()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack("<%df" % ((len(data) - at) // 4), data[at:])


def shape_of(path):
    return tuple(int(n) for n in re.findall(r"\d+", re.search(rb"'shape': \(([^)]*)\)", path.read_bytes())[1].decode()))


def models(copy):
    """From every door: the file, and the shape of its input."""
    text = copy.where / "sinc.ir"
    text.write_text("graph @main(%%0: f32[%d,%d]) {\n  %%1 = sinc %%0\n  return %%1\n}\n" % SHAPE)
    yield text, SHAPE
    case = CASES / "suites/aten/sinh/sinh__rand_alt_shape"
    with zipfile.ZipFile(case / "model.pt2") as old, zipfile.ZipFile(copy.where / "sinc.pt2", "w") as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry).replace(b"sinh", b"sinc"))
    yield copy.where / "sinc.pt2", shape_of(case / "input_0.npy")
    (copy.where / "sinc.onnx").write_bytes((CASES / "suites/onnx/test_sinh/model.onnx").read_bytes().replace(b"Sinh", b"Sinc"))
    yield copy.where / "sinc.onnx", (3, 4, 5)


def worst(copy, program, data, wanted):
    """The largest error of what the program gives."""
    out = copy.where / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = copy.run("build/tosac", "run", program, "-i", data, "--dequantize", "-o", out)
    if done.returncode:
        print(done.stderr)
        return math.inf
    found = load(out / "output_0.npy")
    return max(abs(a - b) for a, b in zip(found, wanted)) if len(found) == len(wanted) else math.inf


def try_model(copy, model, shape, means, limit):
    """limit: of integers."""
    count = math.prod(shape)
    numbers = [struct.unpack("<f", struct.pack("<f", NUMBERS[(i * 37) % 256]))[0] for i in range(count)]
    data, wanted = copy.where / (model.name + ".npy"), means(numbers)
    save(data, shape, numbers)
    exact = 1e-6 * max(1, *wanted)
    error = worst(copy, model, data, wanted)
    copy.tell(error < exact, f"{model.name}, run: off by {error}")
    for target, kind in [("TOSA-1.0+FP", "tosa float"), ("TOSA-1.0+INT", "tosa"), ("TOSA-1.0+INT+int16", "tosa"), ("vgf", "vgf"),
                         ("vgf", "vgf float"), ("ethos-u55-128", "pte"), ("ethos-u85-256", "pte"), ("cpu", "pte"), ("cpu", "pte float")]:
        kind, *real = kind.split()
        program = copy.where / f"{model.name}.{target}.{kind}"
        made = copy.run("build/tosac", "compile", model, "-t", target, "--emit", kind, "-o", program, "--no-execute",
                        *([] if real else ["--calib", data]))
        error = worst(copy, program, data, wanted) if made.returncode == 0 else math.inf
        copy.tell(error < (exact if real else limit), f"{model.name}, {target}, {kind} {real}: off by {error}\n{made.stderr}")


def main():
    row, name, case = blocks()
    copy = Copy(sys.argv[2] if len(sys.argv) > 2 else HERE / "build/operator")
    files, lines = add(copy, row, name, case)
    if copy.build("tosac", "golden"):
        copy.run("build/golden", "--bless", name)
        copy.tell("\ngraph @region_0" in (copy.where / name).read_text(), f"{name} shows no region:\n{(copy.where / name).read_text()}")
        for model, shape in models(copy):
            # two steps of the result, 1.22 / 255 wide, and half a step of x, 6.4 / 255, where it is steepest
            try_model(copy, model, shape, lambda numbers: [meaning(x) for x in numbers], 0.028)
        two = copy.where / "two.ir"
        two.write_text("graph @main(%%0: f32[%d,%d]) {\n  %%1 = flip %%0 axes=[1]\n  %%2 = squared_difference %%0, %%1\n  return %%2\n}\n" % SHAPE)
        # two steps of the result, 41 / 255 wide, and half a step of each operand, 6.4 / 255, where it is steepest: 2 * 6.4
        try_model(copy, two, SHAPE, of_two, 0.65)
    print(f"an operator more: {files} files, {lines} lines")
    return copy.done()


sys.exit(main())
