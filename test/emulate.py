#!/usr/bin/env python3
"""Firmware with an Ethos-U in QEMU: examples/firmware with a driver of our own (test/emulate), on tools/emulate's device.

    emulate.py TOSAC [WORK]

Networks on three machines, their outputs compared with `tosac run` inside the firmware; counters, QREAD and an overflow interrupt while a job
runs; planted faults and the status that each gives.  Ends with "N passed, N failed, N skipped".
"""
import json
import os
import re
import shutil
import subprocess
import sys

from tried import expect, run_main, tried

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
FIRMWARE = f"{TOP}/examples/firmware"
MACHINES = ("ethos-u55-128", "ethos-u65-256", "ethos-u85-256")
DIGITS = ["digits/model.pt2", "--calib", "digits/calib.npz"]
SPEECH = ["emulate/speech.ir", "--calib", "random:4"]
STEPS = ["emulate/steps.ir", "--calib", "random:4", "--optimise", "Size"]
# name: model and options, jobs an inference
MODELS = {"digits": (DIGITS, 1), "speech": (SPEECH, 1), "two regions": ([*DIGITS, "--cpu", "conv2d_9"], 2), "steps": (STEPS, 12)}
# -DFAULT=N: what it is, the status register's bits, words on stderr
BUS, PARSE = 4, 16
FAULTS = {
    1: ("a word that is no command", PARSE, "no such command"),
    2: ("a region without memory", BUS, "region 1: no memory"),
    3: ("a stream in the core's own memory", BUS, "the stream: no memory"),
    4: ("a non-secure NPU on secure memory", BUS, "that is non-secure"),
    5: ("a stream without STOP", PARSE, "without STOP"),
}
FLAGS = "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard -O2 -Wall -Wextra".split()


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def driver(work, fault):
    folder = f"{work}/driver{fault}"
    if not os.path.isdir(folder):
        os.makedirs(f"{folder}/include")
        shutil.copy(f"{HERE}/emulate/ethosu_driver.h", f"{folder}/include")
        run(["arm-none-eabi-gcc", *FLAGS, f"-DFAULT={fault}", f"-I{TOP}/examples/cortex-m", "-c", f"{HERE}/emulate/driver.c", "-o", "driver.o"], folder)
        run(["arm-none-eabi-ar", "rcs", "libethosu_core_driver.a", "driver.o"], folder)
    return folder


def model(tosac, work, name, machine, *marks):
    folder = f"{work}/{name.replace(' ', '-')}-{machine}{''.join(marks)}"
    if not os.path.isdir(folder):
        os.makedirs(folder)
        source = [f"{HERE}/fixture/{a}" if "/" in a else a for a in MODELS[name][0]]
        for kind in ("c", "ir"):
            run([tosac, "compile", *source, "-t", f"{machine}+cortex-m55", *marks, "--emit", kind, "-o", f"{folder}/network.{kind}"], work)
        if marks:
            run([tosac, "compile", *source, "-t", machine, *marks, "--locations", "-o", f"{folder}/network.pte"], work)
        run([sys.executable, f"{FIRMWARE}/vectors.py", tosac, folder, "4"], work)
    return folder


def firmware(work, folder, fault, *more):
    build = f"{folder}/build{fault}"
    run(["cmake", "-G", "Ninja", "-S", FIRMWARE, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={TOP}/examples/cortex-m/arm-none-eabi.cmake",
         f"-DMODEL_FOLDER={folder}", f"-DETHOSU_DRIVER={driver(work, fault)}", *more], work)
    run(["cmake", "--build", build], work)
    return f"{build}/firmware.elf"


def emulate(elf, machine, *more):
    done = subprocess.run([f"{TOP}/tools/emulate/run.sh", elf, "-t", machine, "--report", *more], capture_output=True, text=True, timeout=120, check=False)
    text = done.stdout + done.stderr  # semihosting prints on either
    numbers = {}
    for name, value in re.findall(r"^([a-z ]+) (\d+)$", text, re.M):
        numbers.setdefault(name, []).append(int(value))
    return done.returncode, numbers, text


def right(tosac, work, name, machine):
    code, n, text = emulate(firmware(work, model(tosac, work, name, machine), 0), machine)
    jobs = 4 * MODELS[name][1]
    expect(code == 0 and n["the same bytes"] == [4], "other bytes", text[-3000:])
    told = [int(c) for c in re.findall(r"job \d+: \d+ operations, (\d+) cycles", text)]
    expect(len(told) == jobs and all(abs(a - b) <= 1 for a, b in zip(n["cycles"], told)), "PMCCNTR is not what is expected", text[-3000:])
    expect(n["event"] == n["cycles"], "an event counter of cycles differs from PMCCNTR", text[-3000:])
    expect(n["overflows"] == [int(c > 1000) for c in n["cycles"]], "overflow interrupts", text[-3000:])
    expect(min(n["in the middle"]) > 0, "QREAD does not move", text[-3000:])
    return f"{n['the same bytes'][0]} of 4 the same, {jobs} jobs, cycles {n['cycles'][0]}, ticks {n['ticks of the last'][0]}"


HANDLER = 120  # cycles until the core has read the counter, at the most


def counted(tosac, work, name, machine):
    """The counter read at every mark, by examples/pmu; its log beside what was expected, operation by operation."""
    folder = model(tosac, work, name, machine, "--marks", "irq")
    code, n, text = emulate(firmware(work, folder, 0, "-DPMU=network.pte"), machine)
    expect(code == 0 and n["the same bytes"] == [4], "other bytes", text[-3000:])
    with open(f"{folder}/network.log", "w", encoding="ascii", errors="replace") as log:
        log.write(text)
    found = json.loads(run([tosac, "profile", f"{folder}/network.pte", "--pmu", f"{folder}/network.log", "--json"], folder))["counted"]
    off = max(abs(p["cycles"] - p["expected_cycles"]) for p in found["parts"])
    expect(found["jobs"] == 4 and len(found["parts"]) > 3 and off <= HANDLER, f"off by {off} cycles in {found['parts']}", text[-3000:])
    expect(abs(found["cycles"] - found["expected_cycles"]) <= HANDLER and 0 < found["call_cycles"] < 60000, str(found["call_cycles"]), text[-3000:])
    return f"{len(found['parts'])} parts in {len(found['lines'])} lines, at most {off:.0f} cycles off, a call {found['call_cycles']:.0f}"


BOARD = """[Board.known]
npu = ethos-u55-128
memory_mode = Shared_Sram
sram = 4 MiB
flash = 64 MiB
system_config = Ethos_U55_High_End_Embedded
"""


def fitted(tosac, work):
    """A board whose memories are others than is known: fitted to the counter of one network, judged on another."""
    logs, machine = {}, "ethos-u55-128"
    with open(f"{work}/known.board", "w", encoding="ascii") as f:
        f.write(BOARD)
    for name in ("digits", "speech"):
        folder = model(tosac, work, name, machine, "--marks", "irq")
        code, _, text = emulate(firmware(work, folder, 0, "-DPMU=network.pte"), machine, "--qemu", "-global", "--qemu",
                                "arm-ethos-u.system=Ethos_U55_Deep_Embedded")
        expect(code == 0, "it does not run", text[-3000:])
        logs[name] = f"{folder}/other.log"
        with open(logs[name], "w", encoding="ascii", errors="replace") as log:
            log.write(text)
    run([tosac, "calibrate-board", logs["digits"], "--board", f"{work}/known.board", "-o", f"{work}/fitted.board"], work)
    apart = []
    for board in ("known", "fitted"):
        found = json.loads(run([tosac, "profile", logs["speech"].replace("other.log", "network.pte"), "--board", f"{work}/{board}.board", "--pmu",
                                logs["speech"], "--json"], work))["counted"]
        apart.append(found["cycles"] / found["expected_cycles"] - 1)
    expect(abs(apart[1]) < 0.05 and abs(apart[1]) < abs(apart[0]) / 2, f"off by {apart}")
    return f"speech off by {100 * apart[0]:+.1f} % before, {100 * apart[1]:+.1f} % after"


def wrong(tosac, work, fault, machine):
    words, status, said = FAULTS[fault]
    code, n, text = emulate(firmware(work, model(tosac, work, "digits", machine), fault), machine)
    expect(code == 3 and n["status"][0] & (BUS | PARSE) == status and said in text, f"{words}: exit {code}", text[-3000:])
    return f"{words}: status {n['status'][0]:#x}"


# -DFAULT=N of the test's driver: what is told of the core's cache
CACHE = {0: None, 6: "region 1: .* lines from 0x.* are written by the core and not cleaned", 7: "reads a line that it holds from before the NPU wrote it"}


def cache(tosac, work, name, fault, machine):
    """Cache lines that were not cleaned, or not invalidated: the same bytes here, and told."""
    code, n, text = emulate(firmware(work, model(tosac, work, name, machine), fault), machine, "--cache")
    told = re.findall(r"ethos-u: cache: (.*)", text)
    expect(code == 0 and n["the same bytes"] == [4], "other bytes", text[-3000:])
    expect(any(re.search(CACHE[fault], t) for t in told) if CACHE[fault] else not told, f"told: {told[:3]}", text[-3000:])
    return told[0] if told else "nothing to tell"


def other_machine(tosac, work, machine):
    other = MACHINES[(MACHINES.index(machine) + 1) % 3]
    code, _, text = emulate(firmware(work, model(tosac, work, "digits", machine), 0), other)
    expect(code == 3, f"for {machine} on {other}: exit {code}", text[-3000:])
    return "refused by the driver"


def missing():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm", "cmake", "ninja"):
        if not shutil.which(tool):
            return f"there is no {tool}: tools/setup.sh emulate"
    os.environ.setdefault("TOSAC_EMULATE", f"{TOP}/build/emulate")
    made = subprocess.run([f"{TOP}/tools/emulate/make.sh", os.environ["TOSAC_EMULATE"]], capture_output=True, text=True, check=False)
    return None if made.returncode == 0 else f"QEMU's headers cannot be had: tools/setup.sh emulate; {made.stderr[-200:]}"


def main(tosac, work):
    os.environ["TOSAC_LIBRARY"] = f"{os.path.dirname(tosac)}/libtosac.so"
    cases = [(right, name, m) for m in MACHINES for name in MODELS] + [(counted, "digits", m) for m in MACHINES] + [(wrong, f, m) for m in MACHINES for f in FAULTS]
    cases += [(cache, name, f, "ethos-u55-128") for name in ("digits", "two regions", "steps") for f in CACHE]
    why = missing()
    return tried(tosac, work, cases + [(fitted,)] + [(other_machine, m) for m in MACHINES], lambda case: why)


if __name__ == "__main__":
    run_main(main)
