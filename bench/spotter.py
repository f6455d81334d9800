#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A keyword spotter of DS-CNN's shape (four blocks of 64 channels, 49 frames of 10 cepstra, 12 words), trained for a minute on synthetic words.

spotter.py FOLDER, by a Python with torch.  A word is a path of two formants with loudness, said at other speeds, heights and levels, in noise.  The folder gets model.pt2,
calib.npz, test.npz and test_label.npy, as bench/rate.py takes them."""
import os
import sys

import numpy as np
import torch
from torch import nn

WORDS, FRAMES, BANDS = 12, 49, 40
torch.manual_seed(0)
np.random.seed(0)
torch.set_num_threads(1)


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(1, 64, (10, 4), stride=2, padding=(5, 1), bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        for _ in range(4):
            layers += [nn.Conv2d(64, 64, 3, padding=1, groups=64, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                       nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(64, WORDS)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


words = np.random.RandomState(7)
height, loud = words.uniform(2, 38, (WORDS, 2, 5)), words.uniform(.2, 1, (WORDS, 5))
band = np.arange(BANDS)
cepstra = np.cos(np.pi / BANDS * (band[None] + .5) * np.arange(10)[:, None])


def said(word, draw):
    knots, time = np.linspace(0, 1, 5), np.linspace(0, 1, FRAMES)
    length = draw.uniform(.5, .9)
    begin = draw.uniform(0, 1 - length)
    at = np.clip((time - begin) / length, 0, 1)
    on = (time >= begin) & (time <= begin + length)
    at = at**draw.uniform(.7, 1.4)
    higher = draw.normal(0, 1.5)
    energy = np.zeros((FRAMES, BANDS))
    for formant in range(2):
        centre = np.interp(at, knots, height[word, formant]) + higher + draw.normal(0, .4, FRAMES).cumsum() * .15
        level = np.interp(at, knots, loud[word]) * on * draw.uniform(.6, 1.4)
        energy += level[:, None] * np.exp(-.5 * ((band[None] - centre[:, None]) / draw.uniform(1.5, 2.5))**2)
    energy *= draw.uniform(.3, 3)
    energy += draw.uniform(.02, .3) * np.abs(draw.normal(1, .5, (FRAMES, BANDS))).clip(.05)
    return np.log(energy) @ cepstra.T / 6


def some(n, seed):
    draw = np.random.RandomState(seed)
    label = draw.randint(0, WORDS, n)
    return np.stack([said(word, draw) for word in label])[:, None].astype(np.float32), label.astype(np.int64)


(x, y), (test, label), (calib, _) = some(4000, 1), some(1000, 2), some(128, 3)
x, y = torch.tensor(x), torch.tensor(y)
model = Spotter()
learn = torch.optim.Adam(model.parameters(), 2e-3)
for epoch in range(8):
    model.train()
    order = torch.randperm(len(x))
    for i in range(0, len(x), 64):
        learn.zero_grad()
        nn.functional.cross_entropy(model(x[order[i:i + 64]]), y[order[i:i + 64]]).backward()
        learn.step()
    for group in learn.param_groups:
        group["lr"] *= .75
model.eval()
with torch.no_grad():
    print(f"{(model(torch.tensor(test)).argmax(1).numpy() == label).mean():.3f} of the test words are right")
os.makedirs(sys.argv[1], exist_ok=True)
torch.export.save(torch.export.export(model, (torch.tensor(calib[:1]),)), f"{sys.argv[1]}/model.pt2")
np.savez(f"{sys.argv[1]}/calib.npz", x=calib)
np.savez(f"{sys.argv[1]}/test.npz", x=test)
np.save(f"{sys.argv[1]}/test_label.npy", label)
