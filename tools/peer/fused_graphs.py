# SPDX-License-Identifier: Apache-2.0
"""Random integer graphs of TOSA, of the operators that Vela joins, cuts and moves.

A recipe is a list of (step, random number); the same recipe makes the same graph, and a recipe with steps left out makes a smaller one.
"""
import numpy as np

from tosa_write import Graph

NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "bool": np.bool_}
TOP = {"i8": 128, "i16": 2 ** 15, "i32": 2 ** 17}
ANY = ("i8", "i16", "i32")
ROUNDING = {"single": 1, "double": 3}


class Maker:
    def __init__(self, recipe, seed):
        self.g, self.pool = Graph("main", "r"), []
        for step, salt in recipe:
            self.rng = np.random.default_rng([seed, salt])
            try:
                made = getattr(self, step)()
            except (IndexError, ValueError):
                made = None
            if made:
                self.pool.append(made)
        used = {o for op in self.g.operators for o in op[1]}
        for name in [p for p in self.pool if p not in used and p not in self.g.inputs][:4]:
            self.g.output(name)
        needed = set(self.g.outputs)
        for op in reversed(self.g.operators):
            if needed & set(op[2]):
                needed |= set(op[1])
        self.ok = bool(self.g.outputs) and all(i in needed for i in self.g.inputs)

    # ---- small parts

    def pick(self, *dtypes, rank=None):
        found = [p for p in self.pool if self.g.type[p][0] in dtypes and rank in (None, len(self.g.type[p][1]))]
        return found[-1 - int(self.rng.integers(0, min(3, len(found))))]

    def of(self, *choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def chance(self, p):
        return self.rng.random() < p

    def number(self, low, high):
        return int(self.rng.integers(low, high))

    def zero(self, dtype, value=0):
        return self.g.const(dtype, np.array([value], NUMPY[dtype]))

    def extents(self, least=1, most=7):
        rank = self.of(4, 4, 4, 4, 4, 3, 3, 2, 1, 5)
        shape = [int(v) for v in self.rng.integers(least, most, rank)]
        if rank == 4 and self.chance(0.75):
            shape[0] = 1
        if rank > 1 and self.chance(0.15):
            shape[-1] = self.of(8, 16, 17, 32, 40)
        return tuple(shape)

    def random(self, dtype, shape):
        return self.rng.integers(-TOP[dtype], TOP[dtype], shape)

    # ---- beginnings

    def begin(self):
        dtype = self.of("i8", "i8", "i8", "i16", "i32")
        shape = self.extents()
        return self.g.input(dtype, shape, self.random(dtype, shape))

    def constant(self):
        """Like something that is there, or a number to be repeated over it."""
        dtype, shape = self.g.type[self.pick(*ANY)]
        if self.chance(0.6):
            shape = tuple(d if self.chance(0.5) else 1 for d in shape)
        return self.g.const(dtype, self.random(dtype, shape).astype(NUMPY[dtype]))

    # ---- changes of scale and type

    def rescale(self):
        x = self.pick(*ANY)
        frm, shape = self.g.type[x]
        to = self.of(*ANY)
        bits = {"i8": 8, "i16": 16, "i32": 20}
        n = shape[-1] if self.chance(0.15) else 1
        factors = [float(2 ** self.number(0, 4)) if self.chance(0.4) else float(np.exp(self.rng.uniform(-3, 1))) for _ in range(n)]
        if bits[to] < bits[frm]:
            factors = [f * 2.0 ** (bits[to] - bits[frm]) for f in factors]
        multiplier, shift = [], []
        for f in factors:
            exponent = int(np.floor(np.log2(f))) + 1
            m, s = int(round(f * 2.0 ** (31 - exponent))), 31 - exponent
            if m == 2 ** 31:
                m, s = 2 ** 30, s - 1
            if not 2 <= s <= 62 or (frm == "i32" and s < 24):
                return None
            multiplier.append(m)
            shift.append(s)
        zp = self.number(-20, 20) if frm == "i8" else 0
        zq = self.number(-20, 20) if to == "i8" else 0
        rounding = ROUNDING["double" if self.chance(0.15) and min(shift) > 31 else "single"]
        return self.g.op("RESCALE", [x, self.g.const("i32", np.array(multiplier, np.int32)), self.g.const("i8", np.array(shift, np.int8)),
                                     self.zero(frm, zp), self.zero(to, zq)], [(to, shape)], per_channel=n > 1, scale32=True,
                         rounding_mode=rounding, input_unsigned=False, output_unsigned=False)

    def unsigned(self):
        """Codes of 8 bits without a sign, as files have them, as int8; or back."""
        x, down = self.pick("i8"), self.chance(0.7)
        one = self.g.const("i32", np.array([2 ** 30], np.int32)), self.g.const("i8", np.array([30], np.int8))
        zero = -128 if self.chance(0.6) else self.number(-128, 128)
        y = self.g.op("RESCALE", [x, *one, self.zero("i8", zero if down else 0), self.zero("i8", 0 if down else zero)], [self.g.type[x]],
                      per_channel=False, scale32=True, rounding_mode=ROUNDING["single"], input_unsigned=down, output_unsigned=not down)
        if down:
            return y
        if self.chance(0.3):
            y = self.g.op("CLAMP", [y], [self.g.type[x]], min_val=np.int8(-81).tobytes(), max_val=np.int8(90).tobytes(), nan_mode=1)
        self.g.output(y)  # the reference model ends where a TABLE reads one
        return None

    def cast(self):
        x = self.pick(*ANY)
        frm, shape = self.g.type[x]
        return self.g.op("CAST", [x], [(self.of(*[t for t in ANY if t != frm]), shape)])

    def table(self):
        x = self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        if dtype == "i8":
            return self.g.op("TABLE", [x, self.g.const("i8", self.rng.integers(-128, 128, 256).astype(np.int8))], [("i8", shape)])
        walk = np.clip(np.cumsum(self.rng.integers(-90, 91, 513)), -2 ** 15, 2 ** 15 - 1).astype(np.int16)
        return self.g.op("TABLE", [x, self.g.const("i16", walk)], [("i32", shape)])

    def clamp(self):
        x = self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        low, high = self.number(-100, 0), self.number(1, 100)
        return self.g.op("CLAMP", [x], [(dtype, shape)], min_val=NUMPY[dtype](low).tobytes(), max_val=NUMPY[dtype](high).tobytes(), nan_mode=1)

    # ---- element by element

    def mate(self, a, *dtypes):
        """Something that a can be repeated with, and the shape of both together."""
        shape = self.g.type[a][1]
        found = [p for p in self.pool if self.g.type[p][0] in dtypes and len(self.g.type[p][1]) == len(shape) and
                 all(x == y or 1 in (x, y) for x, y in zip(self.g.type[p][1], shape))]
        b = found[int(self.rng.integers(0, len(found)))]
        return b, tuple(max(x, y) for x, y in zip(shape, self.g.type[b][1]))

    def binary(self):
        op = self.of("ADD", "SUB", "MAXIMUM", "MINIMUM", "MUL")
        a = self.pick("i32", "i8", "i16") if op == "MUL" else self.pick("i32")
        dtype = self.g.type[a][0]
        b, shape = self.mate(a, dtype)
        a, b = (a, b) if self.chance(0.5) else (b, a)
        if op == "MUL":
            return self.g.op(op, [a, b, self.zero("i8", self.number(0, 12) if dtype == "i32" else 0)], [("i32", shape)])
        return self.g.op(op, [a, b], [("i32", shape)], **({"nan_mode": 1} if op[:2] in ("MA", "MI") else {}))

    def shift(self):
        a = self.pick("i32")
        amount = self.g.const("i32", self.rng.integers(0, 20, self.g.type[a][1] if self.chance(0.3) else (1,) * len(self.g.type[a][1])).astype(np.int32))
        shape = self.g.type[a][1]
        if self.chance(0.4):
            return self.g.op("LOGICAL_LEFT_SHIFT", [a, amount], [("i32", shape)])
        return self.g.op("ARITHMETIC_RIGHT_SHIFT", [a, amount], [("i32", shape)], round=self.chance(0.5))

    def unary(self):
        op = self.of("ABS", "CLZ", "NEGATE")
        x = self.pick("i8", "i16", "i32") if op == "NEGATE" else self.pick("i32")
        dtype, shape = self.g.type[x]
        if op == "NEGATE":
            return self.g.op(op, [x, self.zero(dtype, self.number(-9, 9) if dtype == "i8" else 0), self.zero(dtype)], [(dtype, shape)])
        return self.g.op(op, [x], [(dtype, shape)])

    def select(self):
        """Of two, by a comparison."""
        a = self.pick("i32")
        b, shape = self.mate(a, "i32")
        c = self.g.op(self.of("GREATER", "GREATER_EQUAL", "EQUAL"), [a, b], [("bool", shape)])
        return self.g.op("SELECT", [c, a, b], [("i32", shape)])

    # ---- moves

    def slice(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        start = [self.number(0, d) if self.chance(0.5) else 0 for d in shape]
        size = [self.number(1, d - s + 1) if self.chance(0.5) else d - s for d, s in zip(shape, start)]
        return self.g.op("SLICE", [x, self.g.shape(start), self.g.shape(size)], [(dtype, tuple(size))])

    def concat(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        axis = self.number(0, len(shape))
        mates = [p for p in self.pool if self.g.type[p][0] == dtype and len(self.g.type[p][1]) == len(shape) and
                 all(a == b for i, (a, b) in enumerate(zip(self.g.type[p][1], shape)) if i != axis)]
        y = mates[int(self.rng.integers(0, len(mates)))]
        out = list(shape)
        out[axis] += self.g.type[y][1][axis]
        return self.g.op("CONCAT", [x, y], [(dtype, tuple(out))], axis=axis)

    def pad(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        first = [0, 0] if self.chance(0.8) and len(shape) > 1 else [self.number(0, 2), self.number(0, 2)]
        pads = first + [int(v) for v in self.rng.integers(0, 3, 2 * (len(shape) - 1))]
        if self.chance(0.4):  # of one axis
            axis = self.number(0, len(shape))
            pads = [n if i // 2 == axis else 0 for i, n in enumerate(pads)]
        out = tuple(d + pads[2 * i] + pads[2 * i + 1] for i, d in enumerate(shape))
        return self.g.op("PAD", [x, self.g.shape(pads), self.zero(dtype, self.number(-5, 5) if self.chance(0.5) else 0)], [(dtype, out)])

    def reshape(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        out = list(shape)
        for _ in range(self.number(1, 3)):
            k = self.number(0, len(out))
            factor = next((f for f in (2, 3, 5) if out[k] % f == 0), 0)
            if self.chance(0.5) and k:
                out[k - 1:k + 1] = [out[k - 1] * out[k]]
            elif factor and len(out) < 5:
                out[k:k + 1] = [factor, out[k] // factor]
        out = [1] * max(0, self.of(0, 4, 4) - len(out)) + out
        return self.g.op("RESHAPE", [x, self.g.shape(out)], [(dtype, tuple(out))])

    def transpose(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        fixed = 1 if self.chance(0.7) and len(shape) > 1 else 0
        perm = list(range(fixed)) + [fixed + int(v) for v in self.rng.permutation(len(shape) - fixed)]
        return self.g.op("TRANSPOSE", [x], [(dtype, tuple(shape[p] for p in perm))], perms=perm)

    def reverse(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        return self.g.op("REVERSE", [x], [(dtype, shape)], axis=self.number(0, len(shape)))

    def tile(self):
        x = self.pick(*ANY)
        dtype, shape = self.g.type[x]
        times = [self.of(1, 1, 2, 3) for _ in shape]
        return self.g.op("TILE", [x, self.g.shape(times)], [(dtype, tuple(d * t for d, t in zip(shape, times)))])

    def gather(self):
        x = self.pick(*ANY, rank=3)
        dtype, (n, k, c) = self.g.type[x]
        w = self.number(1, 6)
        return self.g.op("GATHER", [x, self.g.const("i32", self.rng.integers(0, k, (n, w)).astype(np.int32))], [(dtype, (n, w, c))])

    # ---- reductions, products, windows

    def reduce(self):
        op = self.of("REDUCE_MAX", "REDUCE_MIN", "REDUCE_SUM", "REDUCE_SUM")
        x = self.pick("i32") if op == "REDUCE_SUM" else self.pick("i8", "i16")
        dtype, shape = self.g.type[x]
        axis = self.number(0, len(shape))
        out = tuple(1 if i == axis else d for i, d in enumerate(shape))
        return self.g.op(op, [x], [(dtype, out)], axis=axis, **({} if op == "REDUCE_SUM" else {"nan_mode": 1}))

    def argmax(self):
        x = self.pick("i8")
        _, shape = self.g.type[x]
        axis = self.number(0, len(shape))
        return self.g.op("ARGMAX", [x], [("i32", tuple(d for i, d in enumerate(shape) if i != axis))], axis=axis, nan_mode=1)

    def matmul(self):
        x = self.pick("i8")
        _, shape = self.g.type[x]
        n, h, c = int(np.prod(shape[:-2])), shape[-2], shape[-1]
        a = x if len(shape) == 3 else self.g.op("RESHAPE", [x, self.g.shape([n, h, c])], [("i8", (n, h, c))])
        b = self.g.op("TRANSPOSE", [a], [("i8", (n, c, h))], perms=[0, 2, 1])
        zp = self.number(-9, 9) if self.chance(0.4) else 0
        y = self.g.op("MATMUL", [a, b, self.zero("i8", zp), self.zero("i8", zp)], [("i32", (n, h, h))])
        return self.g.op("RESHAPE", [y, self.g.shape([1, n, h, h])], [("i32", (1, n, h, h))]) if self.chance(0.7) else y

    def window(self, shape, most=3, dilates=False):
        """Kernel, stride, padding and dilation whose output is whole; now and then one that is far larger along one axis."""
        kernel, stride, pad, dilation, out = [], [], [], [], []
        long = self.number(0, len(shape)) if self.chance(0.15) else -1
        for i, d in enumerate(shape):
            k, s = self.number(1, most + 1 + 8 * (i == long)), self.of(1, 1, 1, 1, 2, 2, 3)
            before, after = self.number(0, k), self.number(0, k)
            step = self.number(1, 4) if dilates and self.chance(0.2) else 1
            span = (k - 1) * step + 1
            while (d + before + after - span) % s:
                after = after + 1 if after + 1 < k else 0
                if not after:
                    s = 1
            if d + before + after < span:
                raise ValueError
            kernel.append(k)
            stride.append(s)
            dilation.append(step)
            pad += [before, after]
            out.append((d + before + after - span) // s + 1)
        return kernel, stride, pad, out, dilation

    def bias(self, n):
        """Constants; now and then numbers of the program."""
        numbers = self.rng.integers(-999, 999, n).astype(np.int32)
        return self.g.input("i32", (n,), numbers) if self.chance(0.1) else self.g.const("i32", numbers)

    def conv(self):
        x = self.pick("i8", rank=4)
        _, shape = self.g.type[x]
        oc, (kernel, stride, pad, out, dilation) = self.of(1, 3, 4, 8, 16, 17), self.window(shape[1:3], dilates=True)
        w = self.rng.integers(-127, 128, (oc, *kernel, shape[3])).astype(np.int8)
        bias = self.bias(oc if self.chance(0.7) else 1)
        return self.g.op("CONV2D", [x, self.g.const("i8", w), bias, self.zero("i8", self.number(-9, 9)), self.zero("i8")],
                         [("i32", (shape[0], *out, oc))], pad=pad, stride=stride, dilation=dilation, local_bound=False, acc_type="i32")

    def depthwise(self):
        x = self.pick("i8", rank=4)
        _, shape = self.g.type[x]
        m, (kernel, stride, pad, out, dilation) = self.of(1, 1, 2), self.window(shape[1:3], dilates=True)
        w = self.rng.integers(-127, 128, (*kernel, shape[3], m)).astype(np.int8)
        bias = self.bias(shape[3] * m)
        return self.g.op("DEPTHWISE_CONV2D", [x, self.g.const("i8", w), bias, self.zero("i8", self.number(-9, 9)), self.zero("i8")],
                         [("i32", (shape[0], *out, shape[3] * m))], pad=pad, stride=stride, dilation=dilation, local_bound=False, acc_type="i32")

    def pooling(self):
        x = self.pick("i8", "i16", rank=4)
        dtype, shape = self.g.type[x]
        kernel, stride, pad, out, _ = self.window(shape[1:3])
        result = [(dtype, (shape[0], *out, shape[3]))]
        if self.chance(0.5):
            return self.g.op("MAX_POOL2D", [x], result, kernel=kernel, stride=stride, pad=pad, nan_mode=1)
        return self.g.op("AVG_POOL2D", [x, self.zero(dtype), self.zero(dtype)], result, kernel=kernel, stride=stride, pad=pad, acc_type="i32")

    def resize(self):
        x = self.pick("i8", rank=4)
        _, shape = self.g.type[x]
        scale = self.of(2, 4)
        out = [(d - 1) * scale + scale for d in shape[1:3]]
        numbers = [2 * scale, 2, 2 * scale, 2], [1 - scale, 1 - scale], [scale - 1, scale - 1]
        return self.g.op("RESIZE", [x, *(self.g.shape(n) for n in numbers)], [("i8", (shape[0], *out, shape[3]))], mode=1)


STEPS = ["begin", "begin", "constant"] + 4 * ["rescale"] + 3 * ["binary"] + 2 * ["slice", "concat"] + [
    "cast", "unsigned", "table", "clamp", "shift", "unary", "select", "pad", "reshape", "reshape", "transpose", "transpose", "reverse", "tile", "gather",
    "reduce", "reduce", "argmax", "matmul", "conv", "depthwise", "pooling", "resize"]


def recipe_of(seed, number):
    rng = np.random.default_rng([seed, number])
    first = "unsigned" if rng.random() < 0.2 else "rescale"
    return [("begin", 1), (first, 2)] + [(STEPS[int(rng.integers(0, len(STEPS)))], 3 + k) for k in range(int(rng.integers(2, 10)))]
