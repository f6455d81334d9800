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


# ---- the functions that gradients come from ----

#: roundings: gradients pass them unchanged
ROUNDS = {"block_round"}


def golden(path):
    """The program that a golden case begins with."""
    lines = path.read_text().split("\n----\n")[0].split("\n")
    return "\n".join(l for l in lines if not re.match(r"#|\$|limit:", l)).strip() + "\n"


def numbers(v, rng):
    """Positive and below one: inside of what every function takes."""
    if v.dtype == "bool":
        return rng.random(v.dims) < 0.5
    if v.dtype in ("f32", "f16", "bf16"):
        return rng.uniform(0.1, 0.9, v.dims).astype(np.float32)
    return rng.integers(0, 2, v.dims).astype(tosac.qat.STORED[v.dtype])


FLOATS = sorted(p for p in (TOP / "test" / "golden" / "lower").glob("*-fp.ir"))


@pytest.mark.parametrize("path", FLOATS, ids=lambda p: p.stem)
def test_functions_compute_what_the_library_does(path):
    net = tosac.qat.QatModule(golden(path), b"", None)
    main, rng = net._text.main, np.random.default_rng(1)
    rows = [numbers(main.values[i], rng) for i in main.ins]
    shown = net._shown()
    exact = dict(zip(main.ins, (torch.from_numpy(np.asarray(r)[None]) for r in rows)))
    exact = {v: net._exact(x.numpy(), main.values[v], "cpu") for v, x in exact.items()}
    for v, r in zip(shown, net._prepared("typed")._all([rows], False, False)[0]):
        exact[v] = net._exact(np.asarray(r)[None], main.values[v], "cpu")
    tried = 0
    for node in main.nodes:
        function = _qat_ops.TABLE.get(node.op)
        if node.op == "const" or node.op in ROUNDS or function is None:
            continue
        ins = [(None, None) if i is None else (exact[i], 0) if i in exact else (net._constant(main.values[i], "cpu"), None) for i in node.ins]
        if not any(t is not None and t.is_floating_point() for t, _ in ins):
            continue  # integers have no gradient
        for o, made in zip(node.out, net._made_by(function, node, ins)):
            if made is not None and exact[o].is_floating_point():
                made = net._snapped(made.detach().float(), main.values[o]).expand_as(exact[o])
                assert torch.allclose(made, exact[o].float(), 1e-4, 1e-4, equal_nan=True), f"{node.op}: {made} for {exact[o]}"
                tried += 1
    if not tried:
        pytest.skip("no operator that passes gradients")


# ---- state ----

STREAMS = [("spotter", "frames.npy", "int8"), ("spotter", "frames.npy", "a8w4"), ("spotter", "frames.npy", "a16w8"), ("lstm", "samples.npy", "int8"),
           ("lstm", "samples.npy", "a16w8")]


def stream(name, file, config):
    folder = TOP / "test" / "fixture" / name
    data = np.load(folder / file)
    net = tosac.qat.prepare(str(folder / "stream.pt2"), TARGET, data, config)
    dims = net._text.main.values[net._text.main.ins[0]].dims
    return net, data.reshape(-1, *dims)[:6]


@pytest.mark.parametrize("name,file,config", STREAMS)
def test_state_is_the_program_s_step_for_step(name, file, config):
    net, steps = stream(name, file, config)
    for again in range(2):
        net.train(), net.reset()
        typed, loss = net.program(), 0
        for x in steps:
            y = net(torch.from_numpy(x))
            assert np.array_equal(y.detach().numpy().ravel(), typed.run(x)[0].ravel())
            loss = loss + y.square().sum()
        net.zero_grad()
        loss.backward()
        grads = [p.grad for p in net.parameters_of("weights")]
        assert all(g is not None and torch.isfinite(g).all() for g in grads) and any(g.abs().sum() > 0 for g in grads)
        net.eval(), net.reset()
        compiled = tosac.compile(net, TARGET)
        with torch.no_grad():
            for x in steps:
                assert np.array_equal(net(torch.from_numpy(x)).numpy().ravel(), compiled.run(x, dequantize=True)[0].ravel())
        torch.optim.Adam(net.parameters(), 0.02).step()


def test_gradients_go_through_state():
    net, steps = stream("spotter", "frames.npy", "int8")
    net.train(), net.reset()
    first = torch.from_numpy(steps[0]).requires_grad_()
    net(first)
    net(torch.from_numpy(steps[1])).sum().backward()
    assert first.grad.abs().sum() > 0


# ---- loops of other people ----

def grads_of(net, run, x):
    net.zero_grad()
    y = run(x)
    y.float().square().sum().backward()
    return y.detach(), torch.cat([p.grad.flatten() for p in net.parameters()])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_leaves_the_numbers(digits, dtype):
    net, x = tosac.qat.prepare(digits.model, TARGET, digits.samples, "a8w4").train(), torch.from_numpy(digits.x[:8])
    y, g = grads_of(net, net, x)
    with torch.autocast("cpu", dtype=dtype):
        lower = net(x)
    net.zero_grad()
    lower.float().square().sum().backward()
    h = torch.cat([p.grad.flatten() for p in net.parameters()])
    assert torch.equal(lower.detach().float(), y) and h.dtype == torch.float32
    assert torch.nn.functional.cosine_similarity(g, h, 0) > 0.99


def test_parallel_wrappers(digits, tmp_path):
    net, x = tosac.qat.prepare(digits.model, TARGET, digits.samples, "a8w4").train(), torch.from_numpy(digits.x[:8])
    y, g = grads_of(net, net, x)
    wrapped = torch.nn.DataParallel(net)  # without devices it calls the module itself
    same, h = grads_of(net, wrapped, x)
    assert torch.equal(same, y) and torch.equal(g, h)
    assert {f"module.{k}" for k in net.state_dict()} == set(wrapped.state_dict())
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        same, h = grads_of(net, torch.nn.parallel.DistributedDataParallel(net), x)
    finally:
        dist.destroy_process_group()
    assert torch.equal(same, y) and torch.allclose(g, h)


def test_copies_and_checkpoints(digits, tmp_path):
    import copy

    net, x = tosac.qat.prepare(digits.model, TARGET, digits.samples, "int8", learn_scales=True), torch.from_numpy(digits.x[:4])
    with torch.no_grad():
        for p in net.parameters_of("weights"):
            p.add_(0.6 * torch.randn_like(p))
    torch.save(net, tmp_path / "net.pt")
    torch.save(net.state_dict(), tmp_path / "state.pt")
    whole, twin = torch.load(tmp_path / "net.pt", weights_only=False), copy.deepcopy(net)
    fresh = tosac.qat.prepare(digits.model, TARGET, digits.samples, "int8", learn_scales=True)
    fresh.load_state_dict(torch.load(tmp_path / "state.pt"))
    with torch.no_grad():
        want = net.eval()(x)
        for other in (whole, twin, fresh):
            assert other.program().text() == net.program().text() and torch.equal(other.eval()(x), want)


# ---- other networks ----

def network(name):
    folder = TOP / "test" / "fixture" / name
    if name == "decoder":
        return str(folder / "forward.pt2"), np.load(folder / "calib.npy")
    return str(folder / "encode.pt2"), np.load(folder / "mel.npy")


@pytest.mark.parametrize("config", ["int8", "int8+16:4", "a8w4", "a16w8"])
@pytest.mark.parametrize("name", ["decoder", "speech"])
def test_transformers(name, config):
    model, data = network(name)
    net = tosac.qat.prepare(model, TARGET, data, config)
    dims = net._text.main.values[net._text.main.ins[0]].dims
    x = data.reshape(-1, *dims)[:2]
    y = net.train()(torch.from_numpy(x))
    want = [net.program().run(one)[0] for one in x]
    assert np.array_equal(y.detach().numpy().ravel(), np.stack(want).ravel())
    kept = [net._state[a] for a, _ in net._text.main.mutations]  # keys and values for a decoder
    sum(t.square().sum() for t in (y, *kept)).backward()
    grads = [p.grad for p in net.parameters_of("weights")]
    assert all(g is not None and torch.isfinite(g).all() for g in grads)
    net.eval(), net.reset()
    compiled = tosac.compile(net, TARGET)
    with torch.no_grad():
        for one in x:
            assert np.array_equal(net(torch.from_numpy(one)).numpy().ravel(), compiled.run(one, dequantize=True)[0].ravel())
