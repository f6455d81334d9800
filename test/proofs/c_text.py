# SPDX-License-Identifier: Apache-2.0
"""c_text.py -- small functions of the compiler's C, read from its sources and evaluated on z3's bit vectors.

Integers of every width with C's conversions and promotions, locals, if, switch, ?: and calls of each other; loops and memory are
not known.  What has no meaning in C is collected: claims() has, for each signed sum, difference, negation and shift that was
evaluated, that it does not overflow, and for each assert() that it holds.  A product of two values that are not constants is the
number that the caller gives (`product`): z3 need not multiply, and what is proved holds for any such number.
"""
from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import z3
from pycparser import c_ast, c_parser

TOP = Path(__file__).resolve().parent.parent.parent
#: what the functions name: types by their bits and sign, and structures of which only the names matter
WIDTHS = {"int64_t": (64, True), "uint64_t": (64, False), "int32_t": (32, True), "uint32_t": (32, False), "int16_t": (16, True), "int": (32, True),
          "uint8_t": (8, False), "bool": (1, False), "tc_npu_round": (32, True), "tc_npu_wide": (128, True), "tc_dtype": (32, True)}
HEAD = "".join(f"typedef int {name};" for name in WIDTHS if name != "int") + """
typedef struct { int round; } tc_attr_tosa_shift;
typedef struct { int dtype; } tc_type;
typedef struct { tc_type *type; } tc_tensor;
typedef struct { tc_tensor in[5]; void *attr; } tc_call;
"""
INT = (32, True)


class Number(NamedTuple):
    term: z3.BitVecRef
    bits: int
    signed: bool


def number(v: int, kind=INT) -> Number:
    return Number(z3.BitVecVal(v, kind[0]), *kind)


def converted(x: Number, kind) -> Number:
    bits, signed = kind
    if kind == WIDTHS["bool"]:
        return Number(z3.If(truth(x), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)), 1, False)
    if bits <= x.bits:
        return Number(z3.Extract(bits - 1, 0, x.term), bits, signed)
    more = z3.SignExt if x.signed else z3.ZeroExt
    return Number(more(bits - x.bits, x.term), bits, signed)


def promoted(x: Number) -> Number:
    return converted(x, INT) if x.bits < 32 else x


def truth(x: Number):
    return z3.simplify(x.term != 0)


def common(a: Number, b: Number) -> tuple[Number, Number]:
    a, b = promoted(a), promoted(b)
    bits = max(a.bits, b.bits)
    signed = all(x.signed for x in (a, b) if x.bits == bits)
    return converted(a, (bits, signed)), converted(b, (bits, signed))


def of_truth(holds) -> Number:
    return Number(z3.If(holds, z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)), *INT)


def clz(x: Number) -> Number:
    zeros = z3.BitVecVal(x.bits, 32)
    for bit in range(x.bits):
        zeros = z3.If(z3.Extract(bit, bit, x.term) == 1, z3.BitVecVal(x.bits - 1 - bit, 32), zeros)
    return Number(zeros, *INT)


class Source:
    """Functions of some files by their names."""

    def __init__(self, *files: str):
        self.functions = {}
        for file in files:
            text = re.sub(r"/\*.*?\*/", "", (TOP / file).read_text(), flags=re.S)
            for found in re.finditer(r"^static (?:inline )?(?:int\w*|bool|uint\w*) (\w+)\([^;{]*\)\s*\{(?:[^\n]*\}$|.*?^\}$)", text, re.M | re.S):
                self.functions[found[1]] = re.sub(r"^static (?:inline )?", "", found[0])

    def parsed(self, name: str) -> c_ast.FuncDef:
        return c_parser.CParser().parse(HEAD + self.functions[name]).ext[-1]

    def call(self, name: str, *given, product=None, fields=None, stubs=None) -> "Run":
        run = Run(self, product, fields or {}, stubs or {})
        run.value = run.called(name, list(given))
        return run


class Run:
    def __init__(self, source: Source, product, fields: dict, stubs: dict):
        self.source, self.product, self.fields, self.stubs = source, product, fields, stubs
        self.value: Number
        self.path = z3.BoolVal(True)
        self.obliged: list[tuple[str, object]] = []

    def claims(self) -> list[tuple[str, object]]:
        """What must hold, so that C says what was computed."""
        return self.obliged

    def must(self, words: str, holds) -> None:
        self.obliged.append((words, z3.Implies(self.path, holds)))

    def called(self, name: str, given: list[Number | None]) -> Number:
        if name in self.stubs:
            return self.stubs[name]
        function = self.source.parsed(name)
        names = [(p.name, kind_of(p.type)) for p in function.decl.type.args.params]
        local = {p: converted(g, kind) if g is not None else None for (p, kind), g in zip(names, given)}
        return converted(self.body(function.body.block_items, local), kind_of(function.decl.type.type))

    # ---- statements ----

    def body(self, items: list, local: dict) -> Number | None:
        """What they return; None: they run to their end."""
        for k, item in enumerate(items):
            if isinstance(item, c_ast.Return):
                return self.of(item.expr, local)
            if isinstance(item, c_ast.Decl):
                local[item.name] = converted(self.of(item.init, local), kind_of(item.type))
            elif isinstance(item, c_ast.If):
                return self.branch(item, items[k + 1:], local)
            elif isinstance(item, c_ast.Switch):
                return self.switch(item, items[k + 1:], local)
            else:
                self.of(item, local)
        return None

    def branch(self, item: c_ast.If, rest: list, local: dict) -> Number | None:
        holds = truth(self.of(item.cond, local))
        yes, no = ((s.block_items if isinstance(s, c_ast.Compound) else [s] if s else []) for s in (item.iftrue, item.iffalse))
        if z3.is_true(holds) or z3.is_false(holds):
            return self.body((yes if z3.is_true(holds) else no) + rest, local)
        return self.either(holds, lambda: self.body(yes + rest, dict(local)), lambda: self.body(no + rest, dict(local)))

    def either(self, holds, yes, no) -> Number:
        before = self.path
        self.path = z3.And(before, holds)
        a = yes()
        self.path = z3.And(before, z3.Not(holds))
        b = no()
        self.path = before
        a, b = common(a, b)
        return Number(z3.If(holds, a.term, b.term), a.bits, a.signed)

    def switch(self, item: c_ast.Switch, rest: list, local: dict) -> Number | None:
        on = z3.simplify(self.of(item.cond, local).term).as_long()
        for case in item.stmt.block_items:
            if isinstance(case, c_ast.Case) and self.fields[case.expr.name] == on:
                return self.body(case.stmts, local)
        return self.body(rest, local)

    # ---- expressions ----

    def of(self, e, local: dict) -> Number:
        return getattr(self, "of_" + type(e).__name__.lower())(e, local)

    def of_constant(self, e, local):
        text = e.value.rstrip("uUlL")
        bits = 64 if "l" in e.value.lower() or abs(int(text, 0)) >= 1 << 31 else 32
        return number(int(text, 0), (bits, "u" not in e.value.lower()))

    def of_id(self, e, local):
        known = {"INT32_MAX": number((1 << 31) - 1), "INT32_MIN": number(-1 << 31), "INT16_MAX": number((1 << 15) - 1), "UINT64_MAX": number(-1, (64, False)),
                 "true": number(1), "false": number(0)}
        return local[e.name] if e.name in local else known[e.name] if e.name in known else number(self.fields[e.name])

    def of_structref(self, e, local):
        return number(self.fields[e.field.name])

    def of_cast(self, e, local):
        kind = kind_of(e.to_type.type)
        x = self.of(e.expr, local)
        return converted(x, kind) if kind and x is not None else number(0)

    def of_unaryop(self, e, local):
        x = promoted(self.of(e.expr, local))
        if e.op == "!":
            return of_truth(z3.Not(truth(x)))
        if e.op == "-":
            self.must("a negation fits", z3.BVSNegNoOverflow(x.term))
        return x._replace(term={"-": -x.term, "~": ~x.term, "+": x.term}[e.op])

    def of_ternaryop(self, e, local):
        holds = truth(self.of(e.cond, local))
        return self.either(holds, lambda: self.of(e.iftrue, local), lambda: self.of(e.iffalse, local))

    def of_assignment(self, e, local):
        right = self.of(e.rvalue, local) if e.op == "=" else self.two(e.op[:-1], local[e.lvalue.name], self.of(e.rvalue, local))
        old = local[e.lvalue.name]
        local[e.lvalue.name] = converted(right, (old.bits, old.signed))
        return local[e.lvalue.name]

    def of_funccall(self, e, local):
        name, args = e.name.name, e.args.exprs
        if name in ("INT64_C", "UINT64_C"):
            return converted(self.of(args[0], local), (64, name == "INT64_C"))
        if name == "assert":
            self.must("an assertion", truth(self.of(args[0], local)))
            return number(0)
        if name in ("__builtin_clz", "__builtin_clzll"):
            return clz(converted(self.of(args[0], local), (64 if name.endswith("ll") else 32, False)))
        return self.called(name, [self.of(a, local) if not isinstance(a, c_ast.ID) or a.name != "call" else None for a in args])

    def of_binaryop(self, e, local):
        if e.op in ("&&", "||"):
            left = truth(self.of(e.left, local))
            before, self.path = self.path, z3.And(self.path, left if e.op == "&&" else z3.Not(left))
            right = truth(self.of(e.right, local))
            self.path = before
            return of_truth((z3.And if e.op == "&&" else z3.Or)(left, right))
        return self.two(e.op, self.of(e.left, local), self.of(e.right, local))

    def two(self, op: str, a: Number, b: Number) -> Number:
        if op in ("<<", ">>"):
            return self.shifted(op, promoted(a), promoted(b))
        a, b = common(a, b)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            x, y = a.term, b.term
            signed = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}
            plain = {"<": z3.ULT(x, y), "<=": z3.ULE(x, y), ">": z3.UGT(x, y), ">=": z3.UGE(x, y), "==": x == y, "!=": x != y}
            return of_truth((signed if a.signed else plain)[op])
        if op == "*":
            constant = z3.is_bv_value(z3.simplify(a.term)) or z3.is_bv_value(z3.simplify(b.term))
            return a._replace(term=a.term * b.term) if constant or self.product is None else converted(self.product, (a.bits, a.signed))
        if a.signed and op == "+":
            self.must("a sum fits", z3.And(z3.BVAddNoOverflow(a.term, b.term, True), z3.BVAddNoUnderflow(a.term, b.term)))
        if a.signed and op == "-":
            self.must("a difference fits", z3.And(z3.BVSubNoOverflow(a.term, b.term), z3.BVSubNoUnderflow(a.term, b.term, True)))
        return a._replace(term={"+": a.term + b.term, "-": a.term - b.term, "&": a.term & b.term, "|": a.term | b.term, "^": a.term ^ b.term}[op])

    def shifted(self, op: str, a: Number, b: Number) -> Number:
        by = converted(b, (a.bits, a.signed)).term
        self.must("a shift is within its width", z3.And(by >= 0, z3.ULT(by, a.bits)))
        if op == "<<":
            moved = a.term << by
            if a.signed:
                self.must("a shift to the left loses nothing", z3.And(a.term >= 0, moved >> by == a.term, moved >= 0))
            return a._replace(term=moved)
        return a._replace(term=a.term >> by if a.signed else z3.LShR(a.term, by))


def kind_of(node) -> tuple[int, bool] | None:
    while isinstance(node, (c_ast.TypeDecl, c_ast.Decl)):
        node = node.type
    return WIDTHS.get(node.names[0]) if isinstance(node, c_ast.IdentifierType) else None
