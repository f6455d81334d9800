#!/usr/bin/env python3
"""CONTRIBUTING's new operator, added in a copy of the tree.        new_operator.py [CASES [COPY]]

The page's two blocks are the whole change: the row goes into src/ir/op.def, the case into test/golden.  Then the copy is built, and
the operator is read from text, PyTorch and ONNX, compiled for every kind of target and compared with what it means.  CASES has the
recorded cases (build/cases): a file with sinh, which is spelled as long, becomes one with sinc.
"""
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
CASES = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "build/cases").resolve()
COPY = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else HERE / "build/operator").resolve()
SHAPE, NUMBERS = (4, 64), [i / 40 - 3.2 for i in range(256)]
passed = failed = 0


def meaning(x):
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def tell(good, words):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(words)


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=COPY)


def blocks():
    """The row, and the case with its file's name."""
    page = (HERE / "CONTRIBUTING.md").read_text()
    text = page[page.index("**A new operator**"):page.index("**An operator of PyTorch")]
    block = [re.sub(r"(?m)^ {4}", "", b).strip("\n") + "\n" for b in re.findall(r"(?m)(?:^(?: {4}.*)?\n)+", text) if b.strip()]
    name = re.search(r"`(test/golden/\S+\.ir)`", text)[1]
    row = next(b for b in block if b.startswith("FUNCTION("))
    return row, name, next(b for b in block if b.startswith("#"))


def copy():
    shutil.rmtree(COPY / "src", ignore_errors=True)
    skip = shutil.ignore_patterns("suites", "fixture", "vela-faults", "kept", "corpus")
    for part in ["src", "include", "test", "tools", "python", "fuzz", "bench", "cmake", "share", "packaging"]:
        if (HERE / part).is_dir():
            shutil.copytree(HERE / part, COPY / part, dirs_exist_ok=True, ignore=skip)
    shutil.copy(HERE / "CMakeLists.txt", COPY)


def add(row, name, case):
    table = COPY / "src/ir/op.def"
    text = table.read_text()
    end = text.index("\n", text.rindex("\nFUNCTION(") + 1) + 1
    table.write_text(text[:end] + row + text[end:])
    (COPY / name).write_text(case + "----\n")
    return 2, row.count("\n") + case.count("\n")


def build():
    more = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    more += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
    made = run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTOSAC_WERROR=ON", "-DCMAKE_BUILD_TYPE=Dev", "-DCMAKE_C_FLAGS_DEV=-O0", *more)
    made = made if made.returncode else run("ninja", "-C", "build", "tosac", "golden")
    tell(made.returncode == 0, made.stdout[-4000:] + made.stderr[-1000:])
    return made.returncode == 0


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


def models():
    """From every door: the file, and the shape of its input."""
    text = COPY / "sinc.ir"
    text.write_text("graph @main(%%0: f32[%d,%d]) {\n  %%1 = sinc %%0\n  return %%1\n}\n" % SHAPE)
    yield text, SHAPE
    case = CASES / "suites/aten/sinh/sinh__rand_alt_shape"
    with zipfile.ZipFile(case / "model.pt2") as old, zipfile.ZipFile(COPY / "sinc.pt2", "w") as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry).replace(b"sinh", b"sinc"))
    yield COPY / "sinc.pt2", shape_of(case / "input_0.npy")
    (COPY / "sinc.onnx").write_bytes((CASES / "suites/onnx/test_sinh/model.onnx").read_bytes().replace(b"Sinh", b"Sinc"))
    yield COPY / "sinc.onnx", (3, 4, 5)


def worst(program, data, numbers):
    """The largest error of what the program gives."""
    out = COPY / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = run("build/tosac", "run", program, "-i", data, "--dequantize", "-o", out)
    if done.returncode:
        print(done.stderr)
        return math.inf
    found = load(out / "output_0.npy")
    return max(abs(a - meaning(x)) for a, x in zip(found, numbers)) if len(found) == len(numbers) else math.inf


def try_model(model, shape):
    count = math.prod(shape)
    numbers = [struct.unpack("<f", struct.pack("<f", NUMBERS[(i * 37) % 256]))[0] for i in range(count)]
    data = COPY / (model.name + ".npy")
    save(data, shape, numbers)
    error = worst(model, data, numbers)
    tell(error < 1e-6, f"{model.name}, run: off by {error}")
    # integers: two steps of the result, 1.22 / 255 wide, and half a step of x, 6.4 / 255, where it is steepest
    for target, kind, limit in [("TOSA-1.0+FP", "tosa", 1e-6), ("TOSA-1.0+INT", "tosa", 0.028), ("TOSA-1.0+INT+int16", "tosa", 0.028),
                                ("vgf", "vgf", 0.028), ("vgf", "vgf float", 1e-6), ("ethos-u55-128", "tosa", 0.028), ("ethos-u85-256", "tosa", 0.028),
                                ("cpu", "pte", 0.028), ("cpu", "pte float", 1e-6)]:
        calib = [] if limit < 1e-3 else ["--calib", data]
        program = COPY / f"{model.name}.{target}.{kind.split()[0]}"
        made = run("build/tosac", "compile", model, "-t", target, "--emit", kind.split()[0], "-o", program, "--no-execute", *calib)
        error = worst(program, data, numbers) if made.returncode == 0 else math.inf
        tell(error < limit, f"{model.name}, {target}, {kind}: off by {error}\n{made.stderr}")


def main():
    row, name, case = blocks()
    copy()
    files, lines = add(row, name, case)
    if build():
        run("build/golden", "--bless", name)
        tell("\ngraph @region_0" in (COPY / name).read_text(), f"{name} shows no region:\n{(COPY / name).read_text()}")
        for model, shape in models():
            try_model(model, shape)
    print(f"an operator more: {files} files, {lines} lines")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
