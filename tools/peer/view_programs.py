# SPDX-License-Identifier: Apache-2.0
"""Random programs of views and in-place operators, beside eager PyTorch.        view_programs.py [OPTION...]

A program is made from a number: views of all kinds, copies that are views where strides allow, fresh tensors of many layouts, buffers
that keep their state, and changes in place through any of them.  It is called twice in eager mode, exported as it is, some of them
decomposed too, and run by `tosac run` on the same two samples.  What differs is told with its source and kept.

    --tosac FILE     the program to try (build/tosac)
    --seed N         the first number (1)
    --count N        how many (100)
    --lines N        the longest program (14)
    --decompose N    every N-th is also decomposed (4)
    --compile N      every N-th is also compiled for TOSA-1.0+FP and for the CPU, and run (0: none)
    --keep FOLDER    where what fails is kept: N.py, N.pt2, N.npz
    --record FOLDER  write every program that agrees: N.pt2, and in N.npz inputs i0, ... and outputs o0, ... of both calls, stacked
"""
import argparse
import copy
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile

import numpy as np
import torch

warnings.filterwarnings("ignore")

HEAD = """import torch
import torch.nn.functional as F


class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed({seed})
{buffers}
    def forward(self, {names}):
"""


def shape_of(r, least=1, most=4):
    rank = r.randint(least, most)
    return [r.choice([1, 2, 2, 3, 4, 6]) for _ in range(rank)]


def factored(r, count):
    """Another shape of as many numbers."""
    shape = []
    while count > 1 and len(shape) < 4:
        d = r.choice([k for k in range(1, count + 1) if count % k == 0])
        shape.append(d)
        count //= d
    if count > 1 or not shape:
        shape.append(count)
    r.shuffle(shape)
    return shape


def axis(r, t):
    d = r.randrange(t.dim())
    return d - t.dim() if r.random() < 0.3 else d


def part_of(r, t):
    """An index expression of basic indexing."""
    parts = []
    for d in range(t.dim()):
        n = t.shape[d]
        kind = r.random()
        if kind < 0.4 or n == 0:
            parts.append(":")
        elif kind < 0.6:
            parts.append(str(r.randrange(-n, n)))
        elif kind < 0.7:
            parts.append("None")
            parts.append(":")
        else:
            a = r.randrange(n)
            b = r.randint(a + 1, n)
            parts.append(f"{a}:{b}" + (f":{r.randint(1, 3)}" if r.random() < 0.4 else ""))
    while parts and parts[-1] == ":" and r.random() < 0.7:
        parts.pop()
    if r.random() < 0.15:
        parts = ["..."] + (parts[-1:] if parts else [])
    return ", ".join(parts) or "..."


def axes(r, t):
    p = list(range(t.dim()))
    r.shuffle(p)
    return ", ".join(map(str, p))


def strided(r, t):
    """Sizes, strides and offset inside the storage."""
    room = t.untyped_storage().nbytes() // t.element_size()
    for _ in range(10):
        size = shape_of(r, 1, 3)
        stride = [r.choice([0, 1, 1, 2, 3, 4, 6]) for _ in size]
        offset = r.randrange(max(1, room // 2))
        if offset + sum((s - 1) * k for s, k in zip(size, stride)) < room:
            return f"{size}, {stride}, {offset}"
    return "[1], [1], 0"


# NAME of a tensor t, the random numbers, all tensors -> an expression.  Those that do not fit raise, and are not taken.
VIEWS = [
    lambda x, t, r, e: f"{x}.view({factored(r, t.numel())})",
    lambda x, t, r, e: f"{x}.view({factored(r, t.numel())})",
    lambda x, t, r, e: f"{x}.view(-1)",
    lambda x, t, r, e: f"{x}.reshape({factored(r, t.numel())})",
    lambda x, t, r, e: f"{x}.reshape({factored(r, t.numel())})",
    lambda x, t, r, e: f"{x}.reshape(-1)",
    lambda x, t, r, e: f"{x}.flatten()",
    lambda x, t, r, e: f"{x}.flatten({(d := r.randrange(t.dim()))}, {r.randrange(d, t.dim())})",
    lambda x, t, r, e: f"{x}.ravel()",
    lambda x, t, r, e: f"{x}.contiguous()",
    lambda x, t, r, e: f"{x}.contiguous(memory_format=torch.channels_last)",
    lambda x, t, r, e: f"{x}.to(memory_format=torch.channels_last)",
    lambda x, t, r, e: f"{x}.clone()",
    lambda x, t, r, e: f"{x}.clone(memory_format=torch.contiguous_format)",
    lambda x, t, r, e: f"{x}.to(torch.float32)",
    lambda x, t, r, e: f"{x}.to(torch.float64).to(torch.float32)",
    lambda x, t, r, e: f"{x}.type_as({x})",
    lambda x, t, r, e: f"(+{x})",
    lambda x, t, r, e: f"{x}.detach()",
    lambda x, t, r, e: f"F.dropout({x}, 0.3, False)",
    lambda x, t, r, e: f"{x}.t()",
    lambda x, t, r, e: f"{x}.T" if t.dim() == 2 else f"{x}.mT",
    lambda x, t, r, e: f"{x}.transpose({axis(r, t)}, {axis(r, t)})",
    lambda x, t, r, e: f"{x}.transpose({axis(r, t)}, {axis(r, t)})",
    lambda x, t, r, e: f"{x}.swapaxes({axis(r, t)}, {axis(r, t)})",
    lambda x, t, r, e: f"{x}.permute({axes(r, t)})",
    lambda x, t, r, e: f"{x}.permute({axes(r, t)})",
    lambda x, t, r, e: f"{x}.movedim({axis(r, t)}, {axis(r, t)})",
    lambda x, t, r, e: f"{x}.squeeze()",
    lambda x, t, r, e: f"{x}.squeeze({axis(r, t)})",
    lambda x, t, r, e: f"{x}.unsqueeze({r.randint(0, t.dim())})",
    lambda x, t, r, e: f"{x}.unsqueeze({r.randint(0, t.dim())})",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}]",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}]",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}]",
    lambda x, t, r, e: f"{x}.narrow({(d := r.randrange(t.dim()))}, {(a := r.randrange(t.shape[d]))}, {r.randint(1, t.shape[d] - a)})",
    lambda x, t, r, e: f"{x}.select({(d := r.randrange(t.dim()))}, {r.randrange(t.shape[d])})",
    lambda x, t, r, e: f"{x}.split({r.randint(1, 3)}, {(d := r.randrange(t.dim()))})[{r.choice([0, -1])}]",
    lambda x, t, r, e: f"{x}.chunk({r.randint(1, 3)}, {axis(r, t)})[{r.choice([0, -1])}]",
    lambda x, t, r, e: f"{x}.unbind({axis(r, t)})[{r.choice([0, -1])}]",
    lambda x, t, r, e: f"{x}.tensor_split({r.randint(1, 3)}, {axis(r, t)})[{r.choice([0, -1])}]",
    lambda x, t, r, e: f"{x}.hsplit({r.choice([1, 2])})[0]",
    lambda x, t, r, e: f"{x}.unflatten({(d := r.randrange(t.dim()))}, {factored(r, t.shape[d])})",
    lambda x, t, r, e: f"{x}.expand({[r.choice([2, 3]) if s == 1 else -1 for s in t.shape]})",
    lambda x, t, r, e: f"{x}.expand({[2] + [-1] * t.dim()})",
    lambda x, t, r, e: f"{x}.broadcast_to({[1] + list(t.shape)})",
    lambda x, t, r, e: f"{x}.expand_as({r.choice(e)})",
    lambda x, t, r, e: f"{x}.view_as({r.choice(e)})",
    lambda x, t, r, e: f"{x}.reshape_as({r.choice(e)})",
    lambda x, t, r, e: f"torch.broadcast_tensors({x}, {r.choice(e)})[0]",
    lambda x, t, r, e: f"torch.meshgrid({x}, {r.choice(e)}, indexing='{r.choice(['ij', 'xy'])}')[{r.choice([0, 1])}]",
    lambda x, t, r, e: f"torch.atleast_{r.randint(1, 3)}d({x})",
    lambda x, t, r, e: f"{x}.diagonal({r.choice([-1, 0, 0, 1])}, {axis(r, t)}, {axis(r, t)})",
    lambda x, t, r, e: f"{x}.unfold({(d := r.randrange(t.dim()))}, {r.randint(1, t.shape[d])}, {r.randint(1, 2)})",
    lambda x, t, r, e: f"{x}.as_strided({strided(r, t)})",
    lambda x, t, r, e: f"torch.view_as_complex({x}).{r.choice(['real', 'imag', 'conj().real'])}",
    lambda x, t, r, e: f"torch.view_as_real(torch.view_as_complex({x}){r.choice(['', '.transpose(0, -1)', '[0]'])})",
    lambda x, t, r, e: f"{x}.view(torch.complex64){r.choice(['', '[0]', '.transpose(0, -1)'])}.view(torch.float32)",
    lambda x, t, r, e: f"torch.einsum('{r.choice(['ij->ji', 'ij->ij', 'ii->i', 'abc->cab'])}', {x})",
    lambda x, t, r, e: f"F.pad({x}, (0, 0))",
    lambda x, t, r, e: f"torch.cartesian_prod({x})",
]

FRESH = [
    lambda x, t, r, e: f"{x} + 1",
    lambda x, t, r, e: f"torch.relu({x})",
    lambda x, t, r, e: f"{x} * {r.choice(e)}",
    lambda x, t, r, e: f"{x} - {r.choice(e)}",
    lambda x, t, r, e: f"torch.tanh({x})",
    lambda x, t, r, e: f"torch.zeros_like({x})",
    lambda x, t, r, e: f"torch.ones_like({x}, memory_format=torch.contiguous_format)",
    lambda x, t, r, e: f"torch.empty_like({x}).fill_(0.5)",
    lambda x, t, r, e: f"torch.full_like({x}, 2.0)",
    lambda x, t, r, e: f"{x}.new_zeros({shape_of(r)})",
    lambda x, t, r, e: f"torch.zeros({list(t.shape)})",
    lambda x, t, r, e: f"torch.cat([{x}, {r.choice(e)}], {r.randrange(t.dim())})",
    lambda x, t, r, e: f"torch.stack([{x}, {x}], {r.randint(0, t.dim())})",
    lambda x, t, r, e: f"{x}.sum({r.randrange(t.dim())}, keepdim={r.choice([True, False])})",
    lambda x, t, r, e: f"{x}.amax({r.randrange(t.dim())})",
    lambda x, t, r, e: f"{x}.flip({r.randrange(t.dim())})",
    lambda x, t, r, e: f"{x}.repeat({[2] + [1] * (t.dim() - 1)})",
    lambda x, t, r, e: f"{x}.roll(1, {r.randrange(t.dim())})",
    lambda x, t, r, e: f"{x}[torch.tensor({[r.randrange(t.shape[0]) for _ in range(2)]})]",
    lambda x, t, r, e: f"torch.where({x} > 0.1, {x}, 0.25)",
    lambda x, t, r, e: f"F.linear({x}, torch.full(({r.randint(1, 4)}, {t.shape[-1]}), 0.25)){r.choice(['', '.mT', '.transpose(0, -1)'])}",
    lambda x, t, r, e: f"F.conv2d({x}, torch.full((2, {t.shape[1] if t.dim() > 1 else 1}, 1, 1), 0.5))",
    lambda x, t, r, e: f"F.layer_norm({x}, [{t.shape[-1]}])",
    lambda x, t, r, e: f"F.softmax({x}, {r.randrange(t.dim())})",
    lambda x, t, r, e: f"torch.matmul({x}, {x}.mT)",
    lambda x, t, r, e: f"torch.sort({x}, {r.randrange(t.dim())})[0]",
    lambda x, t, r, e: f"torch.cumsum({x}, {r.randrange(t.dim())})",
]


def number(r):
    return r.choice([-1.5, -0.5, 0.25, 0.5, 2.0, 3.0])


def places(r, t, d, n):
    return [r.randrange(t.shape[d]) for _ in range(n)]


def distinct(r, t, d, n):
    return r.sample(range(t.shape[d]), min(n, t.shape[d]))


def like(t, d, n):
    s = list(t.shape)
    s[d] = n
    return s


def index_copy(x, t, r, e, how):
    d = r.randrange(t.dim())
    at = distinct(r, t, d, r.randint(1, 2))
    src = f"torch.full({like(t, d, len(at))}, {number(r)})"
    return f"{x}.{how}({d}, torch.tensor({at}), {src})"


def scatter(x, t, r, e, how):
    d = r.randrange(t.dim())
    at = r.randrange(t.shape[d])
    index = f"torch.full({like(t, d, 1)}, {at})"
    return f"{x}.{how}({d}, {index}, " + (f"{number(r)})" if how == "scatter_" else f"torch.full({like(t, d, 1)}, {number(r)}))")


WRITES = [
    lambda x, t, r, e: f"{x}.add_({number(r)})",
    lambda x, t, r, e: f"{x}.add_({number(r)})",
    lambda x, t, r, e: f"{x}.mul_({number(r)})",
    lambda x, t, r, e: f"{x}.mul_({number(r)})",
    lambda x, t, r, e: f"{x}.sub_({r.choice(e)})",
    lambda x, t, r, e: f"{x}.add_({r.choice(e)}, alpha=0.5)",
    lambda x, t, r, e: f"{x}.mul_({r.choice(e)})",
    lambda x, t, r, e: f"{x}.copy_({r.choice(e)})",
    lambda x, t, r, e: f"{x}.copy_({r.choice(e)})",
    lambda x, t, r, e: f"{x}.relu_()",
    lambda x, t, r, e: f"{x}.neg_()",
    lambda x, t, r, e: f"{x}.abs_()",
    lambda x, t, r, e: f"{x}.sigmoid_()",
    lambda x, t, r, e: f"{x}.tanh_()",
    lambda x, t, r, e: f"{x}.clamp_(-1, 1)",
    lambda x, t, r, e: f"{x}.clamp_(min=0.125)",
    lambda x, t, r, e: f"{x}.fill_({number(r)})",
    lambda x, t, r, e: f"{x}.zero_()",
    lambda x, t, r, e: f"{x}.masked_fill_({x} > 0.3, {number(r)})",
    lambda x, t, r, e: f"{x}.masked_fill_({r.choice(e)} > 0.3, {number(r)})",
    lambda x, t, r, e: index_copy(x, t, r, e, "index_copy_"),
    lambda x, t, r, e: index_copy(x, t, r, e, "index_add_"),
    lambda x, t, r, e: f"{x}.index_fill_({(d := r.randrange(t.dim()))}, torch.tensor({distinct(r, t, d, 1)}), {number(r)})",
    lambda x, t, r, e: scatter(x, t, r, e, "scatter_"),
    lambda x, t, r, e: scatter(x, t, r, e, "scatter_add_"),
    lambda x, t, r, e: f"{x}.index_put_((torch.tensor({distinct(r, t, 0, 2)}),), torch.tensor({number(r)}))",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}] = {number(r)}",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}] = {r.choice(e)}",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}] += {number(r)}",
    lambda x, t, r, e: f"{x}[{part_of(r, t)}] *= {number(r)}",
    lambda x, t, r, e: f"{x}[{x} > 0.4] = {number(r)}",
    lambda x, t, r, e: f"{x}[torch.tensor({distinct(r, t, 0, 2)})] = {number(r)}",
    lambda x, t, r, e: f"{x}.lerp_({r.choice(e)}, 0.25)",
    lambda x, t, r, e: f"{x}.addcmul_({r.choice(e)}, {r.choice(e)}, value=0.5)",
    lambda x, t, r, e: f"torch.add({r.choice(e)}, {number(r)}, out={x})" if r.random() < 0.7 else f"torch.mul({r.choice(e)}, {r.choice(e)}, out={x})",
    lambda x, t, r, e: f"{x}.view(torch.complex64).mul_({r.choice(['1j', '2.0'])})",
    lambda x, t, r, e: f"torch.view_as_complex({x}).mul_({r.choice(['1j', '2.0', '(1 + 0.5j)'])})",
    lambda x, t, r, e: f"torch.view_as_complex({x}).{r.choice(['real', 'imag'])}.add_({number(r)})",
    lambda x, t, r, e: f"torch.view_as_complex({x}).conj().{r.choice(['mul_(1j)', 'real.fill_(0.5)'])}",
    lambda x, t, r, e: f"[p.add_(i + 1) for i, p in enumerate({x}.unbind({axis(r, t)}))]",
    lambda x, t, r, e: f"[p.mul_(i + 0.5) for i, p in enumerate({x}.split(1, {r.randrange(t.dim())}))]",
    lambda x, t, r, e: f"{x}.expand({[2] + list(t.shape)})[{r.choice([0, 1])}].add_({number(r)})",
    lambda x, t, r, e: f"{x}.diagonal().{r.choice(['zero_()', 'add_(1)', 'fill_(2)'])}",
    lambda x, t, r, e: f"{x}.t_()",
    lambda x, t, r, e: f"{x}.unsqueeze_({r.randint(0, t.dim())})",
    lambda x, t, r, e: f"{x}.squeeze_()",
    lambda x, t, r, e: f"{x}.transpose_({axis(r, t)}, {axis(r, t)})",
]


class Maker:
    """Makes a program line by line, running it as it grows."""

    def __init__(self, seed, lines):
        self.r = r = random.Random(seed)
        self.seed = seed
        self.space = {"torch": torch, "F": torch.nn.functional}
        self.text, self.tensors = [], []
        self.buffers = []
        self.inputs = []
        for i in range(r.randint(1, 2)):
            self.inputs.append(self.input(r))
        for i in range(r.choice([0, 0, 1, 1, 2])):
            shape = shape_of(r, 1, 4)
            turned = r.choice(["", "", ".transpose(0, -1)", ".mT.clone()"]) if len(shape) > 1 else ""
            self.buffers.append(f"torch.randn({shape}, generator=g){turned}")
        self.space["self"] = holder = type("Holder", (), {})()
        g = torch.Generator().manual_seed(seed)
        for i, b in enumerate(self.buffers):
            setattr(holder, f"b{i}", eval(b, {"torch": torch, "g": g}))
            self.tensors.append(f"self.b{i}")
        for i, t in enumerate(self.inputs):
            self.space[f"x{i}"] = t.clone()
            self.tensors.append(f"x{i}")
        if r.random() < 0.75:  # changes of an input are told, so most programs begin with a copy
            self.line("v0", f"x0{r.choice(['.clone()', ' * 1.0', '.clone()', '.clone(memory_format=torch.contiguous_format)'])}")
            self.tensors.remove("x0")
        want = r.randint(4, lines)
        tries = 0
        while len(self.text) < want and tries < 300:
            tries += 1
            self.grow()
        names = [t for t in self.tensors if not t.startswith("x")]
        keep = r.sample(names, min(len(names), r.randint(1, 4)))
        self.text.append("return " + ", ".join(keep) + ",")

    @staticmethod
    def input(r):
        shape = shape_of(r, 2, 4)
        t = torch.randn(shape)
        if len(shape) == 4 and r.random() < 0.5:
            return t.to(memory_format=torch.channels_last)
        if r.random() < 0.2:
            return t.transpose(0, -1)
        return t

    def value(self, name):
        return eval(name, self.space)

    def line(self, to, expression):
        saved = copy.deepcopy({k: v for k, v in self.space.items() if k not in ("torch", "F", "__builtins__")})
        text = f"{to} = {expression}" if to else expression
        if self.r.random() < 0.1:
            text = f"with torch.no_grad(): {text}"  # a graph of its own in the file
        try:
            before = {name: self.value(name).shape for name in self.tensors}
            exec(text, self.space)
            if "out=" in text and any(self.value(name).shape != shape for name, shape in before.items()):
                raise ValueError  # the tensor was made larger or smaller, which is deprecated
            if to:
                t = self.space[to]
                if not isinstance(t, torch.Tensor) or t.dtype != torch.float32 or t.numel() > 300 or t.numel() == 0 or t.dim() > 5:
                    raise ValueError
            for name in self.tensors:
                t = self.value(name)
                if not torch.isfinite(t).all() or t.abs().max() > 1e5 or t.dim() > 6:
                    raise ValueError
        except Exception:
            self.space.update(saved)
            if to:
                self.space.pop(to, None)
            return False
        self.text.append(text)
        if to:
            self.tensors.append(to)
        return True

    def grow(self):
        r = self.r
        name = self.tensors[-1] if r.random() < 0.4 else r.choice(self.tensors)
        t = self.value(name)
        kind = r.random()
        to = f"v{len(self.tensors)}"
        try:
            if kind < 0.5:
                self.line(to, r.choice(VIEWS)(name, t, r, self.tensors))
            elif kind < 0.62:
                self.line(to, r.choice(FRESH)(name, t, r, self.tensors))
            else:
                text = r.choice(WRITES)(name, t, r, self.tensors)
                if name.startswith("self.") and any(k in text for k in ("t_()", "squeeze_(", "transpose_(")):
                    return
                self.line(None, text)
        except (ValueError, IndexError, ZeroDivisionError):
            return

    def source(self):
        buffers = "".join(f"        self.register_buffer('b{i}', {b})\n" for i, b in enumerate(self.buffers))
        head = HEAD.format(seed=self.seed, buffers=buffers, names=", ".join(f"x{i}" for i in range(len(self.inputs))))
        return head + "".join(f"        {t}\n" for t in self.text)


def build(source):
    space = {}
    exec(source, space)
    return space["Program"]().eval()


def slim(data):
    """The archive without metadata and sample inputs, compressed."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in ("metadata", "from_node", "guards_code", "module_call_graph")}
        return [strip(v) for v in value] if isinstance(value, list) else value

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as a, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as b:
        for name in a.namelist():
            if "sample_inputs" in name or "/.data/" in name:
                continue
            content = a.read(name)
            if "/models/" in name:
                content = json.dumps(strip(json.loads(content)), separators=(",", ":")).encode()
            b.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def twice(call, samples):
    """Eager: the outputs of both calls, stacked."""
    results = []
    for sample in samples:
        with torch.no_grad():
            results.append([o.detach().clone().contiguous().numpy() for o in call(*[copy.deepcopy(t) for t in sample])])
    return [np.stack(o) for o in zip(*results)]


def close(a, b):
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)


def restride(t, values):
    out = torch.empty_strided(t.shape, t.stride())
    return out.copy_(values)


class Trial:
    def __init__(self, args):
        self.args = args
        self.folder = tempfile.mkdtemp()
        self.programs = 0
        self.counts = dict.fromkeys(("agree", "wrong", "warned", "refused", "no export", "export differs"), 0)
        self.reasons = {}

    def tosac(self, *command):
        return subprocess.run([self.args.tosac, *command], capture_output=True, text=True, timeout=300)

    def run(self, model, samples, want):
        """The outputs of a program on both samples, or a message."""
        inputs = []
        for i in range(len(samples[0])):
            path = f"{self.folder}/in{i}.npy"
            np.save(path, np.stack([s[i].contiguous().numpy() for s in samples]))
            inputs += ["-i", path]
        out = f"{self.folder}/out"
        for old in os.listdir(out) if os.path.isdir(out) else []:
            os.remove(f"{out}/{old}")
        done = self.tosac("run", model, *inputs, "-o", out, "--quiet")
        if done.returncode:
            return None, done.stderr.strip()
        got = [np.load(f"{out}/output_{i}.npy") for i in range(len(want))]
        return [g.reshape(w.shape) if g.size == w.size else g for g, w in zip(got, want)], done.stderr.strip()

    def judge(self, what, model, samples, want):
        got, message = self.run(model, samples, want)
        if got is None:
            crash = not message.startswith(("tosac:", self.folder)) and "error" not in message
            return ("wrong", message or "no message") if crash else ("refused", message)
        bad = [i for i, (g, w) in enumerate(zip(got, want)) if not close(g, w)]
        if bad and "depends on its order" in message:  # an operand shares some of the elements that are written
            return "warned", message
        return ("wrong", f"{what}: output {bad}") if bad else ("agree", "")

    @staticmethod
    def faithful(form, samples, want):
        """What was exported computes what the module does."""
        try:
            again = twice(copy.deepcopy(form).module(), samples)
        except Exception:
            return False
        return all(close(a, b) for a, b in zip(again, want))

    def compiled(self, model, samples, want):
        for target in ("TOSA-1.0+FP", "cpu"):
            pte = f"{self.folder}/m.pte"
            done = self.tosac("compile", model, "-t", target, "-o", pte, "--quiet")
            if done.returncode:
                yield "refused", f"{target}: {done.stderr.strip()}"
                continue
            verdict, why = self.judge(target, pte, samples, want)
            yield verdict, why

    def one(self, seed):
        self.programs += 1
        torch.manual_seed(seed)
        maker = Maker(seed, self.args.lines)
        source = maker.source()
        first = maker.inputs
        samples = [first, [restride(t, torch.randn(t.shape)) for t in first]]
        want = twice(build(source), samples)
        try:
            program = torch.export.export(build(source), tuple(first), strict=False)
        except Exception as problem:
            self.note(seed, "no export", str(problem).splitlines()[0][:100], source)
            return
        forms = [("as exported", program)]
        if seed % self.args.decompose == 0:
            try:
                forms.append(("decomposed", program.run_decompositions()))
            except Exception:
                pass
        for what, form in forms:
            data = io.BytesIO()
            torch.export.save(form, data)
            model = f"{self.folder}/m.pt2"
            with open(model, "wb") as f:
                f.write(slim(data.getvalue()))
            verdict, why = self.judge(what, model, samples, want)
            if verdict != "agree" and not self.faithful(form, samples, want):
                verdict, why = "export differs", what
            self.note(seed, verdict, why, source, model, samples, want)
            if verdict == "agree" and self.args.record and what == "as exported":
                self.keep(self.args.record, str(seed), model, samples, want)
            if verdict == "agree" and self.args.compile and seed % self.args.compile == 0:
                for verdict, why in self.compiled(model, samples, want):
                    self.note(seed, verdict, why, source, model, samples, want)

    def keep(self, folder, name, model, samples, want):
        os.makedirs(folder, exist_ok=True)
        with open(model, "rb") as a, open(f"{folder}/{name}.pt2", "wb") as b:
            b.write(a.read())
        arrays = {f"i{i}": np.stack([s[i].contiguous().numpy() for s in samples]) for i in range(len(samples[0]))}
        arrays.update({f"o{i}": w for i, w in enumerate(want)})
        np.savez_compressed(f"{folder}/{name}.npz", **arrays)

    def note(self, seed, verdict, why, source, model=None, samples=None, want=None):
        self.counts[verdict] += 1
        if verdict == "agree":
            return
        lines = why.splitlines() or [""]
        line = next((x for x in lines if "error" in x), lines[0])
        key = (verdict, "".join(c for c in line.split(": ", 1)[-1] if not c.isdigit())[:110])
        self.reasons.setdefault(key, []).append(seed)
        if verdict == "wrong":
            print(f"--- {seed}: {verdict}: {why}\n{source}", flush=True)
        if verdict in ("wrong", "refused") and self.args.keep and model:
            self.keep(self.args.keep, str(seed), model, samples, want)
            with open(f"{self.args.keep}/{seed}.py", "w") as f:
                f.write(f"# {verdict}: {why}\n{source}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tosac", default="build/tosac")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--lines", type=int, default=14)
    p.add_argument("--decompose", type=int, default=4)
    p.add_argument("--compile", type=int, default=0)
    p.add_argument("--keep")
    p.add_argument("--record")
    args = p.parse_args()
    torch.set_num_threads(1)
    trial = Trial(args)
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))  # the program that is being tried is the last
    for seed in range(args.seed, args.seed + args.count):
        if stopped:
            break
        try:
            trial.one(seed)
        except Exception as problem:
            trial.note(seed, "no export", f"{type(problem).__name__}: {problem}", "")
    for (verdict, why), seeds in sorted(trial.reasons.items(), key=lambda e: -len(e[1])):
        print(f"{len(seeds):5} {verdict}: {why} ({', '.join(map(str, seeds[:6]))})")
    print(f"{trial.programs} programs: " + ", ".join(f"{n} {k}" for k, n in trial.counts.items()))
    return trial.counts["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
