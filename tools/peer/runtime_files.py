#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tosac writes, in the ExecuTorch of the Python that runs this: programs, ETRecords.

  runtime_files.py TOSAC FIXTURES [ZOO]     FIXTURES: test/fixture; ZOO: a folder of NAME/model.pt2 with calib.npz and test.npz

  cpu       float and int8 programs for the target `cpu` run in the runtime and in tosac run: to 1e-5 of the largest number
  portable  the same of TOSA, Ethos-U, VGF and Cortex-M files: what the package's deserializer and method metadata say is what was written
  etrecord  read by the package, with its maps
  bpte      read by the package's devtools with its methods and test vectors; of `cpu` every vector run and judged by the runtime itself
  etdump    a `cpu` program run with the event tracer: the Inspector takes dump and record, tosac profile takes the dump
Prints a line for each file that is not right, and a count."""
import collections, glob, os, subprocess, sys, tempfile
import numpy as np
import torch
import executorch.kernels.quantized  # noqa: F401  registers the quantized kernels
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.pybindings import portable_lib
from executorch.runtime import Runtime, Verification

COUNT = collections.Counter()


def models(fixtures, zoo):
    """Name, models by method, calibration data by method, inputs by method."""
    f = lambda *p: os.path.join(fixtures, *p)
    yield "digits", {"model": f("digits/model.pt2")}, {"model": f("digits/calib.npz")}
    yield "lstm", {"stream": f("lstm/stream.pt2")}, {"stream": f("lstm/samples.npy")}
    yield "spotter", {"stream": f("spotter/stream.pt2")}, {"stream": f("spotter/frames.npy")}
    yield "speech", {"encode": f("speech/encode.pt2"), "decode": f("speech/decode.pt2")}, {"encode": f("speech/mel.npy"), "decode": f("speech/steps.npz")}
    yield "decoder", {"decode": f("decoder/decode.pt2"), "prefill": f("decoder/prefill.pt2")}, {"decode": f("decoder/calib-decode.npz"), "prefill": f("decoder/calib-prefill.npz")}
    for model in sorted(glob.glob(os.path.join(zoo, "*", "model.pt2"))) if zoo else []:
        folder = os.path.dirname(model)
        data = next((p for p in (folder + "/calib.npz", folder + "/calib.npy") if os.path.exists(p)), "random:1")
        yield os.path.basename(folder), {"model": model}, {"model": data}


def say(kind, name, wrong):
    left = wrong == "not for this target"
    COUNT[kind, "right" if not wrong else "left out" if left else "WRONG"] += 1
    if wrong:
        print(f"{kind} {name}: {str(wrong)[:300]}")


def call(*args):
    return subprocess.run(list(map(str, args)), capture_output=True, text=True)


def compiled(tosac, parts, data, target, out, *more):
    many = len(parts) > 1
    files = [f"{m}={p}" if many else p for m, p in parts.items()]
    calib = [a for m, d in data.items() for a in ("--calib", f"{m}={d}" if many else d)]
    if more[:1] == ("float",):
        calib, more = [], more[1:]
    done = call(tosac, "compile", *files, "-t", target, "--no-execute", *calib, *more, "-o", out)
    return "" if not done.returncode else "not for this target" if "[unsupported]" in done.stderr else done.stderr


def run_both(tosac, program, method, data, d):
    loaded = Runtime.get().load_program(program, verification=Verification.InternalConsistency)
    info = portable_lib._load_for_executorch(program).method_meta(method)
    shapes = [info.input_tensor_meta(i).sizes() for i in range(info.num_inputs())]
    if data.startswith("random"):
        torch.manual_seed(0)
        calls = [[torch.randn(tuple(s)) for s in shapes]]
        x = [np.stack([c[i].numpy() for c in calls]) for i in range(len(shapes))]
    else:
        x = np.load(data)
        x = [x] if isinstance(x, np.ndarray) else list(x.values())
        x = [a[:3] for a in x]
        calls = [[torch.from_numpy(a[k].reshape(tuple(s)).copy()) for a, s in zip(x, shapes)] for k in range(len(x[0]))]
    runner = loaded.load_method(method)
    theirs = [[t.clone() for t in runner.execute(c) if isinstance(t, torch.Tensor)] for c in calls]
    np.savez(d + "/in.npz", **{f"a{i}": np.stack([c[i].numpy() for c in calls]) for i in range(len(x))})
    out = d + "/ours_" + method
    done = call(tosac, "run", program, "--method", method, "-i", d + "/in.npz", "-o", out)
    if done.returncode:
        return "tosac run: " + done.stderr
    for i in range(len(theirs[0])):
        ours = np.load(f"{out}/output_{i}.npy").astype(np.float64).reshape(-1)
        have = np.concatenate([t[i].to(torch.float64).numpy().reshape(-1) for t in theirs])
        gap = np.abs(ours - have).max(initial=0)
        if gap > 1e-5 * np.abs(ours).max(initial=1e-30):
            return f"{method} output {i}: {gap:.3g} apart, of {np.abs(ours).max():.3g}"
    return ""


def guarded(f, *args):
    read, write = os.pipe()
    child = os.fork()  # what fails its own checks may end the process
    if not child:
        try:
            said = f(*args)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, str(said or "").encode()[:4000])
        os._exit(0)
    os.close(write)
    text = b"".join(iter(lambda: os.read(read, 4096), b"")).decode()
    os.close(read)
    return "the process ended" if os.waitpid(child, 0)[1] else text


def readable(path, parts):
    pte = deserialize_pte_binary(open(path, "rb").read())
    plans = {p.name for p in getattr(pte, "program", pte).execution_plan}
    want = set(parts) if len(parts) > 1 else {"forward"}
    if plans != want:
        return f"methods {plans}, expected {want}"
    meta = portable_lib._load_for_executorch(path)
    for m in want:
        info = meta.method_meta(m)
        [info.input_tensor_meta(i).sizes() for i in range(info.num_inputs())]
    return ""


def record(path):
    from executorch.devtools.etrecord import parse_etrecord
    r = parse_etrecord(path)
    return "" if r._debug_handle_map and r._instruction_id_to_num_outs_map is not None else "maps are missing"


def bundled(path, parts, tolerance):
    from executorch.devtools.bundled_program.serialize import deserialize_from_flatbuffer_to_bundled_program
    data = open(path, "rb").read()
    suites = {s.method_name: len(s.test_cases) for s in deserialize_from_flatbuffer_to_bundled_program(data).method_test_suites}
    want = set(parts) if len(parts) > 1 else {"forward"}
    if set(suites) != want or not all(suites.values()):
        return f"test vectors {suites}, expected some of {want}"
    bundle = portable_lib._load_bundled_program_from_buffer(data)
    program = portable_lib._load_for_executorch_from_bundled_program(bundle)
    wrong = []
    for method, n in suites.items() if tolerance else ():
        for i in range(n):
            try:
                bundle.verify_result_with_bundled_expected_output(method, i, *tolerance)
            except RuntimeError:
                wrong.append(f"{method} {i}")
    return f"{len(wrong)} of {sum(suites.values())} vectors differ: {', '.join(wrong[:5])}" if wrong else "" if program else "not loaded"


def dumped(tosac, pte, etrecord, method, data, d):
    from executorch.devtools import Inspector, parse_etrecord
    program = portable_lib._load_for_executorch(pte, enable_etdump=True)
    info = program.method_meta(method)
    x = np.load(data)
    x = [x] if isinstance(x, np.ndarray) else list(x.values())
    program.run_method(method, tuple(torch.from_numpy(a[0].reshape(tuple(info.input_tensor_meta(i).sizes())).copy()) for i, a in enumerate(x)))
    program.write_etdump_result_to_file(d + "/x.etdp")
    if not os.path.exists(d + "/x.etdp"):
        return "not for this target"  # a package without the event tracer
    record = parse_etrecord(etrecord)
    for maps in (record._debug_handle_map, record._delegate_map, record._instruction_id_to_num_outs_map):
        if maps:  # the Inspector asks for no other method
            maps["forward"] = maps.get(method, {})
    rows = [e for b in Inspector(etdump_path=d + "/x.etdp", etrecord=record, reference_graph_name="tosac/" + method).event_blocks for e in b.events]
    if not any(e.stack_traces for e in rows):
        return f"the Inspector finds none of {len(rows)} events in the record"
    done = call(tosac, "profile", pte, "--method", method, "--etdump", d + "/x.etdp", "--by", "kind")
    return done.stderr if done.returncode else ""


def main(tosac, fixtures, zoo=None):
    from executorch.version import __version__
    for name, parts, data in models(fixtures, zoo):
        with tempfile.TemporaryDirectory() as d:
            one = {("forward" if len(parts) == 1 else m): v for m, v in data.items()}
            for kind, more in (("float", ("float",)), ("int8", ("-q", "int8"))):
                pte = f"{d}/{kind}.pte"
                wrong = compiled(tosac, parts, data, "cpu", pte, *more)
                for m in one:
                    say("cpu " + kind, name + " " + m, wrong or guarded(run_both, tosac, pte, m, one[m], d))
            for target in ("TOSA-1.0+INT", "ethos-u85-256", "ethos-u55-128", "cortex-m55", "vgf"):
                pte = f"{d}/x.pte"
                wrong = compiled(tosac, parts, data, target, pte)
                say("portable", f"{name} {target}", wrong or guarded(readable, pte, parts))
            wrong = compiled(tosac, parts, data, "ethos-u85-256", d + "/r.pte", "--etrecord", d + "/r.etrecord")
            say("etrecord", name, wrong or guarded(record, d + "/r.etrecord"))
            for target, more, tolerance in (("cpu", ("float",), (1e-5, 1e-5)), ("cpu", ("-q", "int8"), (1e-5, 1e-8)), ("ethos-u85-256", (), None), ("vgf", (), None)):
                many = len(parts) > 1
                vectors = [a for m, v in data.items() for a in ("--input", f"{m}={v}" if many else v)]
                wrong = compiled(tosac, parts, data, target, d + "/b.bpte", *more, *vectors)
                say("bpte", f"{name} {target} {more[-1:]}", wrong or guarded(bundled, d + "/b.bpte", parts, tolerance))
            wrong = compiled(tosac, parts, data, "cpu", d + "/t.pte", "-q", "int8", "--etrecord", d + "/t.etrecord")
            for m in one:
                say("etdump", f"{name} {m}", wrong or guarded(dumped, tosac, d + "/t.pte", d + "/t.etrecord", m, one[m], d))
    print(f"ExecuTorch {__version__}: " + ", ".join(f"{k} {r} {n}" for (k, r), n in sorted(COUNT.items())))
    return any(r == "WRONG" for _, r in COUNT)


if not 3 <= len(sys.argv) <= 4:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
