# SPDX-License-Identifier: Apache-2.0
"""A small decoder with a cache: trained on text files, exported as the methods of one program.

    python decoder.py OUT TEXT...      (torch 2.6 or later, tokenizers, numpy)

OUT gets tokenizer.json; forward.pt2 (a whole window, no cache), prefill.pt2 (a window of tokens, and where it begins) and decode.pt2 (one token and its
place), which share the caches k0, v0, ...; calibration data for each, windows.npy to measure perplexity on, and made.txt: the tokens that
PyTorch makes of "The program ", the most likely token every time.
RMS norms, rotary embedding, grouped-query attention, SwiGLU, tied embedding: Llama in small.
"""
import os
import sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB, DIM, LAYERS, HEADS, GROUPS, HIDDEN = 384, 32, 2, 4, 2, 64
CONTEXT, WINDOW, HEAD = 64, 16, DIM // HEADS
STEPS, BATCH = 1500, 16


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = Norm(), Norm()
        self.q, self.o = nn.Linear(DIM, DIM, bias=False), nn.Linear(DIM, DIM, bias=False)
        self.k, self.v = (nn.Linear(DIM, GROUPS * HEAD, bias=False) for _ in range(2))
        self.w1, self.w3 = (nn.Linear(DIM, HIDDEN, bias=False) for _ in range(2))
        self.w2 = nn.Linear(HIDDEN, DIM, bias=False)

    def keys(self, x, cos, sin):
        split = lambda y, n: y.view(y.shape[0], y.shape[1], n, HEAD).transpose(1, 2)
        h = self.norm1(x)
        return turn(split(self.q(h), HEADS), cos, sin), turn(split(self.k(h), GROUPS), cos, sin), split(self.v(h), GROUPS)

    def attend(self, x, q, k, v, mask):
        b, t, g = x.shape[0], q.shape[2], HEADS // GROUPS
        q = q.reshape(b, GROUPS, g * t, HEAD)
        s = torch.matmul(q, k.transpose(2, 3)) * HEAD ** -0.5 + torch.cat([mask] * g, 0)
        y = torch.matmul(torch.softmax(s, -1), v).reshape(b, HEADS, t, HEAD)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, DIM))
        h = self.norm2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


def turn(x, cos, sin):
    a, b = x[..., : HEAD // 2], x[..., HEAD // 2:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(VOCAB, DIM), Norm()
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        angle = torch.arange(CONTEXT)[:, None] / 1000 ** (torch.arange(0, HEAD, 2) / HEAD)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        self.register_buffer("places", torch.arange(CONTEXT).view(1, -1), persistent=False)

    def scores(self, x):
        return F.linear(self.norm(x), self.embed.weight)


class Forward(Base):
    def forward(self, tokens):
        t = tokens.shape[1]
        x, mask = self.embed(tokens), torch.full((t, t), -1e9).triu(1)
        for b in self.blocks:
            x = b.attend(x, *b.keys(x, self.cos[:t], self.sin[:t]), mask)
        return self.scores(x)


class Cached(Base):
    """n tokens from a place on: keys and values go into the caches, and all that is there is looked at."""

    def __init__(self, n):
        super().__init__()
        self.n = n
        self.register_buffer("ahead", torch.arange(n), persistent=False)
        for i in range(LAYERS):
            self.register_buffer(f"k{i}", torch.zeros(1, GROUPS, CONTEXT, HEAD))
            self.register_buffer(f"v{i}", torch.zeros(1, GROUPS, CONTEXT, HEAD))

    def forward(self, tokens, place):
        at = place + self.ahead if self.n > 1 else place
        cos, sin = self.cos.index_select(0, at), self.sin.index_select(0, at)
        mask = torch.where(self.places <= at.view(-1, 1), 0.0, -1e9)
        x = self.embed(tokens)
        for i, b in enumerate(self.blocks):
            q, k, v = b.keys(x, cos, sin)
            keys, values = getattr(self, f"k{i}"), getattr(self, f"v{i}")
            keys.index_copy_(2, at, k)
            values.index_copy_(2, at, v)
            x = b.attend(x, q, keys, values, mask)
        return self.scores(x)


def train(tokens):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Forward()
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.normal_(p, std=DIM ** -0.5)
    best = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.98), weight_decay=0.01)
    plan = torch.optim.lr_scheduler.OneCycleLR(best, 6e-3, STEPS)
    for step in range(STEPS):
        at = torch.randint(len(tokens) - CONTEXT, (BATCH,))
        batch = torch.stack([tokens[a:a + CONTEXT] for a in at])
        loss = F.cross_entropy(model(batch)[:, :-1].flatten(0, 1), batch[:, 1:].flatten())
        best.zero_grad()
        loss.backward()
        best.step()
        plan.step()
        if step % 250 == 249:
            print(f"step {step + 1}: {loss.item():.3f}", flush=True)
    return model.eval().requires_grad_(False)


def main():
    out, text = sys.argv[1], [open(f, encoding="utf-8").read() for f in sys.argv[2:]]
    os.makedirs(out, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=["<|endoftext|>"],
                                                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.save(f"{out}/tokenizer.json")
    tokens = torch.tensor(tokenizer.encode("<|endoftext|>".join(text)).ids)
    kept = len(tokens) // 10
    model = train(tokens[:-kept])
    weights = {k: v.half().float() for k, v in model.state_dict().items()}
    model.load_state_dict(weights)
    windows = tokens[-kept:][: kept // CONTEXT * CONTEXT].view(-1, 1, CONTEXT)
    one, place = torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, dtype=torch.long)
    torch.export.save(torch.export.export(model, (windows[0].clone(),)), f"{out}/forward.pt2")
    for name, n in (("prefill", WINDOW), ("decode", 1)):
        method = Cached(n).eval().requires_grad_(False)
        method.load_state_dict(weights, strict=False)
        torch.export.save(torch.export.export(method, (one.expand(1, n).contiguous(), place)), f"{out}/{name}.pt2")
    data = tokens[:16 * CONTEXT].numpy()
    np.save(f"{out}/calib.npy", data.reshape(-1, 1, CONTEXT))
    places = np.arange(len(data)) % CONTEXT
    np.savez(f"{out}/calib-decode.npz", tokens=data.reshape(-1, 1, 1), place=places.reshape(-1, 1))
    np.savez(f"{out}/calib-prefill.npz", tokens=data.reshape(-1, 1, WINDOW), place=places[::WINDOW].reshape(-1, 1))
    np.save(f"{out}/windows.npy", windows[:16].numpy())
    with torch.no_grad():
        scores = model(windows[:16, 0])
    print("perplexity", F.cross_entropy(scores[:, :-1].flatten(0, 1), windows[:16, 0, 1:].flatten()).exp().item())
    prompt = tokenizer.encode("The program ").ids
    made = list(prompt)
    with torch.no_grad():
        while len(made) < CONTEXT:
            made.append(int(model(torch.tensor([made]))[0, -1].argmax()))
    np.savetxt(f"{out}/made.txt", np.array(made)[None], fmt="%d")
    print(tokenizer.decode(made))


if __name__ == "__main__":
    main()
