# SPDX-License-Identifier: Apache-2.0
"""Gradients of the operators: for each one a function of torch that computes nearly the same real numbers.

The numbers of a forward pass are the library's own; what is here only says how they change with the operands.  A function takes
the node's attributes and its operands, of one sample.  FLAT has the operators whose results do not change with small changes.
"""
from __future__ import annotations

import re
from typing import Any, Callable

import torch
import torch.nn.functional as F

#: no gradient: results are integers, truths, or steps; the numbers themselves are exact all the same
FLAT = frozenset("""sign floor ceil trunc round bitwise_not logical_not isnan isinf isfinite bitwise_and bitwise_or bitwise_xor shift_left
shift_right logical_and logical_or logical_xor eq ne lt le gt ge all any argmax argmin bucketize full arange linspace eye choose_qparams""".split())
#: the module of a program or of a device, not a computation of a typed program
WHOLE = frozenset(("const", "call", "ethosu", "tflite_op"))

_unary = {name: getattr(torch, name) for name in """abs neg square frac exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin
acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv sigmoid""".split()}
_binary = {name: getattr(torch, name) for name in "mul pow remainder fmod maximum minimum fmax fmin atan2 hypot copysign logaddexp logaddexp2 xlogy matmul".split()}
TABLE: dict[str, Callable] = {}


def _add(names: str, function: Callable) -> None:
    TABLE.update({name: function for name in names.split()})


for _name, _f in {**_unary, **_binary}.items():
    TABLE[_name] = lambda a, *x, f=_f: f(*x)


def _axes(f: Callable) -> Callable:
    return lambda a, x: f(x, a["axes"], a["keepdim"]) if a["axes"] else x


def _reduced(x: Any, a: dict, f: Callable) -> Any:
    """f over several axes, one after the other."""
    for axis in sorted(a["axes"], reverse=True):
        x = f(x, axis, True)
    return x if a["keepdim"] else x.reshape([s for i, s in enumerate(x.shape) if i not in a["axes"]])


def _before_after(pairs: list) -> list:
    """Borders of every axis, from the first, as F.pad has them: from the last."""
    return [p for i in range(len(pairs) - 2, -1, -2) for p in (pairs[i], pairs[i + 1])]


def _pad(a: dict, x: Any) -> Any:
    pairs = a["pad"]
    if a["mode"] == "constant":
        return F.pad(x, _before_after(pairs), value=a["value"])
    for axis in range(x.ndim):
        before, after = pairs[2 * axis: 2 * axis + 2]
        at, n = torch.arange(-before, x.shape[axis] + after, device=x.device), x.shape[axis]
        if a["mode"] == "reflect":
            at = at.abs()
            at = torch.where(at >= n, 2 * (n - 1) - at, at)
        else:
            at = at.clamp(0, n - 1) if a["mode"] == "replicate" else at % n
        x = x.index_select(axis, at)
    return x


def _batched(x: Any, n: int) -> tuple[Any, bool]:
    return (x, False) if x.ndim == n + 2 else (x.unsqueeze(0), True)


def _conv(a: dict, x: Any, w: Any, b: Any = None) -> Any:
    n = len(a["stride"])
    x, alone = _batched(x, n)
    y = (F.conv1d, F.conv2d, F.conv3d)[n - 1](F.pad(x, _before_after(a["pad"])) if any(a["pad"]) else x, w, b, a["stride"], 0, a["dilation"], a["groups"])
    return y.squeeze(0) if alone else y


def _conv_transpose(a: dict, x: Any, w: Any, b: Any = None) -> Any:
    n = len(a["stride"])
    x, alone = _batched(x, n)
    y = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1](x, w, b, a["stride"], a["pad"], a["out_pad"], a["groups"], a["dilation"])
    return y.squeeze(0) if alone else y


def _max_pool(a: dict, x: Any) -> Any:
    n = len(a["kernel"])
    x, alone = _batched(x, n)
    y = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1](x, a["kernel"], a["stride"], a["pad"], a["dilation"], a["ceil"])
    return (y.squeeze(0) if alone else y), None


def _avg_pool(a: dict, x: Any) -> Any:
    n = len(a["kernel"])
    x, alone = _batched(x, n)
    divisor = {} if n == 1 else {"divisor_override": a["divisor"] or None}
    y = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n - 1](x, a["kernel"], a["stride"], a["pad"], a["ceil"], a["include_pad"], **divisor)
    return y.squeeze(0) if alone else y


def _adaptive(kind: str) -> Callable:
    def f(a: dict, x: Any) -> Any:
        n = len(a["size"])
        x, alone = _batched(x, n)
        y = getattr(F, f"adaptive_{kind}_pool{n}d")(x, a["size"])
        y = y.squeeze(0) if alone else y
        return y if kind == "avg" else (y, None)
    return f


def _sdpa(a: dict, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    if a.get("gqa") and k.shape[-3] != q.shape[-3]:
        k, v = (t.repeat_interleave(q.shape[-3] // t.shape[-3], -3) for t in (k, v))
    s = q @ k.transpose(-1, -2) * a["scale"]
    if a.get("causal"):
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(1), -torch.inf)
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else s + mask
    return s.softmax(-1) @ v


def _batch_norm(a: dict, x: Any, w: Any, b: Any, mean: Any, var: Any) -> Any:
    c = lambda t: t.reshape(-1, *[1] * (x.ndim - 2))
    y = (x - c(mean)) / torch.sqrt(c(var) + a["eps"])
    y = y * c(w) if w is not None else y
    return y + c(b) if b is not None else y


def _group_norm(a: dict, x: Any, w: Any = None, b: Any = None) -> Any:
    g = x.reshape(x.shape[0], a["groups"], -1)
    y = ((g - g.mean(-1, keepdim=True)) / torch.sqrt(g.var(-1, keepdim=True, unbiased=False) + a["eps"])).reshape(x.shape)
    c = lambda t: t.reshape(-1, *[1] * (x.ndim - 2))
    y = y * c(w) if w is not None else y
    return y + c(b) if b is not None else y


def _rms_norm(a: dict, x: Any, w: Any = None) -> Any:
    y = x / torch.sqrt(x.square().mean(list(range(-a["n_axes"], 0)), keepdim=True) + a["eps"])
    return y * w if w is not None else y


def _upsample(mode: str) -> Callable:
    def f(a: dict, x: Any) -> Any:
        n = len(a["size"])
        x, alone = _batched(x, n)
        name = {"linear": ("linear", "bilinear", "trilinear")[n - 1], "cubic": "bicubic"}.get(mode, mode)
        align = {} if mode.startswith("nearest") else {"align_corners": a["align_corners"]}
        y = F.interpolate(x, size=a["size"], mode=name, **align)
        return y.squeeze(0) if alone else y
    return f


def _cell(kind: str, x: Any, h: Any, c: Any, w: Any, u: Any, b: Any = None, v: Any = None) -> tuple[Any, Any]:
    """One step: the next h and c."""
    gi, gh = F.linear(x, w, b), F.linear(h, u, v)
    if kind == "lstm":
        i, f, g, o = (gi + gh).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if kind == "gru":
        (ri, zi, ni), (rh, zh, nh) = gi.chunk(3, -1), gh.chunk(3, -1)
        z, n = (zi + zh).sigmoid(), (ni + (ri + rh).sigmoid() * nh).tanh()
        return (1 - z) * n + z * h, c
    return (gi + gh).tanh() if kind == "rnn_tanh" else (gi + gh).relu(), c


def _rnn(kind: str) -> Callable:
    """x and states, then for every layer and direction w_ih, w_hh, biases, and w_hr where h is projected."""
    states = 2 if kind == "lstm" else 1

    def f(a: dict, x: Any, *rest: Any) -> Any:
        alone, first = x.ndim == 2, list(rest[:states])
        ways, per = 2 if a["bidirectional"] else 1, (len(rest) - states) // (a["layers"] * (2 if a["bidirectional"] else 1))
        biased, time = 4 if a["has_bias"] else 2, 0 if alone or not a["batch_first"] else 1
        x, last, y = x.movedim(time, 0), [[] for _ in first], x
        for layer in range(a["layers"]):
            made = []
            for way in range(ways):
                k = layer * ways + way
                w = rest[states + k * per: states + (k + 1) * per]
                h, c, steps = first[0][k], first[1][k] if states == 2 else None, []
                for t in range(x.shape[0]) if way == 0 else reversed(range(x.shape[0])):
                    h, c = _cell(kind, x[t], h, c, *w[:biased])
                    h = F.linear(h, w[biased]) if per > biased else h
                    steps.append(h)
                made.append(torch.stack(steps if way == 0 else steps[::-1]))
                for keep, s in zip(last, (h, c)):
                    keep.append(s)
            x = torch.cat(made, -1)
        y = x.movedim(0, time)
        return (y, *[torch.stack(s) for s in last])
    return f


def _lstm_cell(a: dict, x: Any, h: Any, c: Any, *w: Any) -> Any:
    return _cell("lstm", x, h, c, *w)


def _index(a: dict, x: Any, *at: Any) -> Any:
    return x[tuple(slice(None) if i is None else i for i in at)]


def _index_put(a: dict, x: Any, values: Any, *at: Any) -> Any:
    return x.index_put(tuple(torch.arange(x.shape[k], device=x.device).reshape(-1, *[1] * (len(at) - 1)) if i is None else i for k, i in enumerate(at)), values, a["accumulate"])


def _scatter(a: dict, x: Any, at: Any, source: Any) -> Any:
    if a["combine"] == "set":
        return x.scatter(a["axis"], at, source)
    return x.scatter_reduce(a["axis"], at, source, {"add": "sum"}.get(a["combine"], a["combine"]), include_self=a["include_self"])


def _slice_scatter(a: dict, x: Any, y: Any) -> Any:
    return torch.slice_scatter(x, y, a["axis"], a["start"], a["end"], a["step"])


def _fft(a: dict, x: Any) -> Any:
    norm = {"none": {"forward": "backward", "real_to_complex": "backward"}.get(a["kind"], "forward"), "by_sqrt_n": "ortho"}.get(a["norm"])
    norm = norm or {"forward": "forward", "real_to_complex": "forward"}.get(a["kind"], "backward")
    f = {"forward": torch.fft.fftn, "inverse": torch.fft.ifftn, "real_to_complex": torch.fft.rfftn, "complex_to_real": torch.fft.irfftn}[a["kind"]]
    size = [*[x.shape[k] for k in a["axes"][:-1]], a["last"]] if a["kind"] == "complex_to_real" else None
    return f(x, size, a["axes"], norm)


def _glu(a: dict, x: Any) -> Any:
    first, second = x.chunk(2, a["axis"])
    return first * second.sigmoid()


def _clamped(a: dict, x: Any, lo: Any = None, hi: Any = None) -> Any:
    x = x if lo is None else torch.maximum(x, lo)
    return x if hi is None else torch.minimum(x, hi)


def _norm(a: dict, x: Any) -> Any:
    return torch.linalg.vector_norm(x, a["ord"], a["axes"], a["keepdim"]) if a["axes"] else x.abs()


def _arg(f: Callable) -> Callable:
    return lambda a, x: (f(x, a["axis"], a["keepdim"])[0], None)


def _shuffle(a: dict, x: Any) -> Any:
    g = a["factor"]
    return x.reshape(x.shape[0], g, x.shape[1] // g, *x.shape[2:]).transpose(1, 2).reshape(x.shape)


def _where(a: dict, c: Any, x: Any, y: Any) -> Any:
    return torch.where(c.bool(), x, y)


def _div(a: dict, x: Any, y: Any) -> Any:
    return x / y if a["mode"] == "exact" else torch.div(x, y, rounding_mode=a["mode"])


_add("identity rescale cast quantize dequantize fake_quantize block_round", lambda a, x, *rest: x)
_add("relu", lambda a, x: x.relu())
_add("threshold", lambda a, x: F.threshold(x, a["threshold"], a["value"]))
_add("clamp", lambda a, x: x.clamp(a["lo"], a["hi"]))
_add("nan_to_num", lambda a, x: torch.nan_to_num(x, a["nan"], a["posinf"], a["neginf"]))
_add("erfcx", lambda a, x: torch.special.erfcx(x))
_add("ndtr", lambda a, x: torch.special.ndtr(x))
_add("log_ndtr", lambda a, x: torch.special.log_ndtr(x))
_add("entr", lambda a, x: torch.special.entr(x))
_add("log_sigmoid", lambda a, x: F.logsigmoid(x))
_add("silu", lambda a, x: F.silu(x))
_add("mish", lambda a, x: F.mish(x))
_add("hardswish", lambda a, x: F.hardswish(x))
_add("hardsigmoid", lambda a, x: F.hardsigmoid(x))
_add("softsign", lambda a, x: F.softsign(x))
_add("gelu", lambda a, x: F.gelu(x, approximate="tanh" if a["form"] == "tanh" else "none"))
_add("softplus", lambda a, x: F.softplus(x, a["beta"], a["threshold"]))
_add("elu", lambda a, x: a["scale"] * torch.where(x > 0, x, a["alpha"] * torch.expm1(a["input_scale"] * x.clamp(max=0))))
_add("leaky_relu", lambda a, x: F.leaky_relu(x, a["slope"]))
_add("logit", lambda a, x: torch.logit(x, a["eps"] if a["eps"] >= 0 else None))
_add("hardshrink", lambda a, x: F.hardshrink(x, a["lambda"]))
_add("softshrink", lambda a, x: F.softshrink(x, a["lambda"]))
_add("add", lambda a, x, y: x + a["alpha"] * y)
_add("sub", lambda a, x, y: x - a["alpha"] * y)
_add("div", _div)
_add("where", _where)
_add("clamp_tensor", _clamped)
_add("lerp", lambda a, x, y, w: x + w * (y - x))
_add("addcmul", lambda a, x, y, z: x + a["value"] * y * z)
_add("addcdiv", lambda a, x, y, z: x + a["value"] * y / z)
_add("prelu", lambda a, x, w: torch.where(x > 0, x, x * (w.reshape(-1, *[1] * (x.ndim - 2)) if w.numel() > 1 and x.ndim > 1 else w)))
_add("glu", _glu)
_add("sum", _axes(torch.sum))
_add("mean", _axes(torch.mean))
_add("amax", _axes(torch.amax))
_add("amin", _axes(torch.amin))
_add("logsumexp", _axes(torch.logsumexp))
_add("prod", lambda a, x: _reduced(x, a, torch.prod))
_add("var", lambda a, x: torch.var(x, a["axes"], correction=a["correction"], keepdim=a["keepdim"]))
_add("std", lambda a, x: torch.std(x, a["axes"], correction=a["correction"], keepdim=a["keepdim"]))
_add("norm", _norm)
_add("max_dim", _arg(torch.max))
_add("min_dim", _arg(torch.min))
_add("topk", lambda a, x: (torch.topk(x, a["k"], a["axis"], a["largest"])[0], None))
_add("sort", lambda a, x: (torch.sort(x, dim=a["axis"], descending=a["descending"], stable=True)[0], None))
_add("cumsum", lambda a, x: x.cumsum(a["axis"]))
_add("cumprod", lambda a, x: x.cumprod(a["axis"]))
_add("linear", lambda a, x, w, b=None: F.linear(x, w, b))
_add("log_bands", lambda a, x, w, y: a["octave"] * torch.log2((lambda p: p + a["floor"] if a["adds"] else p.clamp_min(a["floor"]))(F.linear(x * x + y * y, w))))
_add("addmm", lambda a, c, x, y: a["beta"] * c + a["alpha"] * (x @ y))
_add("einsum", lambda a, *x: torch.einsum(a["equation"], *x))
_add("conv", _conv)
_add("conv_transpose", _conv_transpose)
_add("sdpa", _sdpa)
_add("max_pool", _max_pool)
_add("avg_pool", _avg_pool)
_add("adaptive_avg_pool", _adaptive("avg"))
_add("adaptive_max_pool", _adaptive("max"))
_add("upsample_nearest", _upsample("nearest"))
_add("upsample_nearest_exact", _upsample("nearest-exact"))
_add("upsample_linear", _upsample("linear"))
_add("upsample_cubic", _upsample("cubic"))
_add("grid_sample", lambda a, x, g: F.grid_sample(x, g, a["mode"], a["pad"], a["align_corners"]))
_add("pixel_shuffle", lambda a, x: F.pixel_shuffle(x, a["factor"]))
_add("pixel_unshuffle", lambda a, x: F.pixel_unshuffle(x, a["factor"]))
_add("channel_shuffle", _shuffle)
_add("im2col", lambda a, x: F.unfold(x, a["kernel"], a["dilation"], a["pad"], a["stride"]))
_add("col2im", lambda a, x: F.fold(x, a["size"], a["kernel"], a["dilation"], a["pad"], a["stride"]))
_add("batch_norm", _batch_norm)
_add("layer_norm", lambda a, x, w=None, b=None: F.layer_norm(x, x.shape[x.ndim - a["n_axes"]:], w, b, a["eps"]))
_add("rms_norm", _rms_norm)
_add("group_norm", _group_norm)
_add("softmax", lambda a, x: x.softmax(a["axis"]))
_add("log_softmax", lambda a, x: x.log_softmax(a["axis"]))
for _kind in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _add(_kind, _rnn(_kind))
    _add(f"{_kind}_cell", lambda a, x, h, *w, kind=_kind: _cell(kind, x, h, None, *w)[0])
_add("lstm_cell", _lstm_cell)
_add("reshape", lambda a, x: x.reshape(a["shape"]))
_add("permute", lambda a, x: x.permute(a["perm"]))
_add("expand", lambda a, x: x.expand(a["shape"]))
_add("slice", lambda a, x: x.narrow(a["axis"], a["start"], a["end"] - a["start"])[(slice(None),) * a["axis"] + (slice(None, None, a["step"]),)])
_add("select", lambda a, x: x.select(a["axis"], a["index"]))
_add("cat", lambda a, *x: torch.cat(x, a["axis"]))
_add("stack", lambda a, *x: torch.stack(x, a["axis"]))
_add("split", lambda a, x: x.split(a["sizes"], a["axis"]))
_add("unbind", lambda a, x: x.unbind(a["axis"]))
_add("repeat", lambda a, x: x.repeat(a["repeats"]))
_add("repeat_interleave", lambda a, x: x.repeat_interleave(a["repeats"], a["axis"]))
_add("flip", lambda a, x: x.flip(a["axes"]))
_add("roll", lambda a, x: x.roll(a["shifts"], a["axes"]) if a["axes"] else x.flatten().roll(a["shifts"]).reshape(x.shape))
_add("pad", _pad)
_add("diagonal", lambda a, x: x.diagonal(a["offset"], a["axis1"], a["axis2"]))
_add("tril", lambda a, x: x.tril(a["diagonal"]))
_add("triu", lambda a, x: x.triu(a["diagonal"]))
_add("as_strided", lambda a, x: x.contiguous().as_strided(a["size"], a["stride"], a["offset"]))
_add("unfold", lambda a, x: x.unfold(a["axis"], a["size"], a["step"]))
_add("index", _index)
_add("index_put", _index_put)
_add("index_select", lambda a, x, at: x.index_select(a["axis"], at.reshape(-1)))
_add("gather", lambda a, x, at: x.gather(a["axis"], at))
_add("scatter", _scatter)
_add("index_copy", lambda a, x, at, y: x.index_copy(a["axis"], at, y))
_add("index_add", lambda a, x, at, y: x.index_add(a["axis"], at, y, alpha=a["alpha"]))
_add("slice_scatter", _slice_scatter)
_add("select_scatter", lambda a, x, y: torch.select_scatter(x, y, a["axis"], a["index"]))
_add("embedding", lambda a, table, at: F.embedding(at, table))
_add("fft", _fft)
_add("real", lambda a, x: x.real if x.is_complex() else x)
_add("imag", lambda a, x: x.imag)
_add("complex", lambda a, x, y: torch.complex(x, y))


class _Formula:
    """The language of src/ir/formula.h: signs as in C, where | and & are logical."""

    SIGNS = (("|",), ("&",), ("<=", ">=", "==", "!=", "<", ">"), ("+", "-"), ("*", "/"))
    MEANING = {"|": lambda x, y: (x != 0) | (y != 0), "&": lambda x, y: (x != 0) & (y != 0), "<": lambda x, y: x < y, "<=": lambda x, y: x <= y,
               ">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y, "+": lambda x, y: x + y,
               "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y}
    #: how many operands, and the attributes that numbers after them are
    FIELDS = {"clamp": (1, "lo", "hi"), "add": (2, "alpha"), "sub": (2, "alpha"), "div": (2, "mode"), "addcmul": (3, "value"), "addcdiv": (3, "value"),
              "leaky_relu": (1, "slope"), "elu": (1, "alpha", "scale", "input_scale"), "gelu": (1, "form"), "softplus": (1, "beta", "threshold"),
              "hardshrink": (1, "lambda"), "softshrink": (1, "lambda"), "threshold": (1, "threshold", "value"), "logit": (1, "eps"),
              "nan_to_num": (1, "nan", "posinf", "neginf")}
    WORDS = {"form": ("erf", "tanh"), "mode": ("exact", "trunc", "floor")}

    def __init__(self, text: str, x: Any):
        self.words = re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|[A-Za-z_]\w*|<=|>=|==|!=|\S", text)
        self.at, self.x = 0, x
        self.names = {"x": x, "pi": torch.pi, "ln2": 0.6931471805599453, "inf": torch.inf, "nan": torch.nan}

    def take(self, *words: str) -> Any:
        if self.at < len(self.words) and (not words or self.words[self.at] in words):
            self.at += 1
            return self.words[self.at - 1]
        return None

    def value(self) -> Any:
        while self.at + 1 < len(self.words) and self.words[self.at + 1] == "=":
            name, self.at = self.words[self.at], self.at + 2
            self.names[name] = self.choice()
            self.take(";")
        return self.choice()

    def tensor(self, v: Any) -> Any:
        return v if isinstance(v, torch.Tensor) else torch.full_like(self.x, v)

    def choice(self) -> Any:
        c = self.signs(0)
        if not self.take("?"):
            return c
        a = self.choice()
        self.take(":")
        b = self.choice()
        return torch.where(c, self.tensor(a), self.tensor(b)) if isinstance(c, torch.Tensor) else a if c else b

    def signs(self, level: int) -> Any:
        if level == len(self.SIGNS):
            return self.prefix()
        v = self.signs(level + 1)
        while sign := self.take(*self.SIGNS[level]):
            v = self.MEANING[sign](v, self.signs(level + 1))
        return v

    def prefix(self) -> Any:
        if self.take("-"):
            return -self.prefix()
        if self.take("!"):
            return self.prefix() == 0
        if self.take("("):
            v = self.choice()
            self.take(")")
            return v
        word = self.take()
        if not self.take("("):
            return self.names[word] if word in self.names else float(word)
        given = []
        while not self.take(")"):
            given.append(self.choice())
            self.take(",")
        return self.call(word, given)

    def call(self, name: str, given: list) -> Any:
        if name == "like":
            return torch.full_like(self.x, given[1])
        if name == "poly":
            return sum((c * given[0] ** k for k, c in enumerate(given[1:])), torch.zeros_like(self.x))
        count, *fields = self.FIELDS.get(name, (len(given),))
        attrs = {f: self.WORDS[f][int(v)] if f in self.WORDS else v for f, v in zip(fields, given[count:])}
        given = given[:count]
        given = [self.tensor(v) for v in given]
        if name in FLAT:
            return getattr(torch, name)(*given)
        return TABLE[name]({"alpha": 1.0, "form": "erf", "mode": "exact", "beta": 1.0, **attrs}, *given)


_add("function", lambda a, x: _Formula(a["formula"], x).value())
CONTROL = frozenset(("cond", "while_loop"))  # exact numbers, and no gradient
