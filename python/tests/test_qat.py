# SPDX-License-Identifier: Apache-2.0
"""Training: a module's numbers are the typed and the compiled program's, element by element; every operator is known to it."""
import re

import numpy as np
import pytest
from conftest import TOP

torch = pytest.importorskip("torch")
import tosac  # noqa: E402
import tosac.qat  # noqa: E402
from tosac import _qat_ops  # noqa: E402

TARGET = "ethos-u85-256"


def test_every_operator_of_the_table_is_known():
    table = re.sub(r"/\*.*?\*/", "", (TOP / "src" / "ir" / "op.def").read_text(), flags=re.S)
    names = {n for n in re.findall(r"^(?:OP|FUNCTION)\(\s*(\w+),", table, re.M) if not n.startswith("tosa_")}
    known = set(_qat_ops.TABLE) | _qat_ops.FLAT | _qat_ops.WHOLE | _qat_ops.CONTROL
    assert names - known == set()


@pytest.mark.parametrize("config", ["int8", "a8w4", "a16w8"])
def test_forward_is_the_typed_and_the_compiled_program(digits, config):
    net = tosac.qat.prepare(digits.model, TARGET, digits.samples, config, learn_scales=True)
    x = torch.from_numpy(digits.x[:32])
    for _ in range(2):
        net.train()
        y = net(x)
        assert np.array_equal(y.detach().numpy(), net.program().run(digits.x[:32])[0])
        net.eval()
        with torch.no_grad():
            assert np.array_equal(net(x).numpy(), tosac.compile(net, TARGET).run(digits.x[:32])[0])
        y.square().sum().backward()
        torch.optim.Adam(net.parameters(), 0.02).step()  # and once more with what was trained


def test_state_dict(digits):
    a, b = (tosac.qat.prepare(digits.model, TARGET, digits.samples, "a8w4") for _ in range(2))
    with torch.no_grad():
        for p in a.parameters():
            p.add_(0.6 * torch.randn_like(p))
    b.load_state_dict(a.state_dict())
    assert b.program().text() == a.program().text()
