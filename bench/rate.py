#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What coarser weights save and cost: a row for each model and settings, from calibration data, judged on all test data.

rate.py [--settings int8,int8-0.3dB] [--target ethos-u55-128] [--on TARGET[:SYSTEM],..] TOSAC FOLDER...

A folder has model.pt2 (or .tflite, .onnx), calib.npz, test.npz and test_label.npy, or as digits do calib.npy, test_x.npy, test_y.npy. Each is quantized for the target and
compiled for it and for the others: bytes and cycles of the region, dB and agreement of the typed program."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--settings", default="int8,int8-0.3dB")
parser.add_argument("--target", default="ethos-u55-128")
parser.add_argument("--on", default="ethos-u85-256,ethos-u85-256:Ethos_U85_SYS_Flash_High/Shared_Sram,ethos-u85-256:Dedicated_Sram_384KB")
parser.add_argument("tosac")
parser.add_argument("folders", nargs="+")
asked = parser.parse_args()


def call(*words):
    done = subprocess.run([asked.tosac, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()[-400:]}")
    return done.stdout


def data(folder):
    names = ("calib.npz", "test.npz", "test_label.npy") if os.path.exists(f"{folder}/test.npz") else ("calib.npy", "test_x.npy", "test_y.npy")
    return [f"{folder}/{name}" for name in names]


def cost(typed, machine, work):
    target, _, system = machine.partition(":")
    more = ["--system", system.replace("/", ",")] if system else []
    compiled = json.loads(call("compile", typed, "-t", target, "--no-execute", "--json", "-o", f"{work}/p.pte", *more))
    return [sum(region["stream"][key] for region in compiled["regions"]) for key in ("weights", "cycles")]


for folder in asked.folders:
    model = next(path for end in ("pt2", "tflite", "onnx") if os.path.exists(path := f"{folder}/model.{end}"))
    calib, test, labels = data(folder)
    for settings in asked.settings.split(","):
        with tempfile.TemporaryDirectory() as work:
            typed = f"{work}/t.ir"
            call("quantize", model, "-t", asked.target, "--calib", calib, "-q", settings, "-o", typed, "--quiet")
            figures = [cost(typed, machine, work) for machine in [asked.target, *asked.on.split(",")] if machine]
            said = call("evaluate", model, typed, "--data", test, "--labels", labels)
        row = next(line for line in said.splitlines() if line.startswith(typed + " "))
        agrees, db = re.findall(r"([0-9.]+) %  +(-?[0-9.]+) dB$", row)[0]
        print("|", os.path.basename(os.path.normpath(folder)), "|", settings, "|", db, "|", agrees, "|", " | ".join(f"{b} | {c:.0f}" for b, c in figures), "|", flush=True)
