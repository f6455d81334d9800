#!/usr/bin/env python3
"""TFLM's audio operators: what tosac runs beside TensorFlow Lite Micro itself, number by number.

    tflm_signal.py TOSAC [--count N] [--seed S] [--only WORD] [--keep FOLDER]     N models of each operator, several calls in order
    tflm_signal.py TOSAC --record FOLDER                                          the cases of test/fixture/signal

Options, sizes and data are made from a number: random numbers, ends of their types, zeros, loud and faint tones, samples of -32768.  What a
kernel leaves as it was (frames that are not valid yet, energies outside of its range) is not compared.  Needs ai-edge-litert, tflite-micro and flatbuffers.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from tflite_suite import T, write

CUSTOM = 32
R = np.random.default_rng(1)


def pick(*of):
    return of[R.integers(len(of))]


def samples(shape, kind="i16"):
    """Numbers of a type, of several characters."""
    d = {"i16": np.int16, "i32": np.int32, "u32": np.uint32, "u64": np.uint64, "f32": np.float32}[kind]
    if kind == "f32":
        return (R.normal(size=shape) * 10.0 ** R.uniform(-3, 4)).astype(d)
    lo, hi = np.iinfo(d).min, np.iinfo(d).max
    how, n = R.integers(6), int(np.prod(shape))
    top = 2.0 ** R.uniform(0, np.log2(hi))
    if how == 0:
        x = np.zeros(n)
    elif how == 1:
        return R.choice(np.array([lo, lo + 1, 0, 1, hi - 1, hi], d), shape)
    elif how == 2:
        x = top * np.sin(np.arange(n) * R.uniform(0, 3)) + 0.1 * top * R.normal(size=n)
    elif how == 3:  # every number of bits alike
        x = 2.0 ** R.uniform(0, np.log2(hi), n) * (R.choice([-1, 1], n) if lo else 1)
    elif how == 4:  # too loud: clipped, and rising after
        x = 1.6 * hi * np.sin(np.arange(n) * R.uniform(0, 0.3) + R.uniform(0, 6))
    else:
        return R.integers(lo, hi, shape, d, endpoint=True)
    x = np.clip(np.rint(x), float(lo), np.nextafter(float(hi) + 1, 0))
    return np.minimum(np.abs(x) if not lo else x, hi if kind != "u64" else 2.0 ** 63).astype(d).reshape(shape)


def window():
    size, rows, shift = int(R.integers(1, 65)), int(R.integers(1, 4)), int(R.integers(0, 16))
    return "SignalWindow", [T("i16", [rows, size]), T("i16", [size], samples([size]))], [T("i16", [rows, size])], {"shift": shift}


def fft_auto_scale():
    size = int(R.integers(1, 65))
    return "SignalFftAutoScale", [T("i16", [size])], [T("i16", [size]), T("i32", [])], {}


CODES = {"f32": 0, "i32": 2, "i16": 7}


def rfft():
    kind, length, rows = pick("i16", "i16", "i32", "f32"), int(2 ** R.integers(2, 10)), int(R.integers(1, 3))
    size = int(R.integers(1, length + 1))
    return "SignalRfft", [T(kind, [rows, size])], [T(kind, [rows, length + 2])], {"T": CODES[kind], "fft_length": length}


def irfft():
    kind, length, rows = pick("i16", "i16", "i32", "f32"), int(2 ** R.integers(2, 10)), int(R.integers(1, 3))
    return "SignalIrfft", [T(kind, [rows, length + 2])], [T(kind, [rows, length])], {"T": CODES[kind], "fft_length": length}


def energy():
    bins = int(R.integers(1, 65))
    start = int(R.integers(0, bins))
    end = int(R.integers(start, bins + 1))
    return "SignalEnergy", [T("i16", [2 * bins])], [T("u32", [bins])], {"start_index": start, "end_index": end}, lambda y: y[0].__setitem__(
        slice(0, start), 0) or y[0].__setitem__(slice(end, None), 0)


def filter_bank():
    bins, channels = int(R.integers(8, 65)), int(R.integers(1, 12))
    widths = R.integers(0, 8, channels + 1)
    first = np.concatenate([[0], np.cumsum(widths)[:-1]])
    starts = np.array([R.integers(0, bins - w + 1) for w in widths])
    total = max(1, int(widths.sum()))
    weights = [R.integers(0, 4097, total) for _ in range(2)]
    return "SignalFilterBank", [T("u32", [bins])] + [T("i16", [total], w) for w in weights] + [
        T("i16", [channels + 1], t) for t in (starts, first, widths)], [T("u64", [channels])], {"num_channels": channels}


def square_root():
    n = int(R.integers(1, 33))
    return "SignalFilterBankSquareRoot", [T("u64", [n]), T("i32", [], [int(R.integers(0, 17))])], [T("u32", [n])], {}


def subtraction():
    n, bits = int(R.integers(1, 41)), int(R.integers(4, 15))
    s, odd = int(R.integers(0, 2 ** bits)), int(R.integers(0, 2 ** bits))
    return "SignalFilterBankSpectralSubtraction", [T("u32", [n])], [T("u32", [n]), T("u32", [n])], {
        "alternate_one_minus_smoothing": 2 ** bits - odd, "alternate_smoothing": odd, "clamping": bool(R.integers(2)),
        "min_signal_remaining": int(R.integers(0, 2 ** bits)), "num_channels": n, "one_minus_smoothing": 2 ** bits - s,
        "smoothing": s, "smoothing_bits": int(R.integers(0, 12)), "spectral_subtraction_bits": bits}


def pcan():
    n = int(R.integers(1, 41))
    table = R.integers(-2000, 32768, 125)
    return "SignalPCAN", [T("u32", [n]), T("u32", [n]), T("i16", [125], table)], [T("u32", [n])], {"snr_shift": int(R.integers(0, 20))}


def log():
    n = int(R.integers(1, 41))
    return "SignalFilterBankLog", [T("u32", [n])], [T("i16", [n])], {"input_correction_bits": int(R.integers(0, 8)), "output_scale": int(R.integers(0, 20000))}


def only_valid(y):
    if not y[1].all():
        y[0][...] = 0


def framer():
    step, frames, rows = int(R.integers(1, 17)), int(R.integers(1, 4)), int(R.integers(1, 3))
    size = step + int(R.integers(0, 40))
    return "SignalFramer", [T("i16", [rows, step * frames])], [T("i16", [rows, frames, size]), T("bool", [])], {
        "frame_size": size, "frame_step": step, "prefill": bool(R.integers(2))}, only_valid


def delay():
    rows, size = int(R.integers(1, 3)), int(R.integers(1, 33))
    return "SignalDelay", [T("i16", [rows, size])], [T("i16", [rows, size])], {"delay_length": int(R.integers(0, 80))}


def overlap_add():
    kind, step, frames, rows = pick("i16", "i16", "f32"), int(R.integers(1, 17)), int(R.integers(1, 4)), int(R.integers(1, 3))
    size = step + int(R.integers(0, 30))
    return "SignalOverlapAdd", [T(kind, [rows, frames, size])], [T(kind, [rows, frames * step])], {"T": CODES[kind], "frame_step": step}


def stacker():
    channels, before, after = int(R.integers(1, 9)), int(R.integers(0, 4)), int(R.integers(0, 4))
    return "SignalStacker", [T("i16", [channels])], [T("i16", [channels * (before + after + 1)]), T("bool", [])], {
        "num_channels": channels, "stacker_left_context": before, "stacker_right_context": after,
        "stacker_step": int(R.integers(1, before + after + 2))}, only_valid


KINDS = [window, fft_auto_scale, rfft, irfft, energy, filter_bank, square_root, subtraction, pcan, log, framer, delay, overlap_add, stacker]


def by_micro(model, given, n_out):
    from tflite_micro.python.tflite_micro import runtime
    it, all_ = runtime.Interpreter.from_file(model, arena_size=1 << 20), []
    for call in range(len(given[0])):
        for i, x in enumerate(given):
            it.set_input(x[call], i)
        it.invoke()
        all_.append([np.array(it.get_output(i)) for i in range(n_out)])
    return [np.stack([y[i] for y in all_]) for i in range(n_out)]


def by_tosac(tosac, model, given, folder):
    files = []
    for i, x in enumerate(given):
        files += ["-i", f"{folder}/in_{i}.npy"]
        np.save(files[-1], x)
    done = subprocess.run([tosac, "run", model, *files, "-o", f"{folder}/out"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr[-300:]
    return [np.load(f"{folder}/out/output_{i}.npy") for i in range(len(os.listdir(f"{folder}/out")))]


def one(kind, folder, calls):
    """The model, data, and what TFLM gives."""
    name, inputs, outputs, options, *clean = kind()
    model = f"{folder}/model.tflite"
    write(model, CUSTOM, inputs, outputs, options, custom=name)
    given = [np.stack([samples(t.shape, t.kind) for _ in range(calls)]) for t in inputs if t.data is None]
    want = by_micro(model, given, len(outputs))
    for call in range(calls if clean else 0):
        clean[0]([y[call] for y in want])
    return model, given, want, clean


def differ(got, want, clean):
    if isinstance(got, str):
        return got
    for call in range(len(want[0]) if clean else 0):
        got = [g.reshape(w.shape) for g, w in zip(got, want)]
        clean[0]([y[call] for y in got])
    for i, (g, w) in enumerate(zip(got, want)):
        if g.dtype != w.dtype or not np.array_equal(g.reshape(w.shape), w, equal_nan=w.dtype == np.float32):
            at = np.flatnonzero(g.ravel() != w.ravel())
            return f"output {i}: {len(at)} of {w.size} differ, {g.dtype} {g.ravel()[at][:4]} expected {w.dtype} {w.ravel()[at][:4]}"
    return None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("tosac"); ap.add_argument("--count", type=int, default=50); ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", default=""); ap.add_argument("--keep"); ap.add_argument("--record")
    a = ap.parse_args()
    global R
    good = bad = 0
    for k, kind in enumerate(KINDS):
        if a.only and a.only not in kind.__name__:
            continue
        for i in range(3 if a.record else a.count):
            R = np.random.default_rng([a.seed, k, i])
            with tempfile.TemporaryDirectory() as folder:
                model, given, want, clean = one(kind, folder, 3 if a.record else 6)
                if a.record:
                    to = f"{a.record}/{kind.__name__}_{i}"
                    os.makedirs(a.record, exist_ok=True)
                    os.replace(model, to + ".tflite")
                    np.savez_compressed(to + ".npz", **{f"in_{j}": x for j, x in enumerate(given)}, **{f"want_{j}": y for j, y in enumerate(want)})
                    continue
                wrong = differ(by_tosac(a.tosac, model, given, folder), want, clean)
                good, bad = good + (not wrong), bad + bool(wrong)
                if wrong:
                    print(f"{kind.__name__} {i}: {wrong}")
                    if a.keep:
                        os.makedirs(a.keep, exist_ok=True)
                        os.replace(model, f"{a.keep}/{kind.__name__}_{i}.tflite")
    print(f"TFLM's audio operators: {good} passed, {bad} failed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
