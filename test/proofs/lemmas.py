# SPDX-License-Identifier: Apache-2.0
"""lemmas.py -- what the integer rewrites rely on, each stated once.

A row: its name, the file that relies on it, the statement, for which numbers, and how it is decided:

    z3          for all numbers of the domain; the function gives the claims, each of which z3 must prove
    exhaustive  every code through the compiler's own functions and passes: build/unit-lemmas (parameters as its comments say)
    measured    not proved: the tests that hold it to samples
"""
from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

import z3

from arithmetic import (choose, clip, leading_zeros, rounded_shift, saturated, scaled, tosa_shift, wide, wrapped)

TOP = (1 << 31) - 1  # the largest factor


class Claim(NamedTuple):
    words: str
    given: list
    holds: object


class Lemma(NamedTuple):
    name: str
    where: str
    formula: str
    domain: str
    how: str
    claims: Callable[[], Iterator[Claim]] | str


def number(name: str):
    return z3.BitVec(name, 64)


def between(v, lo: int, hi: int):
    return z3.And(v >= lo, v <= hi)


def of_bits(v, bits: int):
    return between(v, -(1 << bits - 1), (1 << bits - 1) - 1)


# A product of a value and a factor that is not negative, as any number with its sign: v < 0 => p <= 0, v >= 0 => p >= 0.
def product():
    p, negative = number("p"), z3.Bool("negative")
    return p, negative, [between(p, -(1 << 61), 1 << 61), z3.If(negative, p <= 0, p >= 0)]


def two_roundings():
    p, negative, given = product()
    given = given + [between(p, -TOP << 30, TOP << 30)]
    for shift in range(32, 63):
        first = rounded_shift(p, negative, 31)
        second = tosa_shift(first + (first >> 31), shift - 31)
        yield Claim(f"shift {shift}", given, rounded_shift(p, negative, shift, "double") == second)


def narrowed_in_range():
    p, negative, given = product()
    for shift in range(33, 63):
        first = rounded_shift(p, negative, 31)
        second = tosa_shift(first + (first >> 31), shift - 31)
        yield Claim(f"shift {shift}", given + [between(p, -TOP << 30, TOP << 30)], between(second, -(1 << 29), (1 << 29) - 1))
    x = number("x")
    held = clip(x, -(1 << 28), 1 << 28)
    for zero in (-128, 0, 127, -32768, 32767):
        for bits in (8, 16):
            yield Claim(f"held, zero point {zero}, {bits} bits", [of_bits(x, 32)],
                        saturated(scaled(held, 1 << 30, 30) + zero, bits) == saturated(x + zero, bits))


def clamps():
    x, a, b, c, d = map(number, "xabcd")
    yield Claim("clamp of clamp", [of_bits(x, 32), of_bits(a, 32), of_bits(b, 32), of_bits(c, 32), of_bits(d, 32), a <= b, c <= d],
                clip(clip(x, a, b), c, d) == clip(x, clip(a, c, d), clip(b, c, d)))


def even_factors():
    p = number("p")
    for shift in range(1, 63):
        yield Claim(f"shift {shift}", [between(p, -(1 << 60), 1 << 60)], rounded_shift(2 * p, p < 0, shift) == rounded_shift(p, p < 0, shift - 1))


def even_factors_double():
    p, negative, given = product()
    for shift in range(2, 32):
        yield Claim(f"shift {shift}", given, rounded_shift(2 * p, negative, shift, "double") == rounded_shift(p, negative, shift - 1, "double"))


def halves_away():
    x = number("x")
    for shift in range(31, 63):
        yield Claim(f"shift {shift}", [between(x, 1 - (1 << 30), (1 << 30) - 1)],
                    scaled(x, (1 << 30) + 1, shift) == rounded_shift(x, x < 0, shift - 30, "symmetric"))


def shifts_left():
    x = number("x")
    for bits in (9, 17):
        for n in range(0, 29):
            for by in range(0, 29):
                if bits + n + by <= 32 and n + by <= 30 and 30 - n >= 2:
                    yield Claim(f"{bits} bits, {n} and {by}", [of_bits(x, bits)],
                                z3.And(wrapped(scaled(x, 1 << 30, 30 - n) << by) == scaled(x, 1 << 30, 30 - n - by)))


def booleans():
    a, b = number("a"), number("b")
    both = [between(a, 0, 1), between(b, 0, 1)]
    yield Claim("and", both, (a & b) == choose(a < b, a, b))
    yield Claim("or", both, (a | b) == choose(a > b, a, b))
    yield Claim("xor", both, (a ^ b) == choose(a + b == 1, wide(1), wide(0)))
    yield Claim("not", both, 1 - a == a ^ 1)
    yield Claim("bits", [of_bits(a, 32)], -1 - a == ~a)


def comparisons():
    a, b = number("a"), number("b")
    both = [of_bits(a, 32), of_bits(b, 32)]
    for words, held in (("wraps", wrapped), ("saturates", saturated)):
        yield Claim(f"equal, {words}", both, clip(leading_zeros(held(a - b)) - 31, 0, 1) == choose(a == b, wide(1), wide(0)))
        most = choose(a > b, a, b)
        yield Claim(f"greater, {words}", both, clip(32 - leading_zeros(held(most - b)), 0, 1) == choose(a > b, wide(1), wide(0)))
        other = choose(b > a, b, a)
        yield Claim(f"greater or equal, {words}", both, clip(leading_zeros(held(other - a)) - 31, 0, 1) == choose(a >= b, wide(1), wide(0)))


def selects():
    a, b, c = number("a"), number("b"), number("c")
    for bits in (8, 16, 32):
        given = [of_bits(a, bits), of_bits(b, bits), between(c, 0, 1)]
        want = choose(c == 1, a, b)
        mask = -c
        yield Claim(f"masks, {bits} bits", given, ((a & mask) | (b & ~mask)) == want)
        yes, no = c * a, (c - 1) * b
        if bits < 32:
            room = 2 * bits
            yield Claim(f"c a - (c - 1) b, {bits} bits", given, z3.And(yes - no == want, of_bits(yes, room), of_bits(no, room)))
        else:
            yield Claim("c a + (1 - c) b, 32 bits", given, z3.And(yes + -no == want, of_bits(yes, 32), of_bits(-no, 32)))


def sums_in_parts():
    p, q = number("p"), number("q")
    for k in range(3, 32):
        one = 1 << k
        given = [between(p, -(1 << 46), 1 << 46), between(q, -(1 << 46), 1 << 46)]
        parts = rounded_shift(p, p < 0, k) + rounded_shift(q, q < 0, k)
        yield Claim(f"unit 2^-{k}", given, between(parts * one - (p + q), -one, one))


def bytes_apart():
    v = number("v")
    high = v >> 8
    low = v - 256 * high - 128
    yield Claim("16 bits", [of_bits(v, 16)], z3.And(of_bits(high, 8), of_bits(low, 8), 256 * high + (low + 128) == v))


def zero_points():
    """In 32 bits that wrap, as whole_bias() and its kernel compute."""
    x, w, u, v, bias, zero = z3.BitVecs("x w u v bias zero", 32)
    whole = (x - zero) * w + (u - zero) * v + bias
    yield Claim("the zero point of the values", [], whole == x * w + u * v + (bias - zero * (w + v)))


def pads():
    x, w, zero = z3.BitVecs("x w zero", 32)
    yield Claim("a tap of padding", [x == zero], (x - zero) * w == 0)


LEMMAS = [
    Lemma("rescale fusion", "src/lower/layout/fuse_rescales.c (join)", "g(f(x)) = t(x), t[c] = g(f(c)), for f, g of RESCALE, CLAMP, TABLE",
          "all 256 codes; 20,000 pairs of parameters", "exhaustive", "fusion"),
    Lemma("identities", "src/lower/layout/fuse_rescales.c (drop)", "f(c) = c for every code => f(x) = x",
          "all 256 codes; the same pairs", "exhaustive", "fusion"),
    Lemma("clamp of clamp", "src/lower/layout/fuse_rescales.c (put_clamp), src/codegen/select_rescale.c (set_bounds)",
          "clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d))", "32 bits, a <= b, c <= d", "z3", clamps),
    Lemma("rescale of a concat", "src/lower/layout/fuse_rescales.c (narrow_parts)", "f(x ++ y) = f(x) ++ f(y), factors cut with the channels",
          "f is elementwise; the indices", "measured", "test/golden/lower/fuse-rescales-parts.ir, random models"),
    Lemma("two roundings", "src/lower/ethosu/split_double_rounding.c", "double(v m, s) = r2(r1(v m, 31), s - 31), r2(h) = round(h + (h >> 31))",
          "all products |v m| <= 2^30 (2^31 - 1), shifts 32..62; |v| < 2^30 is a premise", "z3", two_roundings),
    Lemma("narrowing after two roundings", "src/lower/ethosu/split_double_rounding.c",
          "the RESCALE by 2^30 / 2^30 gets values below 2^29; where the shift is below 33, held to 2^28 first, which saturates alike",
          "all products, shifts 33..62; all 32 bits", "z3", narrowed_in_range),
    Lemma("select by products", "src/lower/ethosu/replace_selects.c", "where(c, x, y) = x m + y (1 - m) in the result's own type",
          "all codes of 8 bits for x and y, both c; 9 zero points; typed kernels", "exhaustive", "selects"),
    Lemma("even factors", "src/codegen/select_rescale.c (ti_sel_reduce)", "round(v 2f / 2^s) = round(v f / 2^(s-1))",
          "all products below 2^60, shifts 1..62, halves up", "z3", even_factors),
    Lemma("even factors, two roundings", "src/codegen/select_rescale.c (fill_channels)", "the same with double rounding",
          "all products, shifts 2..31; it is false above", "z3", even_factors_double),
    Lemma("halves away from zero", "src/codegen/select_rescale.c (HALVES_AWAY)", "round(x (2^30 + 1) / 2^n) = symmetric(x / 2^(n-30))",
          "|x| < 2^30, n 31..62", "z3", halves_away),
    Lemma("shifts left", "src/codegen/fold_shifts.c", "(x 2^30 / 2^(30-n)) << k = x 2^30 / 2^(30-n-k)", "9 and 17 bits, all n and k that it takes", "z3", shifts_left),
    Lemma("booleans", "src/codegen/select_logic.c", "and = min, or = max, xor = (a + b = 1), !a = 1 - a, ~a = -1 - a", "0 and 1; ~ of 32 bits", "z3", booleans),
    Lemma("comparisons", "src/codegen/select_logic.c (compare_u55)", "a = b: clz(a - b) - 31; a > b: 32 - clz(max(a, b) - b); clamped to 0..1",
          "32 bits, whether the difference wraps or saturates", "z3", comparisons),
    Lemma("forms of select", "src/codegen/select_logic.c", "c ? a : b = (a & -c) | (b & ~-c) = c a - (c - 1) b = c a + (1 - c) b",
          "8, 16, 32 bits; the products fit", "z3", selects),
    Lemma("sums in parts", "src/lower/product/split_accumulators.c", "|round(p u) + round(q u) - (p + q) u| <= 1", "48-bit sums, units 2^-3..2^-31", "z3", sums_in_parts),
    Lemma("zero points into biases", "src/cortexm/c_products.c (whole_bias)", "sum (x - z) w + b = sum x w + (b - z sum w), in 32 bits that wrap",
          "32 bits, two terms; more by induction", "z3", zero_points),
    Lemma("padding of the zero point", "src/codegen/fold_pads.c", "x = z => (x - z) w = 0: a tap on padding adds what a tap beyond the map adds", "32 bits", "z3", pads),
    Lemma("pads into windows", "src/codegen/fold_pads.c", "the window over PAD(x) is the window over x with pads added", "the indices", "measured",
          "unit-codegen, TOSA suite on the back end"),
    Lemma("a table for each byte", "src/lower/integer/table_lookup.c (by_bytes)", "v = 256 floor(v / 256) + (v mod 256), both parts in 8 bits",
          "all results of 16 bits", "z3", bytes_apart),
    Lemma("tables of 16 bits at 128 c", "src/lower/integer/table_lookup.c (widened)", "table16(t, 128 c) = 128 t[c + 256]",
          "all 256 codes, entries of both ends", "exhaustive", "tables"),
    Lemma("tables of i16, near enough", "src/lower/integer/table_lookup.c (from_i16)", "|y - f(x)| <= 2 steps", "65,536 codes of each function", "measured",
          "the fit itself evaluates every code; golden files state the distance"),
    Lemma("leaky factors", "src/codegen/fold_leaky.c", "max(x f, x g) = x < 0 ? x g : x f", "65,536 codes of each pair", "measured",
          "are_sides() evaluates every code of the pair at hand while compiling"),
    Lemma("codes of one value", "src/codegen/fold_codes.c", "a function of one int8 value is its 256 results", "256 codes of each function", "measured",
          "ti_eval_node() evaluates every code while compiling"),
]
