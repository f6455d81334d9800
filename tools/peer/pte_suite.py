#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operator cases as .pte programs on ExecuTorch's own runtime: tosac compile -t cpu, loaded, run, compared with PyTorch's
results and with tosac run.  Needs ExecuTorch's Python package.

  pte_suite.py TOSAC SUITE [FILE] [EVERY]     FILE: model.pt2 (default) or quantized.pt2; EVERY: one case in so many

Prints what differs and a count by kind.  UNSUPPORTED: tosac turned the case down, with a message; RUNTIME: ExecuTorch did."""
import collections, glob, json, os, subprocess, sys, tempfile
import numpy as np
import torch
import executorch.kernels.quantized  # noqa: F401  registers the quantized kernels
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.runtime import Runtime, Verification


def inputs(case, meta):
    """Tensors and plain values in signature order, and the files of the tensors."""
    values, files = [], []
    for i in meta["inputs"]:
        if not i.get("file"):
            values.append(i.get("constant"))
            continue
        files.append(os.path.join(case, i["file"]))
        t = torch.from_numpy(np.load(files[-1]))
        values.append(t.to(getattr(torch, i["dtype"].replace("torch.", ""))) if i.get("stored_as") else t)
    return values, files


def far(have, want, bound):
    """Whether finite numbers are further apart than the bound, relative to the largest of all results: the imaginary part of a transform may be zero."""
    want = [w.astype(np.float64) for w in want]
    size = max((np.abs(w[np.isfinite(w)]).max(initial=1e-30) for w in want), default=1e-30)
    for a, b in zip(have, want):
        if list(a.shape) != list(b.shape):
            return True
        gap = np.abs(a.astype(np.float64) - b)
        if gap[np.isfinite(gap)].max(initial=0) > bound * size:
            return True
    return False


def judge(tosac, case, file):
    meta = json.load(open(os.path.join(case, "meta.json")))
    with tempfile.TemporaryDirectory() as d:
        program = os.path.join(d, "m.pte")
        done = subprocess.run([tosac, "compile", os.path.join(case, file), "-t", "cpu", "-o", program], capture_output=True, text=True)
        if done.returncode:
            return "UNSUPPORTED" if done.returncode == 3 else "FAILED", done.stderr
        deserialize_pte_binary(open(program, "rb").read())
        values, files = inputs(case, meta)
        method = Runtime.get().load_program(program, verification=Verification.InternalConsistency).load_method("forward")
        have = [t for t in method.execute(values) if isinstance(t, torch.Tensor)]
        half = any(t.dtype in (torch.float16, torch.bfloat16) for t in have)
        have = [t.to(torch.float64).numpy() for t in have]
        if subprocess.run([tosac, "run", program, "-o", d] + [a for f in files for a in ("-i", f)], capture_output=True).returncode:
            return "NOT RUN", "tosac run turned its own program down"
        ours = [np.load(os.path.join(d, f"output_{i}.npy")) for i in range(len(have))]
    if far(have, ours, 2e-2 if half else 1e-5):
        return "OURS", "tosac run and ExecuTorch differ"
    expected = meta["expected"] if file == "model.pt2" else next(q for q in meta["quantized"] if q["file"] == file)["expected"]
    wanted = [np.load(os.path.join(case, e["file"])) for e in expected]
    if meta.get("deterministic") is not False and far(have, wanted, 2e-2 if half else 2e-3):
        return "DIFFERS", "from PyTorch's results"
    return "good", ""


def main(tosac, suite, file="model.pt2", every="1"):
    count = collections.Counter()
    for case in sorted(os.path.dirname(p) for p in glob.glob(os.path.join(suite, "*", "*", file)))[:: int(every)]:
        read, write = os.pipe()
        child = os.fork()  # a kernel that fails its own checks may end the process
        if not child:
            try:
                said = judge(tosac, case, file)
            except Exception as error:
                said = "RUNTIME", str(error)
            os.write(write, json.dumps(said).encode()[:4000])
            os._exit(0)
        os.close(write)
        text = b"".join(iter(lambda: os.read(read, 4096), b"")).decode()
        os.close(read)
        os.waitpid(child, 0)
        kind, why = json.loads(text) if text else ("CRASHED", "")
        count[kind] += 1
        if kind != "good":
            print(os.path.relpath(case, suite), kind, why.strip().split("\n")[0][:160])
    print(dict(count))


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
