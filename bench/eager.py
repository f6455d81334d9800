# SPDX-License-Identifier: Apache-2.0
"""The median time of one sample in PyTorch eager, one thread.      eager.py MODEL.pt2 RUNS DATA..."""
import sys
import time

import numpy as np
import torch

torch.set_num_threads(1)
program = torch.export.load(sys.argv[1]).module()
inputs = []
for path in sys.argv[3:]:
    data = np.load(path)
    data = data[data.files[0]] if hasattr(data, "files") else data
    inputs.append(torch.from_numpy(data[:1].copy()))
with torch.no_grad():
    for _ in range(3):
        program(*inputs)
    seconds = []
    for _ in range(int(sys.argv[2])):
        begin = time.perf_counter()
        program(*inputs)
        seconds.append(time.perf_counter() - begin)
print(sorted(seconds)[len(seconds) // 2])
