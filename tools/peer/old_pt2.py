# SPDX-License-Identifier: Apache-2.0
"""Writes test/fixture/pt2-2.6 and pt2-2.8: archives laid out as torch 2.6 and 2.8 lay them out.

Run with any torch from 2.9 on: the program is exported by that version and its schema numbers, missing
members and weights (pickled by torch.save) are put as the older ones wrote them.        old_pt2.py FOLDER
"""
import io
import json
import os
import sys
import zipfile

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.tied = self.w
        self.register_buffer("turned", torch.arange(6.0).reshape(2, 3).t())
        self.register_buffer("part", torch.arange(20, dtype=torch.int16)[4:10])
        self.register_buffer("words", torch.tensor([1, 65535], dtype=torch.int32).to(torch.uint16))
        self.register_buffer("kept_out", torch.tensor([True, False]), persistent=False)

    def forward(self, x):
        y = torch.nn.functional.linear(x, self.w) @ self.tied
        return y, self.turned, self.part, self.words, self.kept_out


def saved(tensors):
    out = io.BytesIO()
    torch.save(dict(tensors), out)
    return out.getvalue()


def slim(value):
    """Without what is null, and without metadata that a reader does not need."""
    if isinstance(value, dict):
        return {k: slim(v) for k, v in value.items() if v is not None and k not in ("from_node", "torch_fn", "guards_code")}
    return [slim(v) for v in value] if isinstance(value, list) else value


def main(folder):
    program = torch.export.export(Model().eval(), (torch.ones(2, 3),))
    out = io.BytesIO()
    torch.export.save(program, out)
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    text = zipfile.ZipFile(out).read("archive/models/model.json").decode().replace(here, "")
    model = slim(json.loads(text))

    os.makedirs(f"{folder}/pt2-2.6", exist_ok=True)
    old = json.loads(json.dumps(model))
    old["schema_version"] = {"major": 8, "minor": 2}
    for node in old["graph_module"]["graph"]["nodes"]:
        node.pop("name", None)
        for argument in node["inputs"]:
            argument.pop("kind", None)
    with zipfile.ZipFile(f"{folder}/pt2-2.6/model.pt2", "w") as z:
        z.writestr(zipfile.ZipInfo("serialized_exported_program.json"), json.dumps(old))
        z.writestr(zipfile.ZipInfo("serialized_state_dict.pt"), saved(program.state_dict))
        z.writestr(zipfile.ZipInfo("serialized_constants.pt"), saved(program.constants))
        z.writestr(zipfile.ZipInfo("serialized_example_inputs.pt"), b"")
        z.writestr(zipfile.ZipInfo("version"), "8.2")

    os.makedirs(f"{folder}/pt2-2.8", exist_ok=True)
    model["schema_version"] = {"major": 8, "minor": 8}
    writer = torch._C.PyTorchFileWriter(f"{folder}/pt2-2.8/model.pt2")
    for name, data in (
        ("data/weights/model.pt", saved(program.state_dict)),
        ("data/constants/model.pt", saved(program.constants)),
        ("models/model.json", json.dumps(model).encode()),
        ("archive_format", b"pt2"),
        ("archive_version", b"0"),
    ):
        writer.write_record(name, data, len(data))
    writer.write_end_of_file()


def itself(folder):
    """FOLDER/pt2-2.x: the same program as this very torch writes it, less sample inputs and what no reader needs.        old_pt2.py FOLDER itself"""
    out = io.BytesIO()
    torch.export.save(torch.export.export(Model().eval(), (torch.ones(2, 3),)), out)
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    to = f"{folder}/pt2-{'.'.join(torch.__version__.split('.')[:2])}"
    os.makedirs(to, exist_ok=True)
    writer = torch._C.PyTorchFileWriter(to + "/model.pt2")
    with zipfile.ZipFile(out) as z:
        for name in z.namelist():
            part = name.split("/", 1)[1]
            data = z.read(name)
            if "sample_inputs" in part or part.startswith(".data/") or part == "byteorder":
                continue  # the writer has the last two of its own
            if part.startswith("models/"):
                data = json.dumps(slim(json.loads(data.decode().replace(here, "")))).encode()
            writer.write_record(part, data, len(data))
    writer.write_end_of_file()


itself(sys.argv[1]) if sys.argv[2:] == ["itself"] else main(sys.argv[1])
