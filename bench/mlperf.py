#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MLPerf Tiny's models on every Ethos-U: accuracy, cycles, SRAM and flash, beside Vela's own.

  mlperf.py FOLDER [--tosac FILE] [--data NAME=FILE.npz]... [--quick] OUT.md

FOLDER has kws, ic, vww, ad and sww as NAME_int8.tflite, some also as NAME_float.tflite with NAME_calib.npz (x); NAME_test.npz, or the
file of --data, has samples x and labels y: images and spectra of uint8 or float as the float model takes them.
Streams are executed, their cycles are the cost model's; no silicon was asked.  Vela is wanted in PATH for its columns.
"""
import argparse
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "peer"))
import npu_vela  # noqa: E402

MODELS = {  # name: what it is, the quality that MLPerf asks for
    "kws": ("keyword spotting, DS-CNN", "top-1 90 %"), "ic": ("image classification, ResNet-8", "top-1 85 %"),
    "vww": ("visual wake words, MobileNet V1 0.25", "top-1 80 %"), "ad": ("anomaly detection, autoencoder", "AUC 0.85"),
    "sww": ("streaming wake word, 1D DS-CNN", "of the stream, not a sample")}
CLOCK = {"u55": 500, "u65": 1000, "u85": 1000}  # MHz, of these systems
JUDGED = ("u55-128", "u85-256")  # whose streams are executed on the samples
MACHINES = ["u55-32", "u55-64", "u55-128", "u55-256", "u65-256", "u65-512", "u85-128", "u85-256", "u85-512", "u85-1024", "u85-2048"]


def run(*words, seconds=900):
    return subprocess.run(words, capture_output=True, text=True, timeout=seconds)


def first_error(done):
    try:
        return json.loads(done.stderr)["messages"][0]["text"]
    except (ValueError, KeyError, IndexError):
        return (done.stderr.strip().splitlines() or ["?"])[0]


def compiled(tosac, model, machine, out, *more):
    """Cycles, SRAM and flash in bytes, operators on the CPU; None: refused, and why."""
    system, mode = npu_vela.SYSTEM[machine[:3]]
    done = run(tosac, "compile", model, "-t", f"ethos-{machine}", "-o", out, "--system", f"{system},{mode}", "--json", *more)
    if done.returncode:
        return None, first_error(done)
    made = json.loads(done.stdout)
    part = [r["stream"] for r in made["regions"]]
    return {"cycles": sum(p["cycles"] for p in part), "low": sum(p["cycles_low"] for p in part), "high": sum(p["cycles_high"] for p in part), "sram": max((p["fast_scratch"] or p["scratch"] for p in part), default=0),
            "flash": sum(p["payload"] for p in part), "cpu": len(made["cpu"]), "regions": len(part)}, None


def by_vela(tosac, model, machine):
    """The same of Vela's own stream: its cycles by our model, and by its own (own)."""
    with tempfile.TemporaryDirectory() as work:
        done = run("vela", model, *npu_vela.options(f"ethos-{machine}"), "--output-dir", work)
        table = glob.glob(f"{work}/*summary*.csv")
        if done.returncode or not table:
            return None
        row = list(csv.DictReader(open(table[0])))[0]
        out = glob.glob(f"{work}/*_vela.tflite")
        system, mode = npu_vela.SYSTEM[machine[:3]]
        ours = json.loads(run(tosac, "profile", out[0], "--system", f"{system},{mode}", "--json").stdout)
        return {"cycles": ours["cycles"], "own": round(float(row["inference_time"]) * CLOCK[machine[:3]] * 1e6), "sram": float(row["sram_memory_used"]) * 1024,
                "flash": os.path.getsize(out[0]) if out else 0}


def accuracy(tosac, programs, data):
    """Top-1 of each program on the samples, by executing it: in words."""
    samples, out = np.load(data), []
    with tempfile.TemporaryDirectory() as work:
        np.save(f"{work}/y.npy", samples["y"])
        for words, program, codes in programs:
            x = samples["x"].astype(np.float32)
            if codes:
                scale, zero = codes
                x = np.clip(np.round(x / scale) + zero, -128, 127).astype(np.int8)
            np.save(f"{work}/x.npy", x)
            done = run(tosac, "evaluate", program, "--data", f"{work}/x.npy", "--labels", f"{work}/y.npy", "--json", seconds=3600)
            right = f"{100 * json.loads(done.stdout)['programs'][0]['top1']:.1f} %" if done.returncode == 0 else f"not measured ({first_error(done)})"
            out.append(f"{words} {right}")
    return "; ".join(out)


def codes_of(tosac, model):
    """Scale and zero point of the first input."""
    kind = json.loads(run(tosac, "inspect", model, "--json").stdout)["inputs"][0]["type"]
    scale, zero = re.search(r"q\(([^:]*):(-?\d+)\)", kind).groups()
    return float(scale), int(zero)


def row_of(machine, ours, vela):
    clock = CLOCK[machine[:3]]
    if not ours:
        return f"| Ethos-{machine.upper()} | refused | | | | | | | | |"
    beside = [f"{vela['cycles']:,}", f"{ours['cycles'] / vela['cycles']:.2f}", f"{vela['sram'] / 1024:.1f}", f"{vela['own']:,}"] if vela else [""] * 4
    return (f"| Ethos-{machine.upper()} | {ours['cycles']:,} | {100 * (ours['high'] / ours['cycles'] - 1):.0f} % | {ours['cycles'] / clock / 1e3:.3f} | {ours['sram'] / 1024:.1f} | {ours['flash'] / 1024:.1f} | "
            + " | ".join(beside) + " |")


def page(a):
    machines = JUDGED if a.quick else MACHINES
    given = dict(d.split("=", 1) for d in a.data)
    with_vela = shutil.which("vela") is not None
    yield "# MLPerf Tiny on Ethos-U\n"
    yield ("Made by `bench/mlperf.py FOLDER doc/figures/mlperf-tiny.md`: MLPerf Tiny's five trained int8 files and, where there is a float one, the same network quantized by\n"
           "tosac. Every stream was executed before it was written, and gave the bits of the file as TensorFlow Lite Micro computes it; cycles of both streams are those of the\n"
           "[timing model](../timing.md), with its band (+/-; a difference inside it is a tie) and Vela's own estimate of its stream last; milliseconds are at the clock of the system description (U55 500 MHz, U65 and U85 1 GHz). **No silicon was asked.** SRAM is working memory with inputs\n"
           "and outputs, flash is command stream and constants (Vela's file with its other tables was not compared). Memory modes: " +
           ", ".join(f"{k.upper()} {v[0]}, {v[1]}" for k, v in npu_vela.SYSTEM.items()) + ".\n")
    for name, (what, gate) in MODELS.items():
        model = f"{a.folder}/{name}_int8.tflite"
        if not os.path.exists(model):
            continue
        yield f"## {name.upper()}: {what}\n\nMLPerf's quality: {gate}.\n"
        yield "| machine | cycles | +/- | ms | SRAM KiB | flash KiB | Vela: cycles | ours / Vela | SRAM KiB | Vela's estimate |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        work, refused = tempfile.mkdtemp(), []
        for m in machines:
            ours, why = compiled(a.tosac, model, m, f"{work}/{m}.pte")
            yield row_of(m, ours, by_vela(a.tosac, model, m) if with_vela else None)
            refused += [f"{m}: {why}"] if why else []
        yield "".join(f"\n{r}\n" for r in refused)
        real, calib = f"{a.folder}/{name}_float.tflite", f"{a.folder}/{name}_calib.npz"
        codes = codes_of(a.tosac, model)
        programs = [("the int8 file", model, codes)]
        programs += [(f"its stream on Ethos-{m.upper()}", f"{work}/{m}.pte", codes) for m in JUDGED if os.path.exists(f"{work}/{m}.pte")]
        if os.path.exists(real):
            programs.insert(0, ("the float file", real, None))
            known = os.path.exists(calib) and "x" in np.load(calib)
            if known:
                np.save(f"{work}/calib.npy", np.load(calib)["x"].astype(np.float32))
            data = ["--calib", f"{work}/calib.npy"] if known else ["--calib", "random:1", "--no-execute"]
            for m in JUDGED:
                made, why = compiled(a.tosac, real, m, f"{work}/float-{m}.pte", *data)
                yield (f"From the float file, quantized by tosac{'' if known else ' on random data, so that only its price counts'}, Ethos-{m.upper()}: " +
                       (f"{made['cycles']:,} cycles, {made['sram'] / 1024:.1f} KiB of SRAM, {made['flash'] / 1024:.1f} KiB of flash." if made else f"refused: {why}") + "\n")
                if made and known:
                    programs.append((f"quantized by tosac, on Ethos-{m.upper()}", f"{work}/float-{m}.pte", None))
        samples = given.get(name, f"{a.folder}/{name}_test.npz")
        if os.path.exists(samples):
            yield f"Accuracy, {len(np.load(samples)['y']):,} samples, streams executed: {accuracy(a.tosac, programs, samples)}.\n"
        else:
            yield "Accuracy was not measured: the set is not at hand (`--data`).\n"
        shutil.rmtree(work)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("folder"), ap.add_argument("out")
    ap.add_argument("--tosac", default="build/tosac"), ap.add_argument("--data", action="append", default=[]), ap.add_argument("--quick", action="store_true")
    args = ap.parse_args()
    lines = list(page(args))
    open(args.out, "w").write("\n".join(lines).rstrip() + "\n")
