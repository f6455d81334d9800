#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""int8 .tflite for a Cortex-M: bytes, arena, results, beside LiteRT's own converter.

    tflm_int8.py NAME=MODEL[,CALIB[,TEST]] ... [--samples N] [--litert]

MODEL: .pt2, .onnx or .tflite; CALIB: as --calib takes it (a float model), TEST: an .npz or .npy of samples for the distance from the float model
Runs in an environment with the tosac wheel and tflite-micro; --litert also needs litert-torch (.pt2 only; PT2E, int8, per channel).

A row for each: bytes; what TensorFlow Lite Micro needs as an arena, found by halves; its results on N random inputs beside `tosac run` and beside the C
that tosac makes of the file, compiled here; dB from the float model.
"""
import argparse
import json
import os
import sys
import tempfile
import warnings

import numpy as np

import tosac
from tflite_micro import runtime


def interpreter(data, arena):
    return runtime.Interpreter.from_bytes(data, arena_size=arena)


def tflm(data, inputs, arena=64 << 20):
    """Results of one sample after the other."""
    i, out = interpreter(data, arena), []
    for x in inputs:
        i.set_input(x, 0)
        i.invoke()
        out.append(np.array(i.get_output(0)))
    return out


def need(data, x):
    """Bytes of arena that one run needs, to 512."""
    def fits(n):
        pid = os.fork()  # a failed allocation ends some versions
        if not pid:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                tflm(data, [x], n)
            except BaseException:
                os._exit(1)
            os._exit(0)
        return os.waitpid(pid, 0)[1] == 0
    low, high = 0, 64 << 20
    while high - low > 512:
        middle = (low + high) // 1024 * 512
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def port(data):
    d = interpreter(data, 64 << 20).get_input_details(0)
    return tuple(d["shape"]), np.dtype(d["dtype"])


def samples(data, n):
    shape, dtype = port(data)
    g = np.random.default_rng(1)
    if dtype.kind == "f":
        return [g.standard_normal(shape).astype(dtype) for _ in range(n)]
    limits = np.iinfo(dtype)
    return [g.integers(limits.min, limits.max + 1, shape).astype(dtype) for _ in range(n)]


def values(data, codes):
    """Of codes, by the file's own scale."""
    d = interpreter(data, 64 << 20).get_output_details(0)
    if codes.dtype.kind == "f":
        return codes
    q = d["quantization_parameters"]
    return (codes.astype(np.float64) - q["zero_points"][0]) * q["scales"][0]


def codes(data, x):
    """Numbers as the file's input has them."""
    d = interpreter(data, 64 << 20).get_input_details(0)
    if np.dtype(d["dtype"]).kind == "f":
        return x
    limits, q = np.iinfo(d["dtype"]), d["quantization_parameters"]
    return np.clip(np.rint(x / q["scales"][0]) + q["zero_points"][0], limits.min, limits.max).astype(d["dtype"])


def decibels(data, model, test, count):
    """Of TFLM's results against the float model's on test samples."""
    if not test:
        return None
    x = np.load(test)
    x = (x[x.files[0]] if hasattr(x, "files") else x)[:count].astype(np.float32)
    want = np.concatenate([np.ravel(a) for a in tosac.run(model, x)[:1]])
    shape, _ = port(data)
    last = len(shape) == 4 and shape[1:] != x.shape[1:]
    got = np.concatenate([np.ravel(values(data, y)) for y in tflm(data, [codes(data, (a.transpose(1, 2, 0) if last else a).reshape(shape)) for a in x])])
    return float(10 * np.log10((want ** 2).sum() / max(((want - got) ** 2).sum(), 1e-30)))


def same(path, data, n):
    """How many of n random inputs give TFLM's bytes in `tosac run`, and in the C of the file."""
    x = samples(data, n)
    want = tflm(data, x)
    ran = sum(np.array_equal(np.ravel(tosac.run(path, a)[0]), np.ravel(w)) for a, w in zip(x, want))
    try:
        host = tosac.compile(path, "cortex-m4").host()
        c = sum(np.array_equal(np.ravel(p if w.dtype.kind != "f" else host.outputs[0].values(p)), np.ravel(w))
                for w, p in ((w, host.run_codes(*(host.inputs[0].codes(a),))[0]) for a, w in zip(x, want)))
    except tosac.TosacError as error:
        c = str(error).splitlines()[0][:60]
    return ran, c


def ours(model, calib, folder):
    made = []
    for core in ("cortex-m4", "cortex-m55"):
        path = f"{folder}/{core}.tflite"
        result = tosac.compile(model, core, calibration=calib)
        result.save(path)
        made.append(open(path, "rb").read())
    return path, made[0], result.memory, made[0] == made[1]


def litert(model, calib):
    """The same export through LiteRT's PT2E quantizer and converter."""
    import litert_torch
    import torch
    from litert_torch.quantize import pt2e_quantizer, quant_config
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    exported = torch.export.load(model)
    x = np.load(calib)
    x = (x[x.files[0]] if hasattr(x, "files") else x).astype(np.float32)
    each = [torch.from_numpy(a)[None] for a in x]
    quantizer = pt2e_quantizer.PT2EQuantizer().set_global(pt2e_quantizer.get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(exported.module(), quantizer)
    for a in each:
        prepared(a)
    converted = convert_pt2e(prepared, fold_quantize=False)
    edge = litert_torch.convert(converted, (each[0],), quant_config=quant_config.QuantConfig(pt2e_quantizer=quantizer))
    with tempfile.TemporaryDirectory() as folder:
        edge.export(f"{folder}/x.tflite")
        return open(f"{folder}/x.tflite", "rb").read()


def main():
    warnings.simplefilter("ignore")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--litert", action="store_true")
    a = p.parse_args()
    for one in a.models:
        name, rest = one.split("=", 1)
        model, calib, test = (rest.split(",") + [None, None])[:3]
        row = {"model": name}
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, data, planned, equal = ours(model, calib, folder)
                ran, c = same(path, data, a.samples)
                row.update(bytes=len(data), planned=planned, need=need(data, samples(data, 1)[0]), m55_same=equal, run=ran, c=c, of=a.samples,
                           db=decibels(data, model, test, 20))
            except (tosac.TosacError, RuntimeError) as error:
                row.update(error=str(error).splitlines()[0])
        if a.litert and model.endswith(".pt2"):
            try:
                other = litert(model, calib)
                row.update(litert_bytes=len(other))
                row.update(litert_need=need(other, samples(other, 1)[0]), litert_db=decibels(other, model, test, 20))
            except Exception as error:  # of three projects
                row.update(litert_error=f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120] if str(error).strip() else ''}")
        print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
