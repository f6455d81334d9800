# SPDX-License-Identifier: Apache-2.0
"""Training through the arithmetic of the compiled program: doc/training.md.

    net = tosac.qat.prepare(model, "ethos-u85-256", calibration, "a8w4")
    ...                                     # any training loop
    tosac.compile(net, "ethos-u85-256").save("model.pte")

The numbers of a forward pass are the library's own, value by value: while training those of the typed program, in eval mode the
outputs of the program compiled for the target.  Gradients pass every rounding unchanged and stop where a value is clipped.
"""
from __future__ import annotations

import os
import tempfile
import threading
from typing import Any, Callable, Iterator, Optional

import numpy as np

try:
    import torch
except ImportError as e:
    raise ImportError("tosac.qat trains with PyTorch, which is not installed: pip install torch") from e

from . import _compile, _model, _qat_ops
from ._errors import usage
from ._ir_text import STORED, Program as Text, Value

_POWER = lambda s: float(np.log2(s)).is_integer()
_KEPT = ("softmax", "sigmoid", "hardsigmoid", "tanh", "ndtr")  # their ranges follow from the function


class _Exact(torch.autograd.Function):
    """The exact numbers, with the gradient of the emulated ones."""

    @staticmethod
    def forward(ctx: Any, emulated: Any, exact: Any) -> Any:
        return exact

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return torch.nan_to_num(grad, 0.0, 0.0, 0.0), None  # a function without a derivative there, log at 0, passes none


def _rounded(x: Any) -> Any:
    return x + (x.round() - x).detach()


def _real(codes: Any, quant: Any, ndim: int, device: Any) -> Any:
    """(code - zero) scale in f32, as the library computes it."""
    shape = [1] * ndim
    if quant.axis is not None:
        shape[quant.axis] = -1
    side = lambda a: torch.tensor(np.asarray(a, np.float32), device=device).reshape(shape)
    return (codes.to(torch.float32) - side(quant.zero)) * side(quant.scale)


class QatModule(torch.nn.Module):
    """A typed program as a module: `prepare()` makes one.

    numbers: "auto": of the typed program while training, of the compiled one in eval mode; or "typed" or "compiled" always."""

    def __init__(self, text: str, side: bytes, target: Optional[str], learn_scales: bool = False):
        super().__init__()
        self.target, self.numbers, self._text = target, "auto", Text(text, side)
        self.weights, self.biases, self.scales = (torch.nn.ParameterDict() for _ in range(3))
        self._drop()
        self._users: dict[int, list] = {}
        for node in self._text.main.nodes:
            for k, v in enumerate(node.ins):
                self._users.setdefault(v, []).append((node, k))
        self._constants()
        if learn_scales:
            self._domains()
        self._state: dict[int, Any] = {}

    # ---- what is trained ----

    def _key(self, v: Value) -> str:
        return f"{(v.name or 'value').replace('.', '_')}_{v.number}"

    def _constants(self) -> None:
        main = self._text.main
        self._weight, self._bias = {}, {}  # by value: parameter's key; and for biases the operands whose scales give theirs
        states = {a for a, _ in main.mutations}
        for v in main.values.values():
            if not v.constant or v.quant is None or v.number in states or self._is_spectral(v):
                continue
            if v.dtype in ("i4", "i8", "i16"):
                self._weight[v.number] = self._key(v)
                self.weights[self._key(v)] = torch.nn.Parameter(torch.tensor(v.array().astype(np.float32)))
            elif v.dtype in ("i32", "i48"):
                self._bias[v.number] = self._key(v), self._factors(v)
                real = (v.array().astype(np.float64) - v.quant.zero) * v.quant.scale
                self.biases[self._key(v)] = torch.nn.Parameter(torch.tensor(real, dtype=torch.float32))

    def _is_spectral(self, v: Value) -> bool:
        """Weights or a bias of a layer with a result of 32 bits, as power spectra have: these keep their codes, since sums of powers stay positive by them."""
        return any(k in (1, 2) and self._text.main.values[o].dtype == "i32" for node, k in self._users.get(v.number, []) for o in node.out)

    def _factors(self, v: Value) -> Optional[tuple[int, int]]:
        """The operands whose scales multiplied are the bias's; None: its own scale stays."""
        for node, k in self._users.get(v.number, []):
            values = self._text.main.values
            if k == 2 and None not in node.ins[:2]:
                x, w = (values[i].quant for i in node.ins[:2])
                if x and w and np.array_equal(np.float32(np.float32(x.scale) * np.float32(w.scale)), np.float32(v.quant.scale)):
                    return node.ins[0], node.ins[1]
        return None

    def _domains(self) -> None:
        """One factor for all values of one scale and zero point; scales that follow from others stay."""
        main, self._domain = self._text.main, {}
        fixed = {main.values[i].number for n in main.nodes for o in n.out if main.values[o].dtype in ("i32", "i48") for i in n.ins if i is not None}
        fixed |= {o for n in main.nodes if n.op in _KEPT for o in n.out}
        fixed |= {i for n in main.nodes for k, i in enumerate(n.ins) if i is not None and k == 0
                  for b in n.ins[2:3] if b in self._bias and self._bias[b][1] is None}
        fixed |= {a for pair in main.mutations for a in pair} | set(main.ins) | set(main.outs)
        key = lambda v: (float(v.quant.scale[0]), int(v.quant.zero[0]))
        quantized = [v for v in main.values.values() if v.quant and v.quant.axis is None and not (v.constant and v.number in self._bias)]
        kept = {key(v) for v in quantized if v.number in fixed or v.constant or _POWER(v.quant.scale[0])}
        names: dict[tuple, str] = {}
        for v in quantized:
            if key(v) not in kept and v.dtype in ("i8", "u8", "i16"):
                names.setdefault(key(v), self._key(v))
                self._domain[v.number] = names[key(v)], float(v.quant.scale[0])
        for name in names.values():
            self.scales[name] = torch.nn.Parameter(torch.zeros(()))

    def parameters_of(self, kind: str) -> Iterator[Any]:
        """The parameters of one kind, for a rate of its own: "weights" (in codes), "biases" or "scales" (logarithms of factors)."""
        if kind not in ("weights", "biases", "scales"):
            raise usage(f"parameters_of({kind!r}): weights, biases or scales")
        return getattr(self, kind).parameters()

    # ---- the program as it is now ----

    def _scale(self, v: Value) -> Any:
        if v.number not in getattr(self, "_domain", {}):
            return float(v.quant.scale[0])
        name, start = self._domain[v.number]
        return start * torch.exp(self.scales[name])

    def _settle(self) -> Text:
        """Parameters become the text's codes and scales."""
        values = self._text.main.values
        with torch.no_grad():
            for number in getattr(self, "_domain", {}):
                values[number].quant.scale = np.array([np.float32(self._scale(values[number]).item())])
            for number, key in self._weight.items():
                v = values[number]
                v.data = self.weights[key].detach().float().cpu().round().clamp(v.quant.lo, v.quant.hi).numpy().astype(v.array().dtype)
            for number, (key, factors) in self._bias.items():
                v = values[number]
                if factors:
                    x, w = (values[f].quant.scale.astype(np.float32) for f in factors)
                    v.quant.scale = (x * w).astype(np.float64)
                codes = np.rint(self.biases[key].detach().double().cpu().numpy() / v.quant.scale) + v.quant.zero
                v.data = np.clip(codes, v.quant.lo, v.quant.hi).astype(v.array().dtype)
        return self._text

    def _stamp(self) -> tuple:
        """Another one after every change of a parameter."""
        return tuple((p.data_ptr(), p._version) for p in self.parameters())

    def program(self) -> _model.Model:
        """The typed program with codes, biases and scales as they are now; `tosac.compile` takes it, or the module itself."""
        return _read(*self._settle().write())

    def tosac_model(self, context: Any) -> _model.Model:
        return _read(*self._settle().write(), context=context)

    def _drop(self) -> None:
        self._lock, self._made, self._seen = threading.Lock(), {}, None

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_made", "_seen")}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self._drop()

    def _prepared(self, kind: str) -> Any:
        """The library's program, made anew where a parameter has changed."""
        if self._stamp() != self._seen:
            self._made, self._seen = {}, self._stamp()
        if kind not in self._made:
            main = self._text.main
            if kind == "typed":
                states, made = [a for a, _ in main.mutations], self._shown()
                text, side = self._settle().write([*main.ins, *states], made)
                self._made[kind] = _model.Program(_read(text, side))
            else:
                self._made[kind] = _compile.compile(self.program(), self.target, execute=False)
        return self._made[kind]

    def _shown(self) -> list[int]:
        main = self._text.main
        return [o for n in main.nodes if n.op != "const" for o in n.out]

    # ---- forward ----

    def reset(self) -> None:
        """Forget: every sequence begins with the program's own state."""
        self._state = {}
        if "compiled" in self._made:
            self._made["compiled"]._fresh = True

    def _samples(self, given: tuple) -> tuple[list, bool]:
        ports = [self._text.main.values[i] for i in self._text.main.ins]
        if len(given) != len(ports):
            raise usage(f"{len(given)} tensors for {len(ports)} inputs")
        out, first = [], False
        for x, port in zip(given, ports):
            if tuple(x.shape) == port.dims:
                out, first = [*out, x.unsqueeze(0)], True
            elif tuple(x.shape[1:]) == port.dims:
                out.append(x)
            elif x.ndim == len(port.dims) and port.dims and x.shape[1:] == torch.Size(port.dims[1:]) and x.shape[0] % port.dims[0] == 0:
                out, first = [*out, x.reshape(-1, *port.dims)], True
            else:
                raise usage(f"an input of shape {list(x.shape)}: {list(port.dims)} is expected, or several of them along the first axis")
        return out, first

    def forward(self, *given: Any) -> Any:
        samples, first = self._samples(given)
        main = self._text.main
        with self._lock:
            outs = self._values(samples)
            if self.numbers == "compiled" or (self.numbers == "auto" and not self.training and self.target):
                outs = [_Exact.apply(o, c) for o, c in zip(outs, self._compiled_outs(samples, outs))]
        lead = main.values[main.ins[0]].dims[:1] if main.ins else ()
        outs = [o.flatten(0, 1) if first and main.values[v].dims[:1] == lead and lead else o for o, v in zip(outs, main.outs)]
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _compiled_outs(self, samples: list, outs: list) -> list:
        if self._text.main.mutations and samples[0].shape[0] != 1:
            raise usage("a program with state takes one sequence at a time in eval mode", "a batch of one, or net.numbers = 'typed'")
        compiled = self._prepared("compiled")
        fresh, compiled._fresh = getattr(compiled, "_fresh", False), False
        rows = []
        for b in range(samples[0].shape[0]):
            rows.append(compiled.run(*[_array(x[b]) for x in samples], dequantize=True, reset=fresh))
        return [torch.from_numpy(np.stack([np.asarray(r[i]).reshape(tuple(o.shape[1:])) for r in rows])).to(o.device, o.dtype) for i, o in enumerate(outs)]

    def _values(self, samples: list) -> list:
        """Every value of the typed program, exact; with gradients where they are wanted."""
        main, n = self._text.main, samples[0].shape[0] if samples else 1
        typed = self._prepared("typed")
        have = dict(zip(main.ins, samples))
        for a, _ in main.mutations:
            v = main.values[a]
            if a not in self._state or self._state[a].shape[0] != n:
                start = torch.from_numpy(np.array(v.array()))
                self._state[a] = (_real(start, v.quant, start.ndim, "cpu") if v.quant else start).expand(n, *v.dims)
            have[a] = self._state[a].to(samples[0].device)
        rows = [[self._stored(have[v][b], main.values[v]) for v in [*main.ins, *[a for a, _ in main.mutations]]] for b in range(n)]
        results = typed._all(rows, False, False)
        exact = {v: self._exact(np.stack([r[i] for r in results]), main.values[v], samples[0].device) for i, v in enumerate(self._shown())}
        if torch.is_grad_enabled():
            self._emulate(have, exact)
        have.update(exact)
        for a, b in main.mutations:
            self._state[a] = have[b] if b in have else self._constant(main.values[b], samples[0].device).expand(n, *main.values[b].dims)
        return [have[v] if v in have else self._constant(main.values[v], "cpu").expand(n, *main.values[v].dims) for v in main.outs]

    @staticmethod
    def _stored(x: Any, v: Value) -> np.ndarray:
        if v.quant is None:
            return _array(x)
        scale, zero = np.float32(v.quant.scale[0]), v.quant.zero[0]
        return np.clip(np.rint(_array(x) / scale) + zero, v.quant.lo, v.quant.hi).astype(STORED[v.dtype])

    @staticmethod
    def _exact(codes: np.ndarray, v: Value, device: Any) -> Any:
        tensor = torch.from_numpy(np.ascontiguousarray(codes)).to(device)
        if v.quant is None or codes.dtype.kind == "f":
            return tensor
        return _real(tensor, _shifted(v.quant), tensor.ndim, device)

    def _constant(self, v: Value, device: Any) -> Any:
        """A constant's real numbers, as its parameter has them."""
        if v.number in self._weight:
            u, q = self.weights[self._weight[v.number]], v.quant
            codes = torch.clamp(_rounded(u.float()), q.lo, q.hi)
            scale = self._scale(v) if q.axis is None else None
            return (codes - float(q.zero[0])) * scale if scale is not None else _real(codes, q, codes.ndim, codes.device)
        if v.number in self._bias:
            return self.biases[self._bias[v.number][0]]
        data = torch.from_numpy(np.array(v.array())).to(device)
        data = data.bool() if v.dtype == "bool" else data
        return _real(data, v.quant, data.ndim, device) if v.quant else data

    def _emulate(self, have: dict, exact: dict) -> None:
        """Gradients: every value as torch computes it from exact operands, then the exact number in its place."""
        main, device = self._text.main, next(iter(exact.values())).device if exact else "cpu"
        known = dict(have)
        for node in main.nodes:
            if node.op == "const":
                continue
            function, ins = _qat_ops.TABLE.get(node.op), []
            for i in node.ins:
                ins.append((None, None) if i is None else (exact[i], 0) if i in exact else (known[i], 0) if i in known else (self._constant(main.values[i], device), None))
            if function is None or not any(t is not None and t.requires_grad for t, _ in ins):
                continue
            for o, made in zip(node.out, self._made_by(function, node, ins)):
                if made is not None and exact[o].is_floating_point():
                    exact[o] = _Exact.apply(self._snapped(made.float() if exact[o].dtype == torch.float32 else made, main.values[o]).expand_as(exact[o]), exact[o])

    @staticmethod
    def _made_by(function: Callable, node: Any, ins: list) -> tuple:
        """The function's results, with an axis of samples in front."""
        there = [k for k, (t, _) in enumerate(ins) if t is not None]
        lacking: list = []

        def one(*tensors: Any) -> Any:
            args = [None] * len(ins)
            for k, t in zip(there, tensors):
                args[k] = t.long() if t.dtype in (torch.int32, torch.int16) and not t.requires_grad else t
            out = function(node.attrs, *args)
            out = out if isinstance(out, (tuple, list)) else (out,)
            lacking[:] = [o is None for o in out]
            return tuple(o for o in out if o is not None)

        dims = tuple(ins[k][1] for k in there)
        tensors = [ins[k][0] for k in there]
        out = list(torch.vmap(one, in_dims=dims)(*tensors)) if 0 in dims else [t.unsqueeze(0) for t in one(*tensors)]
        return tuple(None if gone else out.pop(0) for gone in lacking)

    def _snapped(self, x: Any, v: Value) -> Any:
        if v.quant is None or v.quant.axis is not None:
            return x
        s, z = self._scale(v), float(v.quant.zero[0])
        return (torch.clamp(_rounded(x / s) + z, v.quant.lo, v.quant.hi) - z) * s


def _shifted(quant: Any) -> Any:
    """The same with an axis of samples in front."""
    import copy

    out = copy.copy(quant)
    out.axis = None if quant.axis is None else quant.axis + 1
    return out


def _array(x: Any) -> np.ndarray:
    x = x.detach().cpu()
    return (x.float() if x.dtype in (torch.bfloat16, torch.float16) else x).numpy()


def _read(text: str, side: bytes, context: Any = None) -> _model.Model:
    folder = tempfile.TemporaryDirectory(prefix="tosac-")
    path = os.path.join(folder.name, "program.ir")
    with open(path, "w") as f, open(path + ".bin", "wb") as b:
        f.write(text), b.write(side)
    context = context or _model.make_context()
    context.kept.append(folder)
    return _model.read_model(path, context)


def prepare(model: Any, target: Optional[str] = None, calibration: Any = None, config: Any = None, *, learn_scales: bool = False,
            **settings: Any) -> QatModule:
    """A module to train: the model quantized as `tosac.compile` would, its weights, biases and (if asked) scales as parameters.

    model, calibration, config: as of `tosac.quantize`; a typed model (`.ir`, PT2E export) needs no calibration
    target: what it will be compiled for; in eval mode outputs are those of the compiled program
    learn_scales: scales of activations are trained too, one factor for all values that share one
    settings: further arguments of `tosac.quantize`
    """
    typed = _model.quantize(model, calibration, config, target=target, **settings)
    with tempfile.TemporaryDirectory(prefix="tosac-") as folder:
        path = os.path.join(folder, "typed.ir")
        typed.save(path)
        side = path + ".bin"
        return QatModule(open(path).read(), open(side, "rb").read() if os.path.exists(side) else b"", target, learn_scales)


def distill(net: QatModule, teacher: Callable, batches: Any, steps: int, rates: tuple = (0.016, 1e-3, 2e-3)) -> list[float]:
    """A recipe without labels: the module follows the float model.  Gives the loss of every step.

    teacher: the float model, a function of the same tensors; batches: called with the step, gives a batch (a tensor or a tuple)
    rates: of weights (in codes a step), biases and scales, falling as a cosine
    """
    groups = [{"params": list(net.parameters_of(k)), "lr": r} for k, r in zip(("weights", "biases", "scales"), rates)]
    adam, told = torch.optim.Adam([g for g in groups if g["params"]]), []
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    for step in range(steps):
        x = batches(step)
        x = x if isinstance(x, (tuple, list)) else (x,)
        with torch.no_grad():
            want = teacher(*x)
        want = want if isinstance(want, torch.Tensor) else torch.from_numpy(np.asarray(want[0]))
        error = (net(*x) - want).flatten(1).square().sum(1) / want.flatten(1).square().sum(1).clamp_min(1e-12)
        loss = error.mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        fall.step()
        told.append(float(loss.detach()))
    return told
