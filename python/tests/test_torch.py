# SPDX-License-Identifier: Apache-2.0
"""Torch objects: modules, exported programs, loaders, datasets; and export's own failures."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import tosac  # noqa: E402


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.drop = torch.nn.Dropout(0.5)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.drop(torch.relu(self.conv(x)).mean((2, 3))))


class Two(torch.nn.Module):
    def forward(self, left, right):
        return torch.relu(left) + 2 * right


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Small()


@pytest.fixture
def pictures():
    return torch.randn(24, 3, 16, 16, generator=torch.Generator().manual_seed(1))


def test_a_module_is_exported_in_eval_mode_and_left_as_it_was(model, pictures):
    model.train(), model.conv.eval()
    r = tosac.compile(model, "TOSA-1.0+INT", calibration=pictures)
    assert model.training and model.drop.training and not model.conv.training
    model.eval()
    want = model(pictures).detach().numpy()
    got = r.run(pictures)[0]
    assert got.shape == want.shape
    assert 10 * np.log10((want**2).sum() / ((want - got) ** 2).sum()) > 25


def test_loader_dataset_and_tensor_agree(model, pictures):
    data = torch.utils.data.TensorDataset(pictures, torch.arange(24))
    loader = torch.utils.data.DataLoader(data, batch_size=5)
    want = tosac.quantize(model, pictures).qparams
    assert tosac.quantize(model, loader).qparams == want
    assert tosac.quantize(model, data).qparams == want
    assert tosac.quantize(model, (p[None] for p in pictures)).qparams == want


def test_exported_program(model, pictures):
    program = torch.export.export(model.eval(), (pictures[:1],))
    y = tosac.run(program, pictures[:3])[0]
    assert np.abs(y - model(pictures[:3]).detach().numpy()).max() < 1e-5
    assert tosac.load(program).producer.startswith("torch")


def test_dictionaries_become_keywords():
    samples = [{"left": torch.randn(1, 4), "right": torch.randn(1, 4), "label": 3} for _ in range(4)]
    q = tosac.quantize(Two(), samples)
    assert [p.name for p in q.inputs] == ["left", "right"]


def test_pairs_of_inputs(pictures):
    samples = [((torch.randn(1, 4), torch.randn(1, 4)), 1) for _ in range(4)]
    assert len(tosac.quantize(Two(), samples).inputs) == 2


def test_example_inputs(model, pictures, tmp_path):
    r = tosac.compile(model, "TOSA-1.0+FP", example_inputs=(pictures[:2],))
    assert r.run(pictures[:2])[0].shape == (2, 4)
    with pytest.raises(tosac.UsageError, match="example inputs"):
        tosac.compile(model, "TOSA-1.0+FP")


def test_export_failure_says_what_to_change(pictures):
    class Decides(torch.nn.Module):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x - 1

    with pytest.raises(tosac.ExportError) as e:
        tosac.compile(Decides(), "TOSA-1.0+INT", pictures)
    assert "Decides" in e.value.text and "torch.cond" in e.value.note and e.value.__cause__ is not None and e.value.id == "export"


def test_python_lines_are_the_users(model, pictures):
    r = tosac.compile(model, "TOSA-1.0+INT", pictures)
    assert all(n.place.startswith("test_torch.py:") for n in r.cpu_nodes if n.place)


def test_half_and_bfloat16(model, pictures):
    y = tosac.run(tosac.load(model.to(torch.bfloat16).eval(), example_inputs=(pictures[:1].bfloat16(),)), pictures[:2].bfloat16())[0]
    assert y.dtype == np.float32 and y.shape == (2, 4)


def test_torch_keeps_its_threads(model, pictures):
    before = torch.get_num_threads()
    tosac.quantize(model, pictures, threads=2)
    assert torch.get_num_threads() == before
    torch.nn.functional.conv2d(pictures, torch.randn(4, 3, 3, 3))


def test_bytes_of_pictures_are_told_as_such():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU())
    with pytest.raises(tosac.ExportError, match="the data is uint8, the module takes floats"):
        tosac.compile(model, "TOSA-1.0+INT", calibration=torch.zeros(4, 1, 8, 8, dtype=torch.uint8))
