# SPDX-License-Identifier: Apache-2.0
"""An encoder and a decoder of speech, as Whisper has them, as two methods of one program.

    python speech.py OUT      (torch 2.6 or later, numpy; random weights: it shows the form, not the words)

OUT gets encode.pt2 (mel spectrum [1,16,64] -> the sound as vectors [1,32,32], and its keys and values for every layer of the decoder, in the buffers
ck0, cv0, ...), decode.pt2 (token [1,1], place [1] -> scores [1,1,64]; reads those buffers and its own caches k0, v0, ...), and calibration data.
The encoder changes ck0, cv0, ...; in the decoder buffers of these names are the same ones, which it only reads.
"""
import os
import sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MELS, FRAMES, DIM, HEADS, LAYERS, VOCAB, CONTEXT = 16, 64, 32, 4, 2, 64, 32
SOUND, HEAD = FRAMES // 2, DIM // HEADS


def split(x):
    return x.view(1, -1, HEADS, HEAD).transpose(1, 2)


def attend(q, k, v, mask=None):
    s = torch.matmul(q, k.transpose(2, 3)) * HEAD ** -0.5
    y = torch.matmul(torch.softmax(s if mask is None else s + mask, -1), v)
    return y.transpose(1, 2).reshape(1, -1, DIM)


class Block(nn.Module):
    def __init__(self, cross):
        super().__init__()
        self.n1, self.n2, self.n3 = (nn.LayerNorm(DIM) for _ in range(3))
        self.q, self.k, self.v, self.o = (nn.Linear(DIM, DIM) for _ in range(4))
        if cross:
            self.cq, self.co = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.w1, self.w2 = nn.Linear(DIM, 2 * DIM), nn.Linear(2 * DIM, DIM)

    def mlp(self, x):
        return x + self.w2(F.gelu(self.w1(self.n3(x))))


class Encode(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv1d(MELS, DIM, 3, padding=1), nn.Conv1d(DIM, DIM, 3, stride=2, padding=1)
        self.place = nn.Parameter(torch.randn(SOUND, DIM) * 0.1)
        self.blocks, self.norm = nn.ModuleList(Block(False) for _ in range(LAYERS)), nn.LayerNorm(DIM)
        self.ck, self.cv = (nn.ModuleList(nn.Linear(DIM, DIM) for _ in range(LAYERS)) for _ in range(2))
        for i in range(LAYERS):
            self.register_buffer(f"ck{i}", torch.zeros(1, HEADS, SOUND, HEAD))
            self.register_buffer(f"cv{i}", torch.zeros(1, HEADS, SOUND, HEAD))

    def forward(self, mel):
        x = F.gelu(self.c2(F.gelu(self.c1(mel)))).transpose(1, 2) + self.place
        for b in self.blocks:
            h = b.n1(x)
            x = b.mlp(x + b.o(attend(split(b.q(h)), split(b.k(h)), split(b.v(h)))))
        x = self.norm(x)
        for i in range(LAYERS):
            getattr(self, f"ck{i}").copy_(split(self.ck[i](x)))
            getattr(self, f"cv{i}").copy_(split(self.cv[i](x)))
        return x


class Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.at = nn.Embedding(VOCAB, DIM), nn.Embedding(CONTEXT, DIM)
        self.blocks, self.norm = nn.ModuleList(Block(True) for _ in range(LAYERS)), nn.LayerNorm(DIM)
        self.register_buffer("places", torch.arange(CONTEXT).view(1, -1), persistent=False)
        for i in range(LAYERS):
            self.register_buffer(f"ck{i}", torch.zeros(1, HEADS, SOUND, HEAD))
            self.register_buffer(f"cv{i}", torch.zeros(1, HEADS, SOUND, HEAD))
            self.register_buffer(f"k{i}", torch.zeros(1, HEADS, CONTEXT, HEAD))
            self.register_buffer(f"v{i}", torch.zeros(1, HEADS, CONTEXT, HEAD))

    def forward(self, token, place):
        mask = torch.where(self.places <= place, 0.0, -1e9)
        x = self.embed(token) + self.at(place)
        for i, b in enumerate(self.blocks):
            keys, values = getattr(self, f"k{i}"), getattr(self, f"v{i}")
            cross_keys, cross_values = getattr(self, f"ck{i}"), getattr(self, f"cv{i}")
            h = b.n1(x)
            keys.index_copy_(2, place, split(b.k(h)))
            values.index_copy_(2, place, split(b.v(h)))
            x = x + b.o(attend(split(b.q(h)), keys, values, mask))
            x = x + b.co(attend(split(b.cq(b.n2(x))), cross_keys, cross_values))
            x = b.mlp(x)
        return F.linear(self.norm(x), self.embed.weight)


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    encode, decode = Encode().eval().requires_grad_(False), Decode().eval().requires_grad_(False)
    mel = torch.randn(32, MELS, FRAMES)
    token, place = torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, dtype=torch.long)
    torch.export.save(torch.export.export(encode, (mel[:1].clone(),)), f"{out}/encode.pt2")
    encode(mel[:1])
    for name, buffer in encode.named_buffers():    # the decoder is calibrated on a sound that the encoder has heard: its buffers start with it
        dict(decode.named_buffers())[name].copy_(buffer)
    torch.export.save(torch.export.export(decode, (token, place)), f"{out}/decode.pt2")
    np.save(f"{out}/mel.npy", mel.numpy()[:, None])
    tokens = np.random.default_rng(1).integers(0, VOCAB, 4 * CONTEXT)
    np.savez(f"{out}/steps.npz", token=tokens.reshape(-1, 1, 1), place=(np.arange(len(tokens)) % CONTEXT).reshape(-1, 1))
    encode(mel[1:2])                               # what the two give in PyTorch, for the second sound
    for name, buffer in encode.named_buffers():
        dict(decode.named_buffers())[name].copy_(buffer)
    scores = [decode(torch.tensor([[tokens[i]]]), torch.tensor([i])).numpy().copy() for i in range(CONTEXT)]
    np.save(f"{out}/scores.npy", np.stack(scores))


if __name__ == "__main__":
    main()
