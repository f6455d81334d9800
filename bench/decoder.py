# SPDX-License-Identifier: Apache-2.0
"""A decoder of random weights as an export, and four samples beside it (OUT.npy).      decoder.py WIDTH LAYERS VOCABULARY LENGTH OUT.pt2"""
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

width, layers, vocabulary, length = map(int, sys.argv[1:5])
out = sys.argv[5]
torch.manual_seed(0)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.w


class Block(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = Norm(), Norm()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, c = x.shape
        y = self.norm1(x)
        q, k, v = (f(y).view(n, t, self.heads, c // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.block = nn.ModuleList(Block(width // 64) for _ in range(layers))
        self.norm, self.head = Norm(), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.token.weight

    def forward(self, ids):
        x = self.token(ids) + self.place
        for block in self.block:
            x = block(x)
        return self.head(self.norm(x))


with torch.no_grad():
    model = Decoder().eval()
    torch.export.save(torch.export.export(model, (torch.randint(0, vocabulary, (1, length)),)), out)
np.save(out.replace(".pt2", ".npy"), np.random.default_rng(0).integers(0, vocabulary, (4, length)))
