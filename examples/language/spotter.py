# SPDX-License-Identifier: Apache-2.0
"""A keyword spotter that listens frame by frame: what it has heard is state.

    python spotter.py OUT      (torch 2.6 or later, numpy; trained for some seconds on tones)

OUT gets stream.pt2 (a frame of 16 bands [1,16,1] -> scores of 4 words [1,4]): each convolution keeps its last frames in a buffer and each frame costs the
same, whatever came before; frames.npy, 256 frames in a row for calibration and for a run; labels.npy, the tone of each; scores.npy, PyTorch's result.
"""
import os
import sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BANDS, WIDTH, WORDS, TAPS = 16, 24, 4, 5


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv1d(BANDS, WIDTH, TAPS), nn.Conv1d(WIDTH, WIDTH, TAPS, groups=WIDTH)
        self.mix, self.head = nn.Conv1d(WIDTH, WIDTH, 1), nn.Linear(WIDTH, WORDS)

    def whole(self, x):
        """All frames at once, for training: the same numbers as frame by frame."""
        h = F.relu(self.c1(F.pad(x, (TAPS - 1, 0))))
        h = F.relu(self.mix(self.c2(F.pad(h, (TAPS - 1, 0)))))
        return self.head(h.transpose(1, 2))


class Stream(Spotter):
    def __init__(self):
        super().__init__()
        self.register_buffer("heard1", torch.zeros(1, BANDS, TAPS - 1))
        self.register_buffer("heard2", torch.zeros(1, WIDTH, TAPS - 1))

    def forward(self, frame):
        x = torch.cat((self.heard1, frame), 2)
        self.heard1.copy_(x[:, :, 1:])
        h = torch.cat((self.heard2, F.relu(self.c1(x))), 2)
        self.heard2.copy_(h[:, :, 1:])
        return self.head(F.relu(self.mix(self.c2(h)))[:, :, 0])


def tones(n, frames, seed):
    """Noise with one of four tones that wander over the bands, each in its own way."""
    r = np.random.default_rng(seed)
    word = np.repeat(r.integers(0, WORDS, (n, frames // 16)), 16, 1)
    t = np.arange(frames)[None]
    band = np.select([word == 0, word == 1, word == 2], [t % 16, 15 - t % 16, np.full_like(word, 4)], 8 + (t // 2) % 4)
    x = 0.3 * r.standard_normal((n, BANDS, frames)).astype(np.float32)
    x[np.arange(n)[:, None], band, t] += 1.5
    return torch.from_numpy(x), torch.from_numpy(word)


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Spotter()
    best = torch.optim.Adam(model.parameters(), 5e-3)
    for step in range(150):
        x, y = tones(8, 64, step)
        loss = F.cross_entropy(model.whole(x).flatten(0, 1), y.flatten())
        best.zero_grad()
        loss.backward()
        best.step()
    stream = Stream()
    stream.load_state_dict(model.state_dict(), strict=False)
    stream.eval().requires_grad_(False)
    x, y = tones(1, 256, 9999)
    torch.export.save(torch.export.export(stream, (x[:, :, :1].clone(),)), f"{out}/stream.pt2")
    scores = model.whole(x)[0].detach()
    print(f"{100 * (scores.argmax(-1) == y[0]).float().mean():.0f} % of the frames are right")
    np.save(f"{out}/frames.npy", x[0].T.numpy().reshape(256, 1, BANDS, 1))
    np.save(f"{out}/labels.npy", y[0].numpy())
    np.save(f"{out}/scores.npy", scores.numpy()[:, None])


if __name__ == "__main__":
    main()
