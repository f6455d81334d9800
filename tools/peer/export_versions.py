#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports that between them use what a .pt2 can hold, written by whichever torch runs this, and read back by tosac.

  export_versions.py write FOLDER [NAME...] a Python with torch (torchao too, for the quantized ones): NAME.pt2, NAME.json, NAME.*.npy
  export_versions.py check TOSAC FOLDER...  any Python with NumPy: tosac run on each, compared with what eager PyTorch gave

`check` prints what differs and for each folder how many are equal: floats to 1e-4 of the largest, integers and bools exactly.
A model that this torch cannot export is in FOLDER/left_out.json with its reason."""
import glob, json, os, subprocess, sys, tempfile, warnings
import numpy as np


def models():
    import torch
    from torch import nn
    import torch.nn.functional as F
    torch.manual_seed(0)
    x4, seq = torch.randn(1, 3, 16, 16), torch.randn(1, 6, 16)

    def module(forward, **members):
        class Made(nn.Module):
            def __init__(self):
                super().__init__()
                for k, v in members.items():
                    if isinstance(v, torch.Tensor) and not isinstance(v, nn.Parameter):
                        self.register_buffer(k, v)
                    else:
                        setattr(self, k, v)

            def forward(self, *args, **kwargs):
                return forward(self, *args, **kwargs)
        return Made().eval()

    conv = lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=8), nn.Hardswish(),
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)).eval()
    yield "conv", conv(), (x4,), {}
    yield "conv_strict", conv(), (x4,), {"strict": True}
    yield "conv_decomposed", conv(), (x4,), {"decompose": True}
    yield "transformer", nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(), (seq,), {}
    yield "transformer_decomposed", nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True).eval(), (seq,), {"decompose": True}
    yield "attention", module(lambda s, q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True)), (torch.randn(1, 2, 6, 8), torch.randn(1, 2, 6, 8)), {}
    yield "lstm", nn.LSTM(16, 8, num_layers=2, batch_first=True, bidirectional=True).eval(), (seq,), {}
    yield "gru", nn.GRU(16, 8, batch_first=True).eval(), (seq,), {}
    yield "cond", module(lambda s, x: torch.cond(x.sum() > 0, lambda x: s.a(x), lambda x: x * 2, (x,)), a=nn.Linear(16, 16)), (seq,), {}

    def loop(s, x):
        from torch._higher_order_ops.while_loop import while_loop
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, torch.tanh(x) * 1.5), (torch.tensor(0), x))[1]
    yield "while_loop", module(loop), (torch.randn(3, 4),), {}

    def scanned(s, x):
        from torch._higher_order_ops.scan import scan
        return scan(lambda c, r: (c * 0.5 + r, c + r), torch.zeros(16), x[0])
    yield "scan", module(scanned), (seq,), {}
    dim = torch.export.Dim("n", min=2, max=64)
    yield "dynamic", module(lambda s, x: s.a(x).reshape(x.shape[0], -1).cumsum(0) / x.shape[0], a=nn.Linear(16, 4)), (torch.randn(7, 3, 16),), {"dynamic": ({0: dim},), "dims": {"n": 7}}
    rows = torch.export.Dim("rows", min=4, max=64)
    yield "dynamic_derived", module(lambda s, x, y: torch.cat([x, y]) * (x.shape[0] + 1)), (torch.randn(5, 2), torch.randn(6, 2)), {"dynamic": ({0: rows}, {0: rows + 1}), "dims": {"rows": 5}}
    auto = getattr(torch.export.Dim, "AUTO", None)
    if auto is not None:
        yield "dynamic_auto", module(lambda s, x: F.pad(x, (1, 1)).unfold(0, 2, 1).sum(-1)), (torch.randn(7, 3),), {"dynamic": ({0: auto},)}

    def counts(s, x):
        s.seen.add_(1)
        s.cache.index_copy_(0, s.seen % 4, x)
        return s.cache.sum(0) + s.seen
    yield "buffers", module(counts, seen=torch.zeros(1, dtype=torch.int64), cache=torch.zeros(4, 16)), (torch.randn(1, 16),), {}

    yield "cache_slice", module(lambda s, x: (s.k[2:4].copy_(x), s.k * 2)[1], k=torch.arange(32.0).reshape(8, 4)), (torch.randn(2, 4),), {}
    tied = nn.Embedding(32, 16)
    yield "tied", module(lambda s, i: F.linear(s.e(i), s.e.weight) + s.again(s.e(i)).sum(-1, keepdim=True), e=tied, again=nn.Linear(16, 16)), (torch.tensor([[1, 5, 31]]),), {}
    layer = nn.Linear(16, 16)
    yield "called_twice", module(lambda s, x: s.b(torch.relu(s.a(x))), a=layer, b=layer), (seq,), {}
    yield "views", module(lambda s, x: (s.turned + x, s.part, s.w[1:, ::2] * 2), turned=torch.arange(6.0).reshape(2, 3).t(), part=torch.arange(20.0)[4:10], w=nn.Parameter(torch.randn(4, 6))), (torch.randn(3, 2),), {}
    yield "complex", module(lambda s, x: torch.view_as_real(torch.view_as_complex(x.reshape(1, 6, 8, 2)) * s.turn).flatten(2), turn=torch.polar(torch.ones(6, 8), torch.randn(6, 8))), (seq,), {}
    yield "fft", module(lambda s, x: torch.fft.irfft(torch.fft.rfft(x) * 0.5) + torch.fft.rfft(x).abs().sum(-1, keepdim=True)), (seq,), {}
    yield "types", module(lambda s, x: (x.half() @ s.h, x.to(torch.bfloat16) + s.b, s.u.to(torch.int32) + s.i, s.t | (x[0, 0, 0] > 0)), h=torch.randn(16, 3).half(), b=torch.randn(16).bfloat16(),
                          u=torch.tensor([1, 255], dtype=torch.uint8), i=torch.tensor([3, -4], dtype=torch.int16), t=torch.tensor([True, False])), (seq,), {}
    if hasattr(torch, "uint16"):
        yield "types_unsigned", module(lambda s, x: s.w.to(torch.int32) + x, w=torch.tensor([1, 65535], dtype=torch.int32).to(torch.uint16)), (torch.tensor([1, 2], dtype=torch.int32),), {}
    yield "keyword", module(lambda s, x, *, scale, other: {"sum": x * scale + other["a"], "pair": [other["b"][0], 3, None]}), (seq,), {"kwargs": {"scale": 2.0, "other": {"a": torch.randn(16), "b": (torch.randn(2),)}}}
    yield "in_place", module(lambda s, x: (lambda y: (y[:, 1:3].mul_(2), y.transpose(1, 2).add_(1), y.relu_())[2])(x.clone())), (seq,), {}

    def guarded(s, x):
        with torch.no_grad():
            y = s.a(x)
        with torch.autocast("cpu", enabled=False):
            return torch.sigmoid(y) + torch.ops.aten.hardtanh(x, -0.5, 0.5)
    yield "wrapped", module(guarded, a=nn.Linear(16, 16)), (seq,), {}
    yield "norms", module(lambda s, x: s.r(s.l(x)) + F.group_norm(x.transpose(1, 2), 4).transpose(1, 2), l=nn.LayerNorm(16), r=nn.RMSNorm(16)), (seq,), {}
    yield "indexing", module(lambda s, x, i: (x[:, i], x.gather(1, i.reshape(1, 3, 1).expand(1, 3, 16)), torch.topk(x, 3)[1], x.sort(-1)[0], x.masked_fill(x > 0, -1.0))), (seq, torch.tensor([5, 0, 2])), {}
    yield "einsum", module(lambda s, x, y: torch.einsum("bij,bkj->bik", x, y)), (seq, torch.randn(1, 4, 16)), {}
    yield "bilinear", module(lambda s, x: F.interpolate(F.conv_transpose2d(x, s.w, stride=2), size=(20, 24), mode="bilinear"), w=nn.Parameter(torch.randn(3, 4, 2, 2))), (x4,), {}
    yield from quantized(x4, seq)


def quantized(x4, seq):
    """PT2E by torchao, and torchao's own weights; where it is not installed they are left out."""
    import torch
    from torch import nn

    def pt2e(per_channel):
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
        from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
        net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 4)).eval()
        quantizer = TOSAQuantizer(TosaCompileSpec("TOSA-1.0+INT"))
        quantizer.set_global(get_symmetric_quantization_config(is_per_channel=per_channel))
        graph = prepare_pt2e(torch.export.export(net, (x4,)).module(), quantizer)
        for _ in range(4):
            graph(torch.randn_like(x4))
        return convert_pt2e(graph)
    yield "pt2e", lambda: pt2e(True), (x4,), {"made": True, "steps": True}
    yield "pt2e_per_tensor", lambda: pt2e(False), (x4,), {"made": True, "steps": True}

    def torchao(config, **kwargs):
        import torchao.quantization as q
        from torchao.utils import unwrap_tensor_subclass
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)).eval()
        q.quantize_(model, getattr(q, config)(**kwargs))
        return unwrap_tensor_subclass(model)
    yield "torchao_int8", lambda: torchao("Int8WeightOnlyConfig"), (seq,), {"made": True}
    yield "torchao_int8_dynamic", lambda: torchao("Int8DynamicActivationInt8WeightConfig"), (seq,), {"made": True}
    yield "torchao_int4", lambda: torchao("IntxWeightOnlyConfig", weight_dtype=torch.int4), (seq,), {"made": True}


def write(folder, only):
    import torch
    import torch.utils._pytree as tree
    os.makedirs(folder, exist_ok=True)
    warnings.filterwarnings("ignore")
    left, names = {}, []
    for name, model, args, how in models():
        if only and name not in only:
            continue
        try:
            model = model() if how.get("made") else model
            kwargs = how.get("kwargs", {})
            plain = {"dynamic_shapes": (how["dynamic"],)} if "dynamic" in how else {}
            if "strict" in how:
                plain["strict"] = how["strict"]
            with torch.no_grad():
                program = torch.export.export(model, args, kwargs or None, **plain)
                if how.get("decompose"):
                    program = program.run_decompositions()
                stem = os.path.join(folder, name)
                torch.export.save(program, stem + ".pt2")
                start = tree.tree_leaves((args, kwargs))
                with tempfile.TemporaryDirectory() as d:  # a program of its own: buffers of this one stay
                    torch.export.save(program, d + "/again.pt2")
                    again = torch.export.load(d + "/again.pt2")
                try:
                    again = again.module(check_guards=False)
                except TypeError:  # torch 2.8 has none
                    again = again.module()
                given = tree.tree_leaves(again(*[a.clone() for a in args], **kwargs))
                dims = how.get("dims", {str(s): args[0].shape[0] for s in program.range_constraints} if "dynamic" in how else {})
        except Exception as error:
            left[name] = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        tensors = [t for t in start if isinstance(t, torch.Tensor)]
        for kind, values in (("in", tensors), ("out", [t for t in given if isinstance(t, torch.Tensor)])):
            for i, t in enumerate(values):
                t = t.detach().float() if t.dtype in (torch.float16, torch.bfloat16) else t.detach()
                np.save(f"{stem}.{kind}{i}.npy", t.numpy())
        json.dump({"inputs": len(tensors), "outputs": sum(isinstance(t, torch.Tensor) for t in given), "dims": dims, "steps": bool(how.get("steps")),
                   "half": any(t.dtype in (torch.float16, torch.bfloat16) for t in given if isinstance(t, torch.Tensor))}, open(stem + ".json", "w"))
        names.append(name)
    json.dump({"torch": torch.__version__, "left_out": left}, open(os.path.join(folder, "left_out.json"), "w"), indent=1)
    print(f"torch {torch.__version__}: {len(names)} exports, {len(left)} left out: {left}")


def differs(have, want, meta):
    if have.shape != want.shape:
        return f"shape {have.shape}, expected {want.shape}"
    if want.dtype.kind in "bui":
        return "" if np.array_equal(have, want) else "other integers"
    gap = np.abs(have.astype(np.float64) - want).max(initial=0)
    size = np.abs(want).max(initial=1e-30)
    if meta["steps"]:  # values on a grid: a sum on the border of two codes may fall to either
        return "" if gap <= 0.05 * size else f"{gap / size:.2g} of the largest"
    bound = 1e-2 if meta["half"] else 1e-4
    return "" if gap <= bound * size else f"{gap / size:.2g} of the largest"


def check(tosac, folders):
    bad = 0
    for folder in folders:
        good, all_of = 0, 0
        for stem in sorted(p[:-5] for p in glob.glob(os.path.join(folder, "*.json")) if "left_out" not in p):
            path = stem + ".pt2"
            meta = json.load(open(stem + ".json"))
            all_of += 1
            with tempfile.TemporaryDirectory() as d:
                call = [tosac, "run", path, "-o", d] + [a for i in range(meta["inputs"]) for a in ("-i", f"{stem}.in{i}.npy")]
                done = subprocess.run(call + [a for k, v in meta["dims"].items() for a in ("--dim", f"{k}={v}")], capture_output=True, text=True)
                wrong = done.stderr.strip()[:300] if done.returncode else ""
                files = sorted(glob.glob(d + "/output_*.npy"), key=lambda p: int(p.rsplit("_", 1)[1][:-4]))
                have = [np.load(p) for p in files]
                want = [np.load(f"{stem}.out{i}.npy") for i in range(meta["outputs"])]
                if not wrong and len(have) < len(want):
                    wrong = f"{len(have)} outputs, expected {len(want)}"
                if not wrong:
                    have = [h for h in have if not (len(have) > len(want) and h.ndim == 0)]
                    wrong = next((w for w in (differs(h, x, meta) for h, x in zip(have, want)) if w), "")
            good += not wrong
            bad += bool(wrong)
            if wrong:
                print(f"{path}: {wrong}")
        print(f"{folder}: {good} of {all_of} equal")
    return bad > 0


if len(sys.argv) < 3 or sys.argv[1] not in ("write", "check"):
    sys.exit(__doc__)
sys.exit(write(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "write" else check(sys.argv[2], sys.argv[3:]))
