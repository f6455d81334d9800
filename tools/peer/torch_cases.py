# SPDX-License-Identifier: Apache-2.0
"""Writes test/fixture/torch: small exported programs and what eager PyTorch gives for them, which
test/unit/torch_cases.c runs.  NAME.pt2 is the export without metadata; NAME.npz holds inputs i0, ... and
outputs o0, ..., Python's numbers among them.        torch_cases.py FOLDER [NAME...]
"""
import json
import os
import sys
import zipfile

import numpy as np
import torch
import torch.utils._pytree as tree
from torch._higher_order_ops.map import map as rows_of
from torch._higher_order_ops.scan import scan

T = torch.tensor
MASK = [True, False, True, True, False]


def in_place_mask(x):
    mask = torch.ones(5, dtype=torch.bool)
    mask[2] = False
    return x[mask]


def dead_random(x):
    noise = torch.empty(2, 3)
    noise[0].uniform_(0, 1)
    like = torch.zeros_like(torch.rand(2, 3))
    torch.nn.functional.dropout(x, 0.5, training=True)
    return x + like


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def forward(self, x):
        def step(carried, row):
            new = torch.tanh(self.a(carried) + self.b(row))
            return new, new * 2

        return scan(step, torch.zeros(3), x, reverse=True)


X, Y, P = torch.randn(5, 5), torch.randn(3, 4), torch.randn(2, 3)
CASES = {
    # masks and counts that are made in forward, or lifted out of it
    "known_masks": (lambda x: (x[T(MASK)], x[:, ~T(MASK)], x[torch.arange(5) > 2], in_place_mask(x),
                               x[torch.tril(torch.ones(5, 5)).bool()], torch.masked_select(x, torch.eye(5).bool())), (X,)),
    "known_places": (lambda x: (x[T([1, 0, 2, 0, 1]).nonzero().squeeze(1)], x[torch.where(T([1, 0, 2, 0, 1]) > 0)[0]],
                                x[torch.unique(T([3, 1, 1, 4]))], x[torch.isin(torch.arange(5), T([1, 3]))]), (X,)),
    "known_repeats": (lambda y: (torch.repeat_interleave(y, T([1, 2, 3]), dim=0), y[torch.repeat_interleave(T([1, 0, 2]))],
                                 torch.repeat_interleave(y, T([0, 3, 4, 6]).diff(), dim=0)), (Y,)),
    "known_lengths": (lambda x: torch.split(x, T([2, 3]).tolist())[1], (X,)),
    # random numbers that nothing reads
    "dead_random": (dead_random, (P,)),
    # graphs that never run are not read
    "dead_branch": (lambda x: torch.cond(T(True), lambda x: x + 1, lambda x: torch.linalg.svdvals(x)[0] + x, (x,)), (P,)),
    # one graph for every row
    "map": (lambda x, y: rows_of(lambda r, y: (r * y, r.sum()), x, y), (X, torch.randn(5))),
    "scan": (Step(), (torch.randn(4, 3),)),
    # places that count from the end
    "from_the_end": (lambda x, i: (torch.take_along_dim(x, T([[-1, 0, 1, 2, -2]]), 0), torch.take_along_dim(x, i, 1),
                                   x.index_fill(0, T([-1, 1]), 9.0), x.take(T([-1, 3])), x[i]), (X, T([[-1, 2, 0, 4, -5]]))),
    # Python's numbers among the outputs
    "numbers": (lambda x: (3, x * 2, 1.5, None, True, x.shape[1]), (P,)),
}


class Called(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return tuple(tree.tree_leaves(self.f(*args)))


def slim(value):
    if isinstance(value, dict):
        return {k: slim(v) for k, v in value.items() if k not in ("metadata", "from_node", "guards_code", "sample_inputs")}
    return [slim(v) for v in value] if isinstance(value, list) else value


def write(folder, name, f, args):
    with torch.no_grad():
        module = Called(f).eval()
        program = torch.export.export(module, args)
        given = module(*args)
    torch.export.save(program, f"{folder}/{name}.tmp.pt2")
    with zipfile.ZipFile(f"{folder}/{name}.tmp.pt2") as z, zipfile.ZipFile(f"{folder}/{name}.pt2", "w", zipfile.ZIP_DEFLATED) as out:
        for member in z.namelist():
            if "sample_inputs" in member or "/.data/" in member:
                continue
            data = z.read(member)
            if "/models/" in member:
                data = json.dumps(slim(json.loads(data)), separators=(",", ":")).encode()
            out.writestr(zipfile.ZipInfo(member), data, zipfile.ZIP_DEFLATED)
    os.remove(f"{folder}/{name}.tmp.pt2")
    arrays = {f"i{k}": a.numpy() for k, a in enumerate(args)}
    given = [g for g in given if g is not None]
    arrays |= {f"o{k}": g.detach().numpy() if isinstance(g, torch.Tensor) else np.array(g) for k, g in enumerate(given)}
    np.savez_compressed(f"{folder}/{name}.npz", **arrays)


torch.manual_seed(0)
for name, (f, args) in CASES.items():
    if len(sys.argv) < 3 or name in sys.argv[2:]:
        write(sys.argv[1], name, f, args)
