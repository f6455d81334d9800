# SPDX-License-Identifier: Apache-2.0
"""typed.py -- the typed program computed again: what it says that regions give, beside what the certificate says that their streams must give.

From a region's inputs (the certificate's samples) its part of the typed program is computed here, without the compiler's kernels and without its
lowering: operators of TOSA in integers, bit for bit; the others in real numbers, rounded to the code of each value's type.  A program of TOSA's operators
and moves alone must agree bit for bit.  In others a code may be the next one where the number lies near the middle between two, because factors are
integers and functions tables: the program is computed TIMES more with each number moved by up to ASIDE of a step before it is rounded, and the region may
differ from the program by no more than SHARE times what these differ by (forms of layer norms, gelu and softmax: 0.9 in swin48, 0.7 in convnext_atto; less
than 0.6 in programs without them).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from .certificate import Beside, samples_of
from .statements import STORAGE, Statement, constant, side_of, statements
from .stream import require
from .tosa_operators import OPERATORS
from .typed_operators import MOVES, REAL, real_of, scales_of
from .typed_text import INPUT, Type, type_of

TIMES, ASIDE = 3, 1 / 256
SHARE = 2.0  # root mean squares; of the greatest difference twice that
STEP = 0.5  # codes that may differ at any rate


def rounded(x: np.ndarray, t: Type, dice) -> np.ndarray:
    """The code of each real number; dice: of one up to ASIDE of a step aside."""
    q = scales_of(t)
    if q is None:
        return x if t.dtype[0] == "f" else np.rint(x)
    s, z, lo, hi = q
    aside = dice.uniform(-ASIDE, ASIDE, x.shape) if dice is not None and hi - lo < 1 << 16 else 0.0
    return np.clip(np.floor(np.nan_to_num(x / s + z + 0.5 + aside, posinf=1e18, neginf=-1e18)), lo, hi)


def stored(v, t: Type) -> np.ndarray:
    return np.asarray(v).astype(STORAGE[t.dtype]).reshape(t.dims)


class Typed:
    """The typed program with its constants; side None: without those that stand in their own file."""

    def __init__(self, text: str, side: bytes | None):
        self.statements = statements(text)
        self.types: dict[str, Type] = {v: type_of(t) for v, _, t in INPUT.findall(text[: text.index("{\n")])}
        self.names = [(name, v) for v, name, _ in INPUT.findall(text[: text.index("{\n")])]
        self.maker: dict[str, Statement] = {}
        for s in self.statements:
            self.types |= dict(zip(s.results, s.types))
            self.names += zip(s.names, s.results)
            self.maker |= dict.fromkeys(s.results, s)
        self.constants: dict[str, np.ndarray] = {}
        self.side = side

    def value_at(self, port: dict) -> str:
        """The value that a region's port stands for: by its name and type, or else by its type where one value alone has it."""
        t = type_of(port["type"])
        found = [v for name, v in self.names if name == port.get("name") and self.types[v] == t] or [v for v, own in self.types.items() if own == t]
        if len(set(found)) != 1 and "name" not in port:
            raise NotImplementedError("a border without a name")
        if not found:
            raise NotImplementedError(f"the border '{port.get('name')}'")
        return found[-1]

    def part(self, given: list[str], wanted: list[str]) -> list[Statement]:
        """What is computed from the given values to the wanted ones, in order."""
        needed, left = set(), [v for v in wanted if v not in given]
        while left:
            v = left.pop()
            if v in needed or v in given:
                continue
            needed.add(v)
            require(v in self.maker, f"{v} of the typed program is not computed from the region's inputs")
            left += [o for o in self.maker[v].operands if o != "none"]
        return [s for s in self.statements if needed & set(s.results)]

    def constant(self, s: Statement) -> np.ndarray:
        if s.results[0] not in self.constants:
            made = constant(s.body, s.types[0], self.side)
            if made is None:
                raise NotImplementedError("constants that are not at hand (--tosa DUMP)")
            self.constants[s.results[0]] = made
        return self.constants[s.results[0]]

    def compute(self, part: list[Statement], given: dict[str, np.ndarray], dice=None) -> dict[str, np.ndarray]:
        codes = dict(given)
        for s in part:
            if s.op == "const":
                codes[s.results[0]] = self.constant(s)
                continue
            made = self.computed(s, codes, dice)
            for value, t, v in zip(s.results, s.types, made if isinstance(made, (list, tuple)) else [made]):
                codes[value] = stored(v, t)
        return codes

    def computed(self, s: Statement, codes: dict, dice):
        operands = [codes[o] for o in s.operands if o != "none"]
        if s.op.startswith("tosa."):
            f = OPERATORS.get(s.op[5:])
            if not f:
                raise NotImplementedError(s.op)
            return f(s.attributes, s.types[0], *operands)
        if self.moves(s):
            return MOVES[s.op](s.attributes, s.types[0], *operands)
        f = REAL.get(s.op)
        if not f:
            raise NotImplementedError(s.op)
        made = f(s.attributes, s.types[0], *(real_of(codes[o], self.types[o]) for o in s.operands if o != "none"))
        return [rounded(v, t, dice) for v, t in zip(made if isinstance(made, (list, tuple)) else [made], s.types)]

    def moves(self, s: Statement) -> bool:
        kinds = {(t.dtype, t.quant) for t in (*s.types, *(self.types[o] for o in s.operands))}
        return s.op in MOVES and len(kinds) == 1 and "axis=" not in s.types[0].quant

    def is_exact(self, s: Statement) -> bool:
        return s.op == "const" or s.op.startswith("tosa.") or self.moves(s)


class Difference(NamedTuple):
    """In codes."""
    squares: float
    n: int
    most: float


def difference(got: list, want: list) -> Difference:
    d = [g.astype(np.float64) - w.astype(np.float64) for g, w in zip(got, want)]
    return Difference(sum(float((x * x).sum()) for x in d), sum(x.size for x in d), max((float(np.abs(x).max()) for x in d if x.size), default=0.0))


def check_output(name: str, apart: list[Difference], aside: list[list[Difference]]) -> list[str]:
    """apart: of each sample, the region from the program; aside: the program from itself with codes aside."""
    n = max(sum(d.n for d in apart), 1)
    own = (sum(d.squares for d in apart) / n) ** 0.5
    rounding = max((sum(d.squares for d in one) / n) ** 0.5 for one in aside)
    most, may = max(d.most for d in apart), max(d.most for one in aside for d in one)
    if own <= SHARE * rounding + STEP and most <= 2 * SHARE * may + 2 * STEP:
        return []
    return [f"{name} is {own:.2f} steps from the typed program (at most {most:.0f}), rounding explains {rounding:.2f} (at most {may:.0f})"]


def check_region(typed: Typed, said: dict, samples: list, report: dict) -> list[str]:
    takes, gives = ([typed.value_at(port) for port in said[kind]] for kind in ("inputs", "outputs"))
    part = typed.part(takes, gives)
    exact = all(typed.is_exact(s) for s in part)
    faults, dice = [], None if exact else np.random.default_rng(1)
    apart, aside = [[] for _ in gives], [[[] for _ in range(TIMES)] for _ in gives]
    for given, want in samples:
        start = {v: np.asarray(a).reshape(typed.types[v].dims) for v, a in zip(takes, given)}
        center = typed.compute(part, start)
        others = [] if exact else [typed.compute(part, start, dice) for _ in range(TIMES)]
        for k, v in enumerate(gives):
            apart[k].append(difference([want[k].reshape(center[v].shape)], [center[v]]))
            for j, other in enumerate(others):
                aside[k][j].append(difference([other[v]], [center[v]]))
        report["typed_samples"] += 1
        report["typed_elements"] += sum(a.size for a in want)
    for k, port in enumerate(said["outputs"]):
        name = f"{said['name']}: output {k}"
        if exact:
            faults += [f"{name} is not what the typed program gives"] if any(d.most for d in apart[k]) else []
        elif samples:
            faults += check_output(name, apart[k], aside[k])
    report["typed_regions"] += 1
    report["typed_operators"] += sum(s.op != "const" for s in part)
    report["typed_exact"] += exact
    return faults


def report_of() -> dict:
    """Of nothing yet."""
    return {"typed_regions": 0, "typed_operators": 0, "typed_samples": 0, "typed_elements": 0, "typed_exact": 0, "typed_not_computed": [], "faults": []}


def judge(beside: Beside, folder: Path) -> dict:
    """Regions, operators, samples and elements that were computed; faults; what has no rule."""
    report = report_of()
    typed = Typed(beside.text, side_of(beside.text, folder))
    for said in beside.record["regions"]:
        samples = samples_of(beside, said["name"])
        try:
            report["faults"] += check_region(typed, said, samples, report) if samples else []
        except NotImplementedError as error:
            report["typed_not_computed"].append(f"{said['name']}: {error}")
    return report
