# SPDX-License-Identifier: Apache-2.0
"""Drawn hands as data for the hand landmark network, and how far its keypoints move.

    hands.py draw FOLDER SEED COUNT     so many pictures, [1, 224, 224, 3] from 0 to 1
    hands.py error FLOAT OTHER...       folders that `tosac run -o` wrote: distances in % of the picture's side
"""
import pathlib
import sys
from math import cos, sin

import numpy as np

SIDE = 224


def hand(rng):
    """A palm, a wrist and five fingers of skin, darker at the edges, on a ground that is shaded."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    ground = rng.uniform(0.1, 0.9, 3)
    right, down = rng.uniform(-0.2, 0.2, 2)
    picture = ground[None, None] + (right * (x - 0.5) + down * (y - 0.5))[..., None]
    skin = np.array([0.85, 0.62, 0.5]) * rng.uniform(0.55, 1.1)
    turn, size = rng.uniform(-0.5, 0.5), rng.uniform(0.85, 1.1)
    middle = 0.5 + rng.uniform(-0.05, 0.05, 2)
    spread = rng.uniform(0.7, 1.2)
    light = np.zeros((SIDE, SIDE))

    def place(u, v):
        return (middle[0] + size * (u * cos(turn) - v * sin(turn)),
                middle[1] + 0.12 + size * (u * sin(turn) + v * cos(turn)))

    def limb(begin, end, thick, thin):
        (x0, y0), (x1, y1) = place(*begin), place(*end)
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0, 1)
        far = np.hypot(x - x0 - along * dx, y - y0 - along * dy) / (size * (thick + (thin - thick) * along))
        np.maximum(light, np.where(far < 1, 1 - 0.5 * far**2, 0), out=light)

    limb((0, 0.3), (0, 0.1), 0.10, 0.10)
    for begin, end, thick, thin in (((-0.05, 0.08), (-0.09, -0.1), 0.09, 0.06), ((0.05, 0.08), (0.08, -0.1), 0.09, 0.06),
                                    ((0, 0.08), (0, -0.1), 0.10, 0.07)):
        limb(begin, end, thick, thin)
    for k, (u, length) in enumerate(((-0.115, 0.23), (-0.04, 0.27), (0.035, 0.25), (0.105, 0.19))):
        angle, length = spread * (-0.28 + 0.18 * k), length * rng.uniform(0.9, 1.05)
        limb((u, -0.1), (u + length * sin(angle), -0.1 - length * cos(angle)), 0.038, 0.026)
    limb((-0.09, 0.05), (-0.09 - 0.22 * sin(0.9 * spread), 0.05 - 0.22 * cos(0.9 * spread)), 0.045, 0.03)
    shown = np.where(light[..., None] > 0, skin * (0.55 + 0.45 * light[..., None]), picture)
    return np.clip(shown + rng.normal(0, 0.01, shown.shape), 0, 1).astype(np.float32)[None]


def draw(folder, seed, count):
    rng = np.random.default_rng(int(seed))
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for i in range(int(count)):
        np.save(f"{folder}/{i:02}.npy", hand(rng))


def points(folder):
    return np.load(f"{folder}/output_0.npy").reshape(-1, 21, 3)[..., :2]


def error(reference, *others):
    for other in others:
        off = np.linalg.norm(points(other) - points(reference), axis=-1) * 100 / SIDE
        print(f"{other}: mean {off.mean():.2f} %, largest {off.max():.2f} %; "
              f"means of the pictures {' '.join(f'{v:.2f}' for v in off.mean(1))}")


if __name__ == "__main__":
    {"draw": draw, "error": error}[sys.argv[1]](*sys.argv[2:])
