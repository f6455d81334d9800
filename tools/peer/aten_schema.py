#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The arguments of PyTorch's operators that src/read/pt2/aten.def names, as test/unit/aten_schema.h.

    tools/peer/aten_schema.py > test/unit/aten_schema.h        (a Python with torch and torchao)
"""
import pathlib
import re

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (quantized_decomposed)

table = pathlib.Path(__file__).parents[2] / "src/read/pt2/aten.def"
text = re.sub(r"/\*.*?\*/", "", table.read_text(), flags=re.S)
rows = re.findall(r'^(?:ATEN|VIEW|WRITTEN)\( ((?:"[^"]*"\s*)+),', text, flags=re.M)

print("/* Made by tools/peer/aten_schema.py from torch", torch.__version__.split("+")[0] + ". */")
for row in rows:
    for name in "".join(re.findall(r'"([^"]*)"', row)).split():
        full = name if name.count(".") == 2 else f"aten.{name}" if "." in name else f"aten.{name}.default"
        library, operator, overload = full.split(".")
        for form in (operator, operator + "_"):
            packet = getattr(getattr(torch.ops, library), form, None)
            found = getattr(packet, overload, None) if packet is not None else None
            if found is not None:
                break
        else:
            raise SystemExit(f"PyTorch has no {full}")
        arguments = " ".join(a.name for a in found._schema.arguments)
        print(f'{{"{full}", "{arguments}"}},')
