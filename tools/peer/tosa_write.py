# SPDX-License-Identifier: Apache-2.0
"""TOSA 1.0 and 1.1 graphs as flatbuffer bytes: just enough of a writer for tests, independent of tosac's own.

    g = Graph("main")
    x = g.const("i8", array);  s = g.shape([2, 3])
    y = g.op("RESHAPE", [x, s], [("i8", (2, 3))])
    g.output(y);  data = serialize([g])
"""
import flatbuffers
import ml_dtypes
import numpy as np

# name: number in the schema, numpy type of one element
DTYPE = {"bool": (1, np.bool_), "i4": (2, np.int8), "i8": (3, np.int8), "i16": (4, np.int16), "i32": (5, np.int32),
         "i48": (6, np.int64), "f32": (7, np.float32), "f16": (8, np.float16), "bf16": (9, ml_dtypes.bfloat16),
         "shape": (10, np.int64), "e4m3": (11, ml_dtypes.float8_e4m3fn), "e5m2": (12, ml_dtypes.float8_e5m2),
         "e2m3": (13, np.uint8), "e3m2": (14, np.uint8), "e2m1": (15, np.uint8), "ue8m0": (16, np.uint8), "i64": (17, np.int64),
         "mxint8": (18, np.uint8)}
# Block scaled: a value's code in the low byte, its scale's in the high one.
VALUES = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "mxint8")
DTYPE.update({f"bs32_{v}": (DTYPE[v][0], np.uint16) for v in VALUES})
BITS = {"e2m3": 6, "e3m2": 6, "e2m1": 4}

OPS = """ARGMAX AVG_POOL2D CONV2D CONV3D DEPTHWISE_CONV2D FFT2D MATMUL MAX_POOL2D RFFT2D TRANSPOSE_CONV2D CLAMP ERF SIGMOID TANH
ADD ARITHMETIC_RIGHT_SHIFT BITWISE_AND BITWISE_OR BITWISE_XOR INTDIV LOGICAL_AND LOGICAL_LEFT_SHIFT LOGICAL_RIGHT_SHIFT LOGICAL_OR
LOGICAL_XOR MAXIMUM MINIMUM MUL POW SUB TABLE ABS BITWISE_NOT CEIL CLZ COS EXP FLOOR LOG LOGICAL_NOT NEGATE RECIPROCAL RSQRT SIN SELECT
EQUAL GREATER GREATER_EQUAL REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PRODUCT REDUCE_SUM CONCAT PAD RESHAPE REVERSE SLICE TILE
TRANSPOSE GATHER SCATTER RESIZE CAST RESCALE CONST IDENTITY CUSTOM COND_IF WHILE_LOOP VARIABLE VARIABLE_WRITE VARIABLE_READ
CONST_SHAPE MATMUL_T_BLOCK_SCALED CAST_FROM_BLOCK_SCALED CAST_TO_BLOCK_SCALED DIM CONCAT_SHAPE ADD_SHAPE SUB_SHAPE MUL_SHAPE SLICE_SHAPE
EXP2_SHAPE LOG2_CEIL_SHAPE LOG2_FLOOR_SHAPE MAX_SHAPE MIN_SHAPE MOD_SHAPE DIV_CEIL_SHAPE DIV_FLOOR_SHAPE ASSERT_EQUAL_SHAPE
CONV2D_BLOCK_SCALED MAX_POOL2D_ADAPTIVE AVG_POOL2D_ADAPTIVE RESHAPE_BLOCK_SCALED ROW_GATHER_BLOCK_SCALED ROW_GATHER MATMUL_T""".split()
NUMBER = {name: i + 1 for i, name in enumerate(OPS)}

# Fields of an operator's attribute table, in the order of their ids.
CONV = "pad:ints stride:ints dilation:ints local_bound:bool acc_type:dtype"
FIELDS = {"ARGMAX": "axis:i32 nan_mode:u32", "AVG_POOL2D": "kernel:ints stride:ints pad:ints acc_type:dtype", "CONV2D": CONV, "CONV3D": CONV,
          "DEPTHWISE_CONV2D": CONV, "FFT2D": "inverse:bool local_bound:bool", "MAX_POOL2D": "kernel:ints stride:ints pad:ints nan_mode:u32",
          "RFFT2D": "local_bound:bool", "TRANSPOSE_CONV2D": "out_pad:ints stride:ints local_bound:bool acc_type:dtype",
          "CLAMP": "min_val:bytes max_val:bytes nan_mode:u32", "ARITHMETIC_RIGHT_SHIFT": "round:bool", "MAXIMUM": "nan_mode:u32",
          "MINIMUM": "nan_mode:u32", "REDUCE_MAX": "axis:i32 nan_mode:u32", "REDUCE_MIN": "axis:i32 nan_mode:u32", "TRANSPOSE": "perms:ints",
          "RESIZE": "mode:u32", "RESCALE": "scale32:bool rounding_mode:u32 per_channel:bool input_unsigned:bool output_unsigned:bool",
          "COND_IF": "then_graph:text else_graph:text", "WHILE_LOOP": "cond_graph:text body_graph:text"}
for op in "REDUCE_ALL REDUCE_ANY REDUCE_PRODUCT REDUCE_SUM CONCAT REVERSE".split():
    FIELDS[op] = "axis:i32"
for op in OPS[75:]:
    if op.endswith("BLOCK_SCALED"):
        FIELDS[op] = "block_size:u32"
FIELDS.update({"DIM": "axis:i32", "ASSERT_EQUAL_SHAPE": "allow_broadcast:bool", "MAX_POOL2D_ADAPTIVE": "nan_mode:u32",
               "AVG_POOL2D_ADAPTIVE": "acc_type:dtype"})


def packed(bits, code):
    """Codes of so many bits without gaps, from the lowest bit up."""
    each = (code.reshape(-1, 1) >> np.arange(bits)) & 1
    return np.packbits(each.reshape(-1).astype(np.uint8), bitorder="little").tobytes()


def encode(dtype, array):
    """The bytes of a constant."""
    flat = np.ascontiguousarray(array, DTYPE[dtype][1]).reshape(-1)
    if dtype == "i4":
        nibble = np.append(flat.view(np.uint8) & 15, np.zeros(flat.size % 2, np.uint8))
        return (nibble[0::2] | nibble[1::2] << 4).astype(np.uint8).tobytes()
    value = dtype.replace("bs32_", "")
    if dtype != value:
        flat = (flat & 255).astype(np.uint8)
    if value in BITS:
        return packed(BITS[value], flat)
    if dtype == "i48":
        return flat.view(np.uint8).reshape(-1, 8)[:, :6].tobytes()
    return flat.tobytes()


class Graph:
    """One region with one block; names are made unique by the prefix."""

    def __init__(self, name, prefix=""):
        self.name, self.prefix = name, prefix
        self.tensors, self.shapes, self.operators, self.inputs, self.outputs, self.feeds = [], [], [], [], [], []
        self.type = {}

    def fresh(self, dtype, shape):
        name = f"{self.prefix}{self.name}.{len(self.type)}"
        self.type[name] = (dtype, tuple(shape))
        return name

    def input(self, dtype, shape, array=None):
        name = self.fresh(dtype, shape)
        self.tensors.append((name, tuple(shape), dtype, b""))
        self.inputs.append(name)
        self.feeds.append(None if array is None else np.ascontiguousarray(array, DTYPE[dtype][1]).reshape(shape))
        return name

    def const(self, dtype, array):
        name = self.fresh(dtype, np.shape(array))
        scale = (np.asarray(array, np.uint16)[..., ::32] >> 8).astype(np.uint8).tobytes() if dtype.startswith("bs32_") else b""
        self.tensors.append((name, np.shape(array), dtype, encode(dtype, array), scale))
        self.operators.append(("CONST", [], [name], {}))
        return name

    def shape(self, values):
        name = self.fresh("shape", (len(values),))
        self.shapes.append((name, len(values), encode("shape", np.array(values, np.int64))))
        self.operators.append(("CONST_SHAPE", [], [name], {}))
        return name

    def op(self, op, operands, results, **attributes):
        names = [self.fresh(dtype, shape) for dtype, shape in results]
        self.tensors += [(n, tuple(shape), dtype, b"") for n, (dtype, shape) in zip(names, results) if dtype != "shape"]
        self.shapes += [(n, shape[0], b"") for n, (dtype, shape) in zip(names, results) if dtype == "shape"]
        self.operators.append((op, operands, names, attributes))
        return names[0] if len(names) == 1 else names

    def output(self, name):
        self.outputs.append(name)

    def append(self, other):
        for part in ("tensors", "shapes", "operators", "inputs", "outputs", "feeds"):
            getattr(self, part).extend(getattr(other, part))
        self.type.update(other.type)


class Writer:
    def __init__(self):
        self.b = flatbuffers.Builder(4096)
        self.text = {}

    def string(self, s):
        if s not in self.text:
            self.text[s] = self.b.CreateString(s)
        return self.text[s]

    def table(self, n, fields):
        """fields: (slot, 'o' | 'u32' | 'i32' | 'u8' | 'bool', value)"""
        self.b.StartObject(n)
        for slot, kind, v in fields:
            if kind == "o":
                self.b.PrependUOffsetTRelativeSlot(slot, v, 0)
            elif kind == "i32":
                self.b.PrependInt32Slot(slot, v, None)
            elif kind == "u32":
                self.b.PrependUint32Slot(slot, v, 0)
            elif kind == "u8":
                self.b.PrependUint8Slot(slot, v, 0)
            else:
                self.b.PrependBoolSlot(slot, v, None)
        return self.b.EndObject()

    def list(self, offsets):
        self.b.StartVector(4, len(offsets), 4)
        for o in reversed(offsets):
            self.b.PrependUOffsetTRelative(o)
        return self.b.EndVector()

    def strings(self, names):
        return self.list([self.string(n) for n in names])

    def ints(self, values):
        return self.b.CreateNumpyVector(np.array(values, np.int32))

    def bytes(self, data):
        self.b.StartVector(1, len(data), 8)
        self.b.head -= len(data)
        self.b.Bytes[self.b.head:self.b.head + len(data)] = data
        return self.b.EndVector()

    def attribute(self, op, values):
        fields = []
        names = FIELDS.get(op, "").split()
        for slot, field in enumerate(names):
            name, kind = field.split(":")
            v = values[name]
            if kind == "ints":
                fields.append((slot, "o", self.ints(v)))
            elif kind == "bytes":
                fields.append((slot, "o", self.bytes(v)))
            elif kind == "text":
                fields.append((slot, "o", self.string(v)))
            elif kind == "dtype":
                fields.append((slot, "u32", DTYPE[v][0]))
            else:
                fields.append((slot, kind, v))
        return self.table(len(names), fields)

    def operator(self, op, operands, results, values):
        attribute, ins, outs = self.attribute(op, values), self.strings(operands), self.strings(results)
        return self.table(6, [(0, "u32", NUMBER[op]), (1, "u8", NUMBER[op]), (2, "o", attribute), (3, "o", ins), (4, "o", outs)])

    def tensor(self, name, shape, dtype, data, scale=b""):
        fields = [(0, "o", self.string(name)), (1, "o", self.ints(shape)), (2, "u32", DTYPE[dtype][0])]
        if data:
            fields.append((3, "o", self.bytes(data)))
        if dtype.startswith("bs32_"):
            fields += [(9, "u32", DTYPE["ue8m0"][0]), (11, "u32", 32)] + [(10, "o", self.bytes(scale))] * bool(scale)
        return self.table(14, fields)

    def region(self, g):
        operators = self.list([self.operator(*o) for o in g.operators])
        tensors = self.list([self.tensor(*t) for t in g.tensors])
        shapes = self.list([self.table(3, [(0, "o", self.string(n)), (1, "u32", rank)] + [(2, "o", self.bytes(data))] * bool(data))
                            for n, rank, data in g.shapes])
        name, ins, outs = self.string(g.name), self.strings(g.inputs), self.strings(g.outputs)
        block = self.table(6, [(0, "o", name), (1, "o", operators), (2, "o", tensors), (3, "o", ins), (4, "o", outs), (5, "o", shapes)])
        return self.table(2, [(0, "o", name), (1, "o", self.list([block]))])


def serialize(graphs, minor=0):
    """graphs[0] is the program, the others are what its control flow names; of TOSA 1.minor."""
    w = Writer()
    regions = w.list([w.region(g) for g in graphs])
    version = w.table(4, [(0, "i32", 1), (1, "i32", minor), (2, "i32", 0), (3, "bool", minor > 0)])
    w.b.Finish(w.table(2, [(0, "o", version), (1, "o", regions)]), file_identifier=b"TOSA")
    return bytes(w.b.Output())
