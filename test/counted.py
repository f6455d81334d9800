#!/usr/bin/env python3
"""Streams with marks, logs of a cycle counter, boards fitted to them.

    counted.py TOSAC [WORK]

The logs are made here: cycles of the timing model with the memories of another board, and noise of 3 % on every operation.  What is read back by
operation and line is compared with what was put in; a board is fitted to three networks and judged on a fourth.  Ends with
"N passed, N failed, N skipped".
"""
import json
import os
import random
import struct
import subprocess
import time

from tried import expect, run_main, tried

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINES = ("ethos-u55-128", "ethos-u65-256", "ethos-u85-256")
FIXTURE = f"{HERE}/fixture"
PMU = f"{HERE}/../examples/pmu"
MODELS = {"digits": [f"{FIXTURE}/digits/model.pt2", "--calib", f"{FIXTURE}/digits/calib.npz"],
          "speech": [f"{FIXTURE}/emulate/speech.ir", "--calib", "random:4"],
          "lstm": [f"{FIXTURE}/lstm/stream.pt2", "--calib", f"{FIXTURE}/lstm/samples.npy"],
          "decoder": [f"{FIXTURE}/decoder/forward.pt2", "--calib", f"{FIXTURE}/decoder/calib.npy"]}
DATA = {"digits": f"{FIXTURE}/digits/test.npz", "speech": "random:5", "lstm": f"{FIXTURE}/lstm/samples.npy", "decoder": f"{FIXTURE}/decoder/windows.npy"}
NOISE = 0.03
# The boards that logs are of: slower and farther memories than those of the description that is begun with.
BOARDS = {"ethos-u55-128": """[Board.truth]
npu = ethos-u55-128
npu_clock = 250 MHz
memory_mode = Shared_Sram
sram = 1 MiB
flash = 8 MiB QSPI
system_config = truth

[System_Config.truth]
core_clock = 250e6
axi0_port = Sram
axi1_port = OffChipFlash
Sram_clock_scale = 0.5
Sram_burst_length = 32
Sram_read_latency = 24
Sram_write_latency = 24
OffChipFlash_clock_scale = 0.07
OffChipFlash_burst_length = 128
OffChipFlash_read_latency = 150
OffChipFlash_write_latency = 150
""", "ethos-u85-256": """[Board.truth]
npu = ethos-u85-256
npu_clock = 1 GHz
memory_mode = Dedicated_Sram
sram = 2 MiB
dram = 64 MiB
system_config = truth

[System_Config.truth]
core_clock = 1e9
axi0_port = Sram
axi1_port = Dram
Sram_clock_scale = 1.0
Sram_burst_length = 32
Sram_read_latency = 60
Sram_write_latency = 60
Sram_ports_used = 2
Dram_clock_scale = 0.15
Dram_burst_length = 128
Dram_read_latency = 900
Dram_write_latency = 400
Dram_max_reads = 64
Dram_max_writes = 32
"""}
# What is known before: the vendor's own description.
KNOWN = {"ethos-u55-128": "[Board.known]\nnpu = ethos-u55-128\nnpu_clock = 250 MHz\nmemory_mode = Shared_Sram\nsram = 1 MiB\nflash = 8 MiB QSPI\n"
                          "system_config = Ethos_U55_High_End_Embedded\n",
         "ethos-u85-256": "[Board.known]\nnpu = ethos-u85-256\nnpu_clock = 1 GHz\nmemory_mode = Dedicated_Sram\nsram = 2 MiB\ndram = 64 MiB\n"
                          "system_config = Ethos_U85_SYS_DRAM_Mid\n"}
CALL = 1800  # cycles of a call beside its job


def tosac(command, *arguments, folder="."):
    done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"tosac {' '.join(arguments)}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def streams(path):
    """The words of each stream behind a driver's header COP1, as bytes."""
    data, at = open(path, "rb").read(), 0
    while (at := data.find(b"COP1", at)) >= 0:
        at += 4
        while (word := struct.unpack_from("<I", data, at)[0]) & 0xff != 2:
            at += 4 * (3 if word & 0xff == 1 else 1)
        n = word >> 16 | (word >> 8 & 0xff) << 16
        yield data[at + 4: at + 4 + 4 * n]


def hash_of(words):
    value = 2166136261
    for byte in words:
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value


def marks(words):
    """Words and masks of the interrupts."""
    found, at, all_words = [], 0, struct.unpack(f"<{len(words) // 4}I", words)
    while at < len(all_words):
        if all_words[at] & 0xffff == 1:
            found.append((at, all_words[at] >> 16))
        at += 2 if all_words[at] >> 14 & 3 else 1
    return found


def write_log(path, program, profile, jobs, call=True, poll=False, blind=False, last_first=False):
    """A log of `jobs` jobs whose operations take what the profile expects, and noise; what was put in by part.  poll: by QREAD; blind: the
    second of three marks is missed; last_first: the file has the last stream first, as FlatBuffers are written from their end."""
    random_ = random.Random(len(program))
    text, put = [f"something else\ntosac-pmu 1\nprogram {os.path.basename(program)}\n"], []
    held_streams = list(streams(program))
    for number, words in enumerate(held_streams):
        number = len(held_streams) - 1 - number if last_first else number
        places = marks(words)
        if poll:
            places = poll_places(words)
        operations = [o for o in profile["operations"] if o["stream"] == number]
        edges = [p for p, _ in places] + [1 << 30]
        part = [sum(o["cycles"] for o in operations if (edges[i - 1] if i else -1) < o["word"] <= edges[i]) for i in range(len(edges))]
        sums = [0.0] * len(part)
        for _ in range(jobs):
            noisy, now, held = [c * random_.uniform(1 - NOISE, 1 + NOISE) for c in part], 0.0, 0
            text.append(f"stream {len(words)} {hash_of(words)}\n")
            for i, cycles in enumerate(noisy):
                now += cycles
                sums[i] += cycles / jobs
                if i == len(part) - 1:
                    text.append(f"end {len(words)} {now:.0f}\n")
                    break
                held |= places[i][1]
                if not blind or i % 3 != 1:
                    text.append(f"mark {held} {4 * places[i][0] + 4} {now:.0f}\n")
                    held = 0
            if call:
                text.append(f"call {now + CALL:.0f}\n")
        put.append(sums)
    open(path, "w", encoding="ascii").write("".join(text))
    return put


def poll_places(words):
    """Words of the waits for everything."""
    found, at, all_words = [], 0, struct.unpack(f"<{len(words) // 4}I", words)
    while at < len(all_words):
        if all_words[at] in (0x11, 0x12):
            found.append((at, 0))
        at += 2 if all_words[at] >> 14 & 3 else 1
    return found


def compiled(command, work, name, machine, how):
    path = f"{work}/{name}-{machine}-{how}.pte"
    if not os.path.exists(path):
        more = ["--marks", how] if how != "plain" else []
        tosac(command, "compile", *MODELS[name], "-t", machine, *more, "--locations", "-o", path, "--quiet")
    return path


def profile_of(command, path, *options):
    return json.loads(tosac(command, "profile", path, *options, "--json"))


# ---- cases ----

def equal(command, work, name, machine):
    """A stream with marks gives the bytes of the one without."""
    results = []
    for how in ("plain", "irq", "wait"):
        folder = f"{work}/out-{name}-{machine}-{how}"
        tosac(command, "run", compiled(command, work, name, machine, how), "-i", DATA[name], "-o", folder, "--quiet")
        results.append(open(f"{folder}/output_0.npy", "rb").read())
    expect(results[0] == results[1] == results[2], "marks change the result")
    n = [len(marks(w)) for w in streams(compiled(command, work, name, machine, "irq"))]
    expect(sum(n) >= 2 and not any(marks(w) for w in streams(compiled(command, work, name, machine, "wait"))), "marks", n)
    return f"{sum(n)} marks"


def read_back(command, work, name, machine):
    """A log comes back by part and by line: what was put in, of every part and in the sum of a line."""
    path = compiled(command, work, name, machine, "irq")
    plain = profile_of(command, path)
    put = write_log(f"{work}/read.log", path, plain, 5)
    back = profile_of(command, path, "--pmu", f"{work}/read.log")["counted"]
    flat = [c for stream in put for c in stream]
    got = [p["cycles"] for p in back["parts"]]
    expect(len(flat) == len(got) and all(abs(a - b) <= 1.5 for a, b in zip(flat, got)), "parts", flat[:5], got[:5])
    expect(abs(back["call_cycles"] - CALL) <= 1.5, "call", back["call_cycles"])
    for rows in ("lines", "modules", "nodes", "kinds"):
        expect(abs(sum(r["cycles"] for r in back[rows]) - sum(flat)) < 2 * len(flat), rows)
    lines = {r["line"]: r["cycles"] for r in plain["lines"]}
    worst = max(abs(r["cycles"] / r["expected_cycles"] - 1) for r in back["lines"])
    expect(worst <= NOISE and all(abs(lines[r["name"]] - r["expected_cycles"]) < 1 for r in back["lines"] if r["name"] in lines), "lines", worst)
    return f"{len(got)} parts, {len(back['lines'])} lines, worst {100 * worst:.1f} % off"


def moved(command, work, machine):
    """A .tflite of two regions, the second of which works further on in the arena: the parts are those of the file's own streams."""
    path, log = f"{work}/moved-{machine}.tflite", f"{work}/moved.log"
    tosac(command, "compile", *MODELS["digits"], "-t", machine, "--cpu", "conv2d_2", "--marks", "irq", "-o", path, "--quiet")
    plain = profile_of(command, path)
    put = write_log(log, path, plain, 3, last_first=True)
    got = [p["cycles"] for p in profile_of(command, path, "--pmu", log)["counted"]["parts"]]
    flat = [c for stream in put[::-1] for c in stream]
    expect(len(put) == 2 and len(flat) == len(got) and all(abs(a - b) <= 1.5 for a, b in zip(flat, got)), len(put), [(a, b) for a, b in zip(flat, got) if abs(a - b) > 1.5], len(flat), len(got))
    return f"{len(got)} parts of {len(put)} streams"


def overlay(command, work, name, machine):
    """Model Explorer's data has the graph's own nodes: names of outputs, of the graph that compile writes."""
    path, log, data, graph = compiled(command, work, name, machine, "irq"), f"{work}/over.log", f"{work}/over.json", f"{work}/graph.json"
    write_log(log, path, profile_of(command, path), 1)
    profile_of(command, path, "--pmu", log, "--overlay", data)
    tosac(command, "compile", *MODELS[name], "-t", machine, "--emit", "model-explorer", "-o", graph, "--quiet")
    with open(data, encoding="utf-8") as a, open(graph, encoding="utf-8") as b:
        (where, values), whole = next(iter(json.load(a).items())), json.load(b)["graphs"][0]
    names = {x["value"] for n in whole["nodes"] for o in n["outputsMetadata"] for x in o["attrs"] if x["key"] == "tensor_name"}
    expect(where == whole["id"] and len(values["results"]) > 5 and set(values["results"]) <= names, where, set(values["results"]) - names)
    expect(all(v["value"] > 0 for v in values["results"].values()) and [g["stop"] for g in values["gradient"]] == [0, 1], "values")
    return f"{len(values['results'])} nodes of {len(names)}"


def other_readings(command, work, name, machine):
    """Marks that were missed join their neighbours; QREAD is as good as interrupts."""
    path = compiled(command, work, name, machine, "irq")
    put = write_log(f"{work}/blind.log", path, profile_of(command, path), 3, blind=True)
    back = profile_of(command, path, "--pmu", f"{work}/blind.log")["counted"]
    whole = sum(c for s in put for c in s)
    expect(abs(back["cycles"] - whole) < 5 and len(back["parts"]) < sum(map(len, put)), "missed marks")
    path = compiled(command, work, name, machine, "wait")
    put = write_log(f"{work}/poll.log", path, profile_of(command, path), 3, poll=True)
    polled = profile_of(command, path, "--pmu", f"{work}/poll.log")["counted"]
    expect(all(abs(a - b["cycles"]) <= 1.5 for a, b in zip([c for s in put for c in s], polled["parts"])), "polled")
    return f"{len(back['parts'])} parts of {sum(map(len, put))}"


def watched(command, work, machine):
    """examples/pmu/pmu_linux.c beside a job: registers that move as a job goes on."""
    path = compiled(command, work, "digits", machine, "wait")
    words, = streams(path)
    tool, registers, steps = f"{work}/pmu", f"{work}/registers", f"{work}/steps"
    subprocess.run(["cc", "-O1", "-Wall", "-o", tool, f"{PMU}/pmu_linux.c", f"{PMU}/pmu.c", f"{HERE}/device/watched.c", "-Wl,--wrap=pmu_qread",
                    "-Wl,--wrap=pmu_running"], check=True)
    with open(registers, "wb") as f:
        f.truncate(0x2000)
    cycles = [1000 + i for i in range(len(poll_places(words)) + 1)]
    with open(steps, "w", encoding="ascii") as f:
        f.write(f"{len(words)}\n")
        for i, (place, _) in enumerate([*poll_places(words), (len(words) // 4 - 1, 0)]):
            f.write(f"{4 * place + 4} {sum(cycles[:i + 1])}\n" * (1 + i % 2))
    log = f"{work}/watched.log"
    environment = {**os.environ, "WATCHED": steps, **({"WATCHED_U85": "1"} if "u85" in machine else {})}
    with open(log, "w", encoding="ascii") as f:
        subprocess.run([tool, "0", "1", os.path.basename(path), registers], stdout=f, env=environment, check=True, timeout=60)
    got = [p["cycles"] for p in profile_of(command, path, "--pmu", log)["counted"]["parts"]]
    expect(got == cycles, got, cycles)
    return f"{len(got)} parts"


def another_program(command, work, machine):
    """A log of another program is refused."""
    log = f"{work}/other.log"
    path = compiled(command, work, "digits", machine, "irq")
    write_log(log, path, profile_of(command, path), 1)
    done = subprocess.run([command, "profile", compiled(command, work, "speech", machine, "irq"), "--pmu", log], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 1 and "was not made with this program" in done.stderr, done.stderr)
    return "told"


def calibrate(command, work, machine):
    """A board fitted to three networks; judged on the fourth, which the fit has not seen."""
    truth, known = f"{work}/truth-{machine}.board", f"{work}/known-{machine}.board"
    open(truth, "w", encoding="ascii").write(BOARDS[machine])
    open(known, "w", encoding="ascii").write(KNOWN[machine])
    logs = {}
    for name in MODELS:
        path = compiled(command, work, name, machine, "irq")
        logs[name] = f"{work}/{name}-{machine}.log"
        write_log(logs[name], path, profile_of(command, path, "--board", truth), 3)
    seen = [logs[n] for n in MODELS if n != "digits"]
    fitted, begun = f"{work}/fitted_{machine.replace('-', '_')}.board", time.time()
    report = json.loads(tosac(command, "calibrate-board", *seen, "--board", known, "-o", fitted, "--json"))
    seconds = time.time() - begun
    unseen = compiled(command, work, "digits", machine, "irq")
    before, after = (profile_of(command, unseen, "--board", b, "--pmu", logs["digits"])["counted"] for b in (known, fitted))
    off = [abs(c["cycles"] / c["expected_cycles"] - 1) for c in (before, after)]
    apart = [c["apart"] / c["cycles"] for c in (before, after)]
    expect(report["after"]["parts"] < 0.05 < report["before"]["parts"], "fit", report["before"], report["after"])
    expect(off[1] < 0.05 and apart[1] < 0.08 and off[0] > 2 * off[1], "unseen", off, apart)
    expect(abs(report["call_cycles"] - CALL) < 2, "call", report["call_cycles"])
    return (f"fitted: parts {100 * report['before']['parts']:.1f} -> {100 * report['after']['parts']:.1f} %, total {100 * report['before']['total']:+.1f} -> "
            f"{100 * report['after']['total']:+.1f} %; unseen: parts {100 * apart[0]:.1f} -> {100 * apart[1]:.1f} %, "
            f"total {100 * off[0]:.1f} -> {100 * off[1]:.1f} %; {seconds:.1f} s")


def main(command, work):
    cases = [(equal, n, m) for m in MACHINES for n in MODELS] + [(read_back, n, m) for m in MACHINES for n in ("digits", "speech", "lstm")]
    cases += [(moved, m) for m in MACHINES] + [(overlay, "digits", m) for m in MACHINES] + [(other_readings, "digits", m) for m in MACHINES]
    cases += [(watched, m) for m in MACHINES[1:]] + [(another_program, "ethos-u55-128")] + [(calibrate, m) for m in BOARDS]
    return tried(command, work, cases)


if __name__ == "__main__":
    run_main(main)
