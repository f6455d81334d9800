#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy and cost of trained models, float and quantized, as a page.     accuracy.py TOSAC ZOO PAGE [NAME...]

Every folder of ZOO with a model.pt2, calibration and test data and labels is compiled for ethos-u85-256 with each setting; the program's
integers are run on the test data (the TOSA form that is kept beside the stream) and held to the float model.  Cycles, SRAM and
flash are those of the stream.  What the anchor made of the model stands beside it where its record is there.
"""
import json, os, subprocess, sys, tempfile

TARGET = "ethos-u85-256"
SETTINGS = (("int8", "int8"), ("mixed", "int8+16:10%"), ("w4", "a8w4"))
MODELS = ("small/digits_mbv2", "small/digits_vit", "small/digits_swinext", "mobilenetv2_100", "mobilenetv3_small_100", "convnext_atto", "swin48", "mobilevit_s")
HEAD = """# Accuracy

Made by `make accuracy` from trained models that are not part of the tree. Test and calibration data lie beside each model; per row:

    tosac compile model.pt2 -t {target} --calib CALIB -q SETTING --emit pte+tosa -o model.pte
    tosac evaluate model.pt2 model.pte --data TEST --labels LABELS --tosa

SQNR is of the scores against the float model's, over all test samples; top-1 has its 95 % interval. Cycles, SRAM and flash (compressed weights and
tables) are our own estimate of the stream. `int8+16:10%` spends its tenth by our own cost model, which can be off where 16-bit attention is copied about. The anchor is ExecuTorch's Arm quantizer on the same calibration data, int8 per channel, judged before lowering (1.4.1; cycles and SRAM are Vela 5.1.0's).

| model | samples | setting | SQNR dB | top-1 | interval | cycles | SRAM KiB | flash KiB |
|---|---|---|---|---|---|---|---|---|
"""


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr + done.stdout).strip()
        try:
            said = json.loads(said)["messages"][0]["text"]
        except (ValueError, LookupError):
            pass
        raise RuntimeError(said)
    return json.loads(done.stdout)


def first(folder, *names):
    return next((os.path.join(folder, n) for n in names if os.path.exists(os.path.join(folder, n))), None)


def anchor_row(name, folder):
    path = first(folder, "anchor/anchor.json", "anchor_int8.json")
    if not path:
        return ""
    record = json.load(open(path))
    sqnr = record["sqnr_db"][0] if isinstance(record["sqnr_db"], list) else record["sqnr_db"]
    top1 = record.get("top1_quant", record.get("pt2e_int8_top1"))
    vela = record.get("vela_u85_256")
    cost = f"{vela['cycles_total']:.0f} | {vela['sram_kib_max']:.0f}" if vela else "|"
    return f"| {name} | | anchor int8 | {sqnr:.1f} | {100 * top1:.1f} | | {cost} | |\n"


def rows(tosac, name, folder):
    model, calib = first(folder, "model.pt2"), first(folder, "calib.npz", "calib.npy")
    data, label = first(folder, "test.npz", "test_x.npy"), first(folder, "test_label.npy", "test_y.npy")
    base = os.path.basename(name)
    with tempfile.TemporaryDirectory() as here:
        for k, (title, setting) in enumerate(SETTINGS):
            made = os.path.join(here, "m.pte")
            try:
                cost = call(tosac, "compile", model, "-t", TARGET, "--calib", calib, "-q", setting, "--emit", "pte+tosa", "-o", made, "--json")
                got = call(tosac, "evaluate", model, made, "--data", data, "--labels", label, "--tosa", "--json")["programs"]
            except RuntimeError as why:
                yield f"| {base} | | {title} | {why} | | | | | |\n"
                continue
            real, typed = got
            if not k:
                yield (f"| {base} | {real['samples']} | float | | {100 * real['top1']:.1f} | {100 * real['top1_low']:.1f} to "
                       f"{100 * real['top1_high']:.1f} | | | |\n")
            streams = [r["stream"] for r in cost["regions"]]
            yield (f"| {base} | | {title} (`{setting}`) | {typed['sqnr_db']:.1f} | {100 * typed['top1']:.1f} | {100 * typed['top1_low']:.1f} to "
                   f"{100 * typed['top1_high']:.1f} | {sum(s['cycles'] for s in streams)} | {max(s['sram_kib'] for s in streams):.0f} | "
                   f"{sum(s['weights'] for s in streams) / 1024:.0f} |\n")
    yield anchor_row(base, folder)


def main():
    tosac, zoo, page, *names = sys.argv[1:]
    kept = "".join(open(page).read().partition("\n## ")[1:]) if os.path.exists(page) else ""  # measured otherwise
    with open(page, "w") as out:
        out.write(HEAD.format(target=TARGET))
        for name in names or MODELS:
            folder = os.path.join(zoo, name)
            for row in rows(tosac, name, folder) if first(folder, "model.pt2") else ():
                out.write(row)
                out.flush()
        out.write(kept)


main()
