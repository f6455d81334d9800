#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records exports with dynamic sizes, and what PyTorch computes at five sizes of each.

    dynamic_fixtures.py OUT [NAME...]

OUT/NAME/model.pt2; samples of one size, OUT/NAME/one.npz, and of four, OUT/NAME/calib.npz (arr_0, arr_1, ...); and for
each of the five sizes OUT/NAME/SIZES.npz with samples along a first axis of their own (in0, eight of them, fewer of
large ones) and what is expected of them (out0).  The small ones of test/fixture/dynamic have xSIZES.npy and ySIZES.npy."""
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.export import Dim, export
import torch.nn.functional as F


class Mlp(nn.Module):
    """Dynamic batch."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(12, 16), nn.Linear(16, 5), nn.LayerNorm(16)

    def forward(self, x):
        return F.softmax(self.b(self.norm(F.gelu(self.a(x)))), -1)


class Block(nn.Module):
    """A transformer block: position table, causal mask, attention over a dynamic sequence."""

    def __init__(self, width=16, heads=2, longest=32):
        super().__init__()
        self.heads = heads
        self.position = nn.Embedding(longest, width)
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        n, seq, width = x.shape
        x = x + self.position(torch.arange(seq))
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (t.reshape(n, seq, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        mask = torch.ones(seq, seq, dtype=torch.bool).tril()
        score = (q @ k.transpose(2, 3)) * (width // self.heads) ** -0.5
        score = score.masked_fill(~mask, float("-inf"))
        y = (F.softmax(score, -1) @ v).transpose(1, 2).reshape(n, seq, width)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Sdpa(nn.Module):
    """scaled_dot_product_attention, mean over the sequence: dynamic batch and sequence."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv, self.head = nn.Linear(width, 3 * width), nn.Linear(width, 4)

    def forward(self, x):
        n, seq, width = x.shape
        q, k, v = (t.reshape(n, seq, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, seq, width)
        return self.head(y.mean(1))


class Speech(nn.Module):
    """Convolutions with stride 2 along a dynamic time axis."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(8, 12, 3, 2, 1), nn.Conv1d(12, 16, 5, 2, 2)
        self.c = nn.Conv1d(16, 16, 3, 1, 1, groups=16)
        self.head = nn.Conv1d(16, 6, 1)

    def forward(self, x):
        x = F.relu(self.b(F.relu(self.a(x))))
        return F.log_softmax(self.head(F.relu(self.c(x))), 1)


class Segment(nn.Module):
    """Fully convolutional, strides, skip connection, upsampled to the input: dynamic H and W."""

    def __init__(self):
        super().__init__()
        self.stem, self.down = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 12, 3, 2, 1)
        self.norm = nn.BatchNorm2d(12)
        self.mid, self.up = nn.Conv2d(12, 12, 3, 1, 1), nn.Conv2d(12, 8, 1)
        self.head = nn.Conv2d(16, 2, 3, 1, 1)

    def forward(self, x):
        a = F.relu(self.stem(x))
        b = F.relu(self.norm(self.down(a)))
        b = F.relu(self.mid(F.max_pool2d(b, 2)))
        b = F.interpolate(self.up(b), scale_factor=4.0, mode="nearest")
        return self.head(torch.cat([a, b], 1))


class Resized(nn.Module):
    """Features of any size, resized to the input's: the factor depends on the size."""

    def __init__(self):
        super().__init__()
        self.down, self.head = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        y = self.head(F.relu(self.down(x)))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)


class Classify(nn.Module):
    """Strides of every parity, padded pools, global average: dynamic H and W."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 12, 3, 2, 1)
        self.skip, self.head = nn.Conv2d(8, 12, 1, 2), nn.Linear(12, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.a(F.pad(x, (0, 1, 0, 1)))), 3, 2, 1)
        x = F.relu(self.b(x) + self.skip(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Recurrent(nn.Module):
    """An LSTM of fixed length: dynamic batch."""

    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(6, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


class Pooled(nn.Module):
    """The mean over a dynamic sequence: of few numbers it is wider than of many."""

    def __init__(self):
        super().__init__()
        self.a, self.head = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.tanh(3 * self.a(x)).mean(1))


class Tokens(nn.Module):
    """A decoder's layer: tokens, products without biases, a mask that is added."""

    def __init__(self, vocabulary=24, width=8, longest=20):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("mask", torch.full((longest, longest), -1e9).triu(1), persistent=False)

    def forward(self, tokens):
        seq = tokens.shape[1]
        x = self.embed(tokens)
        q, k, v = self.qkv(x).chunk(3, -1)
        score = torch.matmul(q, k.transpose(1, 2)) * 0.35 + self.mask[:seq, :seq]
        return self.head(x + self.out(torch.matmul(F.softmax(score, -1), v)))


# name: model, the example's shape, dynamic axes {axis: (name, multiple, lo, hi)}, five sizes, sizes of calibration samples
B = ("batch", 1, 1, 64)
MODELS = {
    "mlp": (Mlp, (4, 12), {0: B}, [(1,), (2,), (7,), (16,), (64,)], [(8,), (1,), (3,), (20,)]),
    "block": (Block, (1, 12, 16), {1: ("seq", 1, 2, 32)}, [(2,), (5,), (8,), (21,), (32,)],
              [(24,), (2,), (10,), (32,)]),
    "sdpa": (Sdpa, (2, 12, 16), {0: ("batch", 1, 1, 8), 1: ("seq", 1, 2, 48)},
             [(1, 2), (2, 5), (3, 17), (8, 33), (5, 48)], [(1, 16), (1, 2), (1, 6), (1, 48)]),
    "speech": (Speech, (1, 8, 40), {2: ("time", 1, 8, 200)}, [(8,), (33,), (50,), (127,), (200,)],
               [(80,), (8,), (30,), (200,)]),
    "segment": (Segment, (1, 3, 24, 32), {2: ("rows", 4, 2, 16), 3: ("cols", 4, 2, 16)},
                [(8, 8), (16, 24), (28, 20), (32, 60), (64, 64)], [(24, 32), (8, 8), (16, 40), (64, 64)]),
    "resized": (Resized, (1, 3, 20, 24), {2: ("rows", 1, 8, 64), 3: ("cols", 1, 8, 64)},
                [(8, 8), (15, 24), (21, 17), (32, 63), (64, 64)], [(24, 32), (8, 8), (17, 40), (64, 64)]),
    "classify": (Classify, (1, 3, 24, 32), {2: ("rows", 1, 16, 96), 3: ("cols", 1, 16, 96)},
                 [(16, 16), (17, 32), (33, 50), (64, 39), (96, 96)], [(40, 40), (16, 16), (24, 60), (96, 96)]),
    "pooled": (Pooled, (1, 12, 4), {1: ("seq", 1, 2, 64)}, [(2,), (7,), (64,)], [(64,), (2,), (8,)]),
    "tokens": (Tokens, (1, 6), {1: ("seq", 1, 2, 18)}, [(2,), (7,), (18,)], [(18,), (2,), (9,)]),
    "recurrent": (Recurrent, (2, 5, 6), {0: ("batch", 1, 1, 16)}, [(1,), (2,), (3,), (9,), (16,)], [(4,), (1,), (2,), (12,)]),
}


SMALL = {"pooled", "tokens"}  # of test/fixture/dynamic, recorded when named


def numbers(shape, tokens=0):
    """Multiples of 1/16: small in an archive, and exact in half precision; or so many tokens."""
    if tokens:
        return torch.randint(0, tokens, shape)
    return torch.round(torch.randn(shape) * 16) / 16


def some(shape, most):
    """How many samples of this shape: fewer of large ones."""
    return max(2, min(most, 2 ** 15 // int(np.prod(shape))))


def shape_at(shape, axes, sizes):
    shape = list(shape)
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    return shape


def without_paths(file):
    """Stack traces name the files of the environment that made the export."""
    with zipfile.ZipFile(file) as old:
        members = {i.filename: old.read(i) for i in old.infolist()}
    with zipfile.ZipFile(file, "w") as new:
        for name, data in members.items():
            if name.endswith("models/model.json"):
                data = re.sub(rb'/[^ \\"]*/(site-packages|lib/python3[.0-9]*)/', b"", data)
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def record(out, name):
    make, shape, axes, sizes, calib = MODELS[name]
    torch.manual_seed(7)
    model = make().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
    dims = {}
    for axis, (word, multiple, lo, hi) in axes.items():
        dim = Dim(word, min=lo, max=hi)
        dims[axis] = multiple * dim if multiple > 1 else dim
    tokens = model.embed.num_embeddings if hasattr(model, "embed") else 0
    program = export(model, (numbers(shape, 3) if tokens else torch.randn(shape),), dynamic_shapes=(dims,))
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / "model.pt2")
    without_paths(folder / "model.pt2")
    np.savez(folder / "one.npz", x=numbers([16] + shape_at(shape, axes, calib[0]), tokens).numpy())
    samples = [numbers(at, tokens) for at in (shape_at(shape, axes, size) for size in calib) for _ in range(some(at, 12))]
    np.savez(folder / "calib.npz", *(x.numpy() for x in samples))
    for size in sizes:
        at = shape_at(shape, axes, size)
        x = numbers([some(at, 8)] + at, tokens)
        with torch.no_grad():
            y = torch.stack([model(sample) for sample in x])
        at = "x".join(map(str, size))
        if name in SMALL:
            np.save(folder / f"x{at}.npy", x.numpy())
            np.save(folder / f"y{at}.npy", y.numpy())
        else:
            np.savez(folder / f"{at}.npz", in0=x.numpy(), out0=y.numpy())


def main():
    out = Path(sys.argv[1])
    for name in sys.argv[2:] or [name for name in MODELS if name not in SMALL]:
        record(out, name)


# Exports carry the path of the file that the model is in: only its name.
if __name__ == "__main__":
    exec(compile(Path(__file__).read_text(), "dynamic_fixtures.py", "exec"), {"__name__": "dynamic_fixtures"})
else:
    main()
