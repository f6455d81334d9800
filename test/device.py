#!/usr/bin/env python3
"""Linux's driver for Ethos-U: programs on a false machine behind the real ioctls (test/device/accel.c), beside the executor.

    device.py BUILD [WORK]

Networks on U65 and U85, `run --device` and `evaluate --device` beside the same without; libtosac-device alone in a program of C; what goes
wrong in the driver, and in which words it is told.  With TOSAC_SHARED's zoo its models, too.  Ends with "N passed, N failed, N skipped".
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
MACHINES = ("ethos-u65-256", "ethos-u65-512", "ethos-u85-256")
FIXTURES = {  # model, calibration, data
    "digits": ("digits/model.pt2", "digits/calib.npz", "digits/test.npz"),
    "lstm": ("lstm/stream.pt2", "lstm/samples.npy", "lstm/samples.npy"),
    "spotter": ("spotter/stream.pt2", "spotter/frames.npy", "spotter/frames.npy"),
    "transposed": ("../codegen/transposed-long.ir", "random:1", "random:7"),  # U85: the driver counts 13 KB of the 2 that it takes
    "speech": ("emulate/speech.ir", "random:4", "random:7"),
}
# TOSAC_ACCEL, the machine of the file, words of the message, exit status
FAULTS = (
    ("other", "ethos-u65-256", "'panthor' is no driver of an Ethos-U", 4),
    ("ethos-u65-512", "ethos-u65-256", "256 multiplications a cycle, /dev/accel/accel0 has an Ethos-U65 with 512", 1),
    ("ethos-u85-256", "ethos-u65-256", "for an Ethos-U65 with 256", 1),
    ("ethos-u65-256 full", "ethos-u65-256", "no buffer of", 1),
    ("ethos-u65-256 reset", "ethos-u65-256", "gave up on the job", 1),
    ("ethos-u65-256 hang", "ethos-u65-256", "not done after", 1),
)
passed = failed = skipped = 0


def check(name, good, why=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"{name}: {why}")


def command(build, *args, accel=None, log=None):
    env = dict(os.environ)
    if accel is not None:
        env.update(LD_PRELOAD=f"{build}/accel.so", TOSAC_ACCEL=accel, TOSAC_ACCEL_LOG=log or "/dev/null")
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, env=env, timeout=600, check=False)


def compiled(build, work, name, model, calib, machine, kind="pte"):
    out = f"{work}/{name}-{machine}.{kind}"
    if not os.path.exists(out):
        done = command(build, f"{build}/tosac", "compile", model, "-t", machine, "--calib", calib, "--no-execute",
                       *(["--emit", "stream"] if kind == "bin" else []), "-o", out)
        if done.returncode:
            raise RuntimeError(f"{name} {machine}: {done.stderr}")
    return out


def results(folder):
    return {name: numpy.load(f"{folder}/{name}") for name in sorted(os.listdir(folder))}


def same(build, work, name, model, calib, data, machine):
    program = compiled(build, work, name, model, calib, machine)
    folders = [f"{work}/{name}-{machine}-{where}" for where in ("here", "there")]
    log = f"{work}/{name}-{machine}.log"
    for folder, accel, more in ((folders[0], None, ()), (folders[1], machine, ("--device", "first"))):
        done = command(build, f"{build}/tosac", "run", program, "-i", data, "-o", folder, *more, accel=accel, log=log)
        if done.returncode:
            return check(f"{name} {machine}", False, done.stderr)
    here, there = (results(f) for f in folders)
    check(f"{name} {machine}", here and all(numpy.array_equal(here[k], there[k]) for k in here), "other results")
    warned = open(log).read() if os.path.exists(log) else ""
    check(f"{name} {machine}, the driver's log", not warned or "RESIZE" in warned, warned)
    return None


def faults(build, work):
    for accel, machine, words, status in FAULTS:
        program = compiled(build, work, "digits", *(f"{HERE}/fixture/{f}" for f in FIXTURES["digits"][:2]), machine)
        done = command(build, f"{build}/tosac", "run", program, "-i", "random:1", "--device", "/dev/accel/accel0", accel=accel)
        check(f"fault '{accel}'", done.returncode == status and words in done.stderr, f"{done.returncode}: {done.stderr}")
    done = command(build, f"{build}/tosac", "run", f"{HERE}/fixture/digits/model.pt2", "-i", "random:1", "--device", "first", accel="ethos-u65-256")
    check("a model without a region", done.returncode == 0 and "no Ethos-U region" in done.stderr, done.stderr)
    done = command(build, f"{build}/tosac", "run", program, "-i", "random:1", "--device", "/dev/null")
    check("another file", done.returncode == 4 and "/dev/null" in done.stderr, done.stderr)


def evaluated(build, work):
    program = compiled(build, work, "digits", *(f"{HERE}/fixture/{f}" for f in FIXTURES["digits"][:2]), "ethos-u85-256")
    args = [f"{build}/tosac", "evaluate", program, "--data", f"{HERE}/fixture/digits/test.npz", "--labels", f"{HERE}/fixture/digits/test_label.npy",
            "--json"]
    here = command(build, *args)
    there = command(build, *args, "--device", "first", accel="ethos-u85-256")
    plain = [re.sub(r'"seconds[^,}]*', "", t.stdout) for t in (here, there)]
    check("evaluate", here.returncode == there.returncode == 0 and plain[0] == plain[1], here.stderr + there.stderr + there.stdout)


def alone(build, work):
    """examples/device.c with nothing but libtosac-device."""
    stream = compiled(build, work, "digits", *(f"{HERE}/fixture/{f}" for f in FIXTURES["digits"][:2]), "ethos-u65-256", "bin")
    made = command(build, "cc", "-std=c11", "-Wall", "-Werror", f"-I{TOP}/include", f"{TOP}/examples/device.c", f"{build}/libtosac-device.a", "-o",
                   f"{work}/device")
    check("libtosac-device links alone", made.returncode == 0, made.stderr)
    sizes = re.search(r"-> output.*", command(build, f"{build}/tosac", "inspect", stream).stdout)
    rng = numpy.random.default_rng(1)
    data = rng.integers(-128, 128, (1, 28, 28, 1), dtype=numpy.int8)
    data.tofile(f"{work}/input")
    numpy.save(f"{work}/input.npy", data)
    here = command(build, f"{build}/tosac", "run", stream, "-i", f"{work}/input.npy", "-o", f"{work}/alone")
    env = dict(os.environ, LD_PRELOAD=f"{build}/accel.so", TOSAC_ACCEL="ethos-u65-256")
    there = subprocess.run([f"{work}/device", stream, f"{work}/input"], capture_output=True, env=env, check=False)
    want = results(f"{work}/alone") if here.returncode == 0 else {}
    check("libtosac-device", want and there.stdout == b"".join(v.tobytes() for v in want.values()),
          f"{here.stderr} {there.stderr!r} {len(there.stdout)} {sizes}")


def zoo(build, work):
    global skipped
    folder = os.environ.get("TOSAC_SHARED", f"{TOP}/../shared")
    for name in ("mobilenetv2_100", "mobilenetv3_small_100"):
        at = f"{folder}/zoo/{name}"
        if not os.path.exists(f"{at}/model.pt2"):
            skipped += 1
            continue
        for machine in ("ethos-u65-256", "ethos-u85-256"):
            same(build, work, name, f"{at}/model.pt2", f"{at}/calib.npz", "random:3", machine)


def main():
    build = os.path.abspath(sys.argv[1])
    work = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="tosac-device-")
    os.makedirs(work, exist_ok=True)
    for name, files in FIXTURES.items():
        model, calib, data = (f"{HERE}/fixture/{f}" if "/" in f else f for f in files)
        for machine in MACHINES:
            same(build, work, name, model, calib, data, machine)
    faults(build, work)
    evaluated(build, work)
    alone(build, work)
    if "--zoo" in sys.argv:
        zoo(build, work)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
