# SPDX-License-Identifier: Apache-2.0
"""Records test/fixture/pictures: 100 pictures and what torchvision's transforms make of them.  pictures.py FOLDER

Needs torchvision; the pictures are drawn, so that they belong to nobody."""
import os
import sys

import numpy as np
import torch

# torchvision's compiled operators need not match this torch; nothing here uses them.
fake = torch.library.register_fake
torch.library.register_fake = lambda name, *a, **k: (lambda f: f) if str(name).startswith("torchvision::") else fake(name, *a, **k)

import torchvision
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
dice = np.random.default_rng(16)


def drawn(h, w):
    """Waves of several lengths, a few hard edges, some noise."""
    y, x = np.mgrid[0:h, 0:w]
    out = np.zeros((h, w, 3))
    for c in range(3):
        for _ in range(4):
            fy, fx, at = dice.normal(0, .12), dice.normal(0, .12), dice.uniform(0, 6.3)
            out[..., c] += np.sin(fy * y + fx * x + at)
    out = (out - out.min()) / (np.ptp(out) + 1e-9) * 255
    for _ in range(3):
        top, left = dice.integers(0, h), dice.integers(0, w)
        out[top:top + max(1, h // 5), left:left + max(1, w // 4)] = dice.integers(0, 256, 3)
    return np.clip(out + dice.normal(0, 3, out.shape), 0, 255).astype(np.uint8)


files = []
for k in range(100):
    big = k % 25 == 0
    h, w = (int(v) for v in (dice.integers(150, 260, 2) if big else dice.integers(8, 90, 2)))
    picture, name = Image.fromarray(drawn(h, w)), f"{k:03d}"
    if k % 2:
        name += ".png"
        kind = (k // 2) % 7
        picture = {1: lambda: picture.convert("L"), 2: lambda: picture.convert("P"), 3: lambda: picture.convert("RGBA"), 4: lambda: picture.convert("1"),
                   5: lambda: picture.convert("LA")}.get(kind, lambda: picture)()
        picture.save(os.path.join(folder, name), optimize=True)
    else:
        name += ".jpg" if k % 4 else ".jpeg"
        if k % 10 == 4:
            picture = picture.convert("L")
        picture.save(os.path.join(folder, name), quality=int(dice.integers(40, 96)), subsampling=int(dice.integers(0, 3)), progressive=bool(dice.integers(0, 2)))
    files.append(name)

rules = {
    "shorter": transforms.Compose([transforms.Resize(28), transforms.CenterCrop(24)]),
    "both": transforms.Compose([transforms.Resize((20, 31))]),
    "cubic": transforms.Compose([transforms.Resize(28, interpolation=InterpolationMode.BICUBIC), transforms.CenterCrop(24)]),
    "padded": transforms.Compose([transforms.CenterCrop((33, 40))]),
}
for name, rule in rules.items():
    out = np.stack([np.asarray(rule(Image.open(os.path.join(folder, f)).convert("RGB"))) for f in files])
    np.savez_compressed(os.path.join(folder, name + ".npz"), x=out)
whole = transforms.Compose([rules["shorter"], transforms.ToTensor(), transforms.Normalize([.485, .456, .406], [.229, .224, .225])])
few = torch.stack([whole(Image.open(os.path.join(folder, f)).convert("RGB")) for f in files[:8]]).numpy()
np.savez_compressed(os.path.join(folder, "normal.npz"), x=few)
grey = np.stack([np.asarray(rules["shorter"](Image.open(os.path.join(folder, f)).convert("L"))) for f in files])[..., None]
np.savez_compressed(os.path.join(folder, "grey.npz"), x=grey)
with open(os.path.join(folder, "origin.txt"), "w") as f:
    f.write(f"Drawn and recorded by tools/peer/pictures.py with torchvision {torchvision.__version__.split('+')[0]}, Pillow {Image.__version__}.\n")
