#!/usr/bin/env python3
"""Programs with ExecuTorch's cortex_m:: operators before the package that defines them.

    cortexm_pte.py TOSAC FILE.pte... [--samples N]

Each call is held to the package's own tables (operators.yaml, and the schemas that operators.py registers): how many
arguments, of what kind, in which layout; scratch to the sizes that its binding of CMSIS-NN gives for the core that the
file names.  Then the program is run on N random samples, instruction by instruction, in the memory that the file plans:
cortex_m:: operators by their Python references, others by PyTorch.  Results must be the bytes of `tosac run`; of programs
with softmax or quantized_avg_pool2d, whose references compute in float, within two codes.

Runs in an environment with executorch 1.4 and its cortex_m package.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

import numpy
import torch
import yaml

import executorch.backends.cortex_m.passes  # noqa: F401  registers the schemas
from executorch.backends import cortex_m as package
from executorch.backends.cortex_m.library import cmsis_nn
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

try:
    import executorch.kernels.quantized  # noqa: F401  quantized_decomposed's out variants
except ImportError:
    pass

TYPES = {
    schema.ScalarType.BYTE: torch.uint8,
    schema.ScalarType.CHAR: torch.int8,
    schema.ScalarType.SHORT: torch.int16,
    schema.ScalarType.INT: torch.int32,
    schema.ScalarType.LONG: torch.int64,
    schema.ScalarType.FLOAT: torch.float32,
    schema.ScalarType.BOOL: torch.bool,
}
BACKENDS = {"MVE": cmsis_nn.Backend.MVE, "DSP": cmsis_nn.Backend.DSP, "plain C": cmsis_nn.Backend.SCALAR}
# Which tensors of four axes must have their channels last.
CHANNELS_LAST = {
    "quantized_conv2d": ["input", "out"],
    "quantized_depthwise_conv2d": ["input", "out"],
    "quantized_max_pool2d": ["input", "out"],
    "quantized_avg_pool2d": ["input", "out"],
    "pad": ["input", "out"],
}
FLOAT_REFERENCE = {"softmax", "quantized_avg_pool2d"}
MOST_CODES = 2


def operator_table():
    """Schemas by name, as the firmware's build reads them."""
    folder = os.path.dirname(next(iter(package.__path__)) + "/")
    with open(os.path.join(folder, "ops", "operators.yaml")) as f:
        rows = yaml.safe_load(f)
    return {row["func"].split("(")[0]: row["func"] for row in rows}


class Program:
    """One method, and its memory."""

    def __init__(self, path):
        with open(path, "rb") as f:
            file = deserialize_pte_binary(f.read())
        self.program = file.program
        self.plan = self.program.execution_plan[0]
        self.whose = ""
        if file.named_data and "tosac.cortex_m" in file.named_data.pte_data:
            entry = file.named_data.pte_data["tosac.cortex_m"]
            self.whose = bytes(file.named_data.buffers[entry.buffer_index]).decode()
        self.arena = [numpy.zeros(n + 64, numpy.uint8) for n in self.plan.non_const_buffer_sizes]
        self.values = [self.value(v.val) for v in self.plan.values]

    def value(self, v):
        if isinstance(v, schema.Tensor):
            return self.tensor(v)
        if isinstance(v, (schema.Int, schema.Bool, schema.Double, schema.String)):
            return next(iter(vars(v).values()))
        if isinstance(v, schema.Null):
            return None
        if isinstance(v, schema.IntList):
            return [self.plan.values[i].val.int_val for i in v.items]
        if isinstance(v, (schema.DoubleList, schema.BoolList)):
            return list(v.items)
        if isinstance(v, schema.TensorList):
            return [self.tensor(self.plan.values[i].val) for i in v.items]
        raise SystemExit(f"a value of {type(v)}")

    def tensor(self, t):
        """Numbers where the file says, in the order it says."""
        dtype = TYPES[t.scalar_type]
        sizes = [t.sizes[i] for i in t.dim_order]
        count = int(numpy.prod(sizes)) if sizes else 1
        bytes_ = count * torch.empty(0, dtype=dtype).element_size()
        if t.data_buffer_idx:
            data = numpy.frombuffer(self.program.constant_buffer[t.data_buffer_idx].storage, numpy.uint8)[:bytes_].copy()
        else:
            at = t.allocation_info.memory_offset_low
            data = self.arena[t.allocation_info.memory_id][at : at + bytes_]
        flat = torch.from_numpy(data).view(dtype) if count else torch.empty(0, dtype=dtype)
        back = [t.dim_order.index(i) for i in range(len(sizes))]
        return flat.reshape(sizes).permute(back)

    def calls(self):
        for step in self.plan.chains[0].instructions:
            call = step.instr_args
            assert isinstance(call, schema.KernelCall), "an instruction that is no call of a kernel"
            op = self.plan.operators[call.op_index]
            yield op, call.args


def kind_fits(kind, value):
    if isinstance(kind, torch.OptionalType):
        return isinstance(value, schema.Null) or kind_fits(kind.getElementType(), value)
    if isinstance(kind, torch.TensorType):
        return isinstance(value, schema.Tensor)
    if isinstance(kind, torch.ListType):
        return isinstance(value, schema.IntList)
    return isinstance(value, {"int": schema.Int, "float": schema.Double, "bool": schema.Bool}[str(kind)])


def scratch_of(name, backend, values):
    """Bytes by the binding of CMSIS-NN; None: it has no scratch."""
    nhwc = lambda t: [t.sizes[0], t.sizes[2], t.sizes[3], t.sizes[1]]  # noqa: E731
    a8w8 = cmsis_nn.DataType.A8W8
    if name in ("quantized_conv2d", "quantized_depthwise_conv2d"):
        depthwise = name != "quantized_conv2d"
        x, w, out = values["input"], values["weight"], values["out"]
        common = dict(
            input_nhwc=nhwc(x), output_nhwc=nhwc(out), stride_hw=values["stride"], padding_hw=values["padding"],
            dilation_hw=values["dilation"], input_offset=values["input_offset"], output_offset=values["output_offset"],
            activation_min=values["activation_min"], activation_max=values["activation_max"])
        if depthwise:
            shape = [w.sizes[3], w.sizes[1], w.sizes[2], 1]
            return cmsis_nn.depthwise_conv_wrapper_buffer_size(
                backend, a8w8, filter_nhwc=shape, ch_mult=values["depth_multiplier"], **common)
        return cmsis_nn.convolve_wrapper_buffer_size(backend, a8w8, filter_nhwc=list(w.sizes), **common)
    if name == "quantized_avg_pool2d":
        return cmsis_nn.avgpool_buffer_size(
            backend, a8w8, dim_dst_width=values["out"].sizes[3], ch_src=values["input"].sizes[1])
    if name == "quantized_batch_matmul":
        rhs = values["rhs_transposed"].sizes
        return cmsis_nn.fully_connected_buffer_size(backend, a8w8, filter_nhwc=[rhs[2], -1, -1, rhs[1]])
    return None


def check_call(program, table, op, args, complain):
    name = op.name.split("::")[1]
    if f"{op.name}.{op.overload}" not in table:
        return complain(f"{op.name}.{op.overload} is not in operators.yaml")
    rows = getattr(getattr(torch.ops.cortex_m, name), op.overload)._schema
    if len(args) != len(rows.arguments) + 1:
        return complain(f"{op.name}: {len(args)} arguments, {len(rows.arguments) + 1} expected")
    values = {}
    for row, at in zip(rows.arguments, args):
        value = program.plan.values[at].val
        if not kind_fits(row.type, value):
            complain(f"{op.name}: '{row.name}' is {type(value).__name__}, not {row.type}")
        values[row.name] = value if isinstance(value, schema.Tensor) else program.values[at]
    if args[-1] != args[-2]:
        complain(f"{op.name}: what it hands back is not its result")
    for tensor in CHANNELS_LAST.get(name, []):
        if values[tensor].dim_order != [0, 2, 3, 1]:
            complain(f"{op.name}: '{tensor}' has the order {values[tensor].dim_order}")
    backend = next((b for word, b in BACKENDS.items() if program.whose.endswith(word)), None)
    need = scratch_of(name, backend, values)
    if need is not None and values["scratch"].sizes != [need]:
        complain(f"{op.name}: scratch {values['scratch'].sizes}, {need} bytes needed")


def run_call(program, op, args, complain):
    """As the runtime would, by the references."""
    space, name = op.name.split("::")
    values = [program.values[i] for i in args]
    if op.name == "dim_order_ops::_to_dim_order_copy":
        return values[-1].copy_(values[0])
    if space == "quantized_decomposed" or name in ("quantize_per_tensor", "dequantize_per_tensor"):
        plain = getattr(torch.ops.quantized_decomposed, name).default
        dtype = TYPES[schema.ScalarType(values[5])]
        return values[-1].copy_(plain(*values[:5], dtype))
    if space == "cortex_m":
        given = values[:-2]
        result = getattr(torch.ops.cortex_m, name).default(*given)
        if result.shape != values[-1].shape:
            return complain(f"{op.name}: the reference gives {tuple(result.shape)}, not {tuple(values[-1].shape)}")
        return values[-1].copy_(result)
    call = getattr(getattr(getattr(torch.ops, space), name), op.overload or "default")
    rows = call._schema.arguments
    given = values[: len(rows)]
    plain = [v for v, r in zip(given, rows) if not r.kwarg_only]
    words = {r.name: v for v, r in zip(given, rows) if r.kwarg_only}
    out = words.pop("out")
    result = call(*plain, **words, out=torch.empty_like(out).contiguous())
    return out.copy_(result)


def tosac_run(tosac, path, inputs):
    with tempfile.TemporaryDirectory() as folder:
        command = [tosac, "run", path, "-o", folder]
        for i, x in enumerate(inputs):
            numpy.save(os.path.join(folder, f"in_{i}.npy"), x)
            command += ["-i", os.path.join(folder, f"in_{i}.npy")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        n = len([f for f in os.listdir(folder) if f.startswith("output_")])
        return [numpy.load(os.path.join(folder, f"output_{i}.npy")) for i in range(n)]


def random_of(t, rng):
    if t.dtype.is_floating_point:
        return torch.from_numpy(rng.normal(0, 1, t.shape).astype(numpy.float32))
    info = torch.iinfo(t.dtype)
    return torch.from_numpy(rng.integers(info.min, info.max + 1, t.shape)).to(t.dtype)


def check_file(tosac, path, table, samples):
    program = Program(path)
    found = []
    complain = lambda text: found.append(text)  # noqa: E731
    count = collections.Counter(op.name for op, _ in program.calls())
    for op, args in program.calls():
        if op.name.startswith("cortex_m::"):
            check_call(program, table, op, args, complain)
    rng = numpy.random.default_rng(1)
    equal, apart = 0, 0
    floats = sum(count["cortex_m::" + name] for name in FLOAT_REFERENCE)
    for _ in range(samples):
        inputs = []
        for i in program.plan.inputs:
            x = random_of(program.values[i], rng)
            program.values[i].copy_(x)
            inputs.append(x.numpy())
        for op, args in program.calls():
            run_call(program, op, args, complain)
        want = tosac_run(tosac, path, inputs)
        got = [program.values[i].contiguous().numpy() for i in program.plan.outputs]
        equal += all(numpy.array_equal(a, b) for a, b in zip(want, got))
        apart = max([apart] + [abs(a.astype(float) - b.astype(float)).max() for a, b in zip(want, got)])
    own = sum(n for name, n in count.items() if name.startswith("cortex_m::"))
    print(f"{os.path.basename(path)}: {program.whose}; {own} calls of cortex_m::, {sum(count.values()) - own} of other kernels; "
          f"{len(found)} complaints; {equal} of {samples} samples equal{f', {apart:g} codes apart with float references' if floats else ''}")
    for text in sorted(set(found)):
        print("   ", text)
    return not found and (equal == samples or (floats and apart <= MOST_CODES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tosac")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--samples", type=int, default=3)
    options = parser.parse_args()
    table = operator_table()
    good = [check_file(options.tosac, f, table, options.samples) for f in options.files]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed, 0 skipped")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
