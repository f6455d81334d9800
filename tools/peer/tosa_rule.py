#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TOSA's accuracy rule on a whole program, operator by operator.        wrong_operator(TOSAC, FILE, ARRAYS)

How far a float result may be off depends on the program: a difference of near numbers, a sum of 140,000 terms.  The specification
bounds single operators.  So the program is run with every tensor an output; each operator is then given to the reference model
with the numbers that we had before it, in f64 with bounds, and tosa_verify compares.  All operators right: the program is right.

RULES has the numbers that desc.json of Arm's conformance suite gives an operator (POW, whose bounds are recorded there: 4 ulp, as in
tosa_cases.py).  What is not in it is exact, and so are integers and booleans.
"""
import importlib.util, json, os, subprocess, tempfile
import numpy as np

BIN = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin")
FLOATS = {"FP32": np.float32, "FP16": np.float16}
TAKEN = {"BOOL", "INT8", "INT16", "INT32", *FLOATS}
STAYS = {"CONST", "CONST_SHAPE"}
LARGEST = {"FP32": 340282346638528859811704183484516925440, "FP16": 65504}


def ulp(n, **more):
    return lambda op, tensor, dtype: ("ULP", {"ulp": n, **more})


def absolute(fp32={}, fp16=None):
    return lambda op, tensor, dtype: ("ABS_ERROR", fp16 if dtype == "FP16" and fp16 is not None else fp32)


def sine(op, tensor, dtype):
    return "ABS_ERROR", {"base_bound": 2.0, "bound_as_magnitude": True, "normal_divisor": 2,
                         "max_compare": 3.6929244168796014e-38 if dtype == "FP32" else 0.00019174759848570515}


def resize(op, tensor, dtype):
    return "MAX_RELATIVE", {"max": LARGEST[dtype], "scale": 0.006, "ulp_bound": 20.0}


def product(op, tensor, dtype):
    return "REDUCE_PRODUCT", {"n": tensor[op["inputs"][0]]["shape"][op["attribute"].get("axis", 0)]}


def dot(terms):
    """terms: of how many products a result is the sum, by the operator and the shapes of its operands; a bias is one more."""
    def rule(op, tensor, dtype):
        shape = [tensor[i].get("shape", []) for i in op["inputs"] if i in tensor]
        n = max(1, int(terms(op, shape)))
        return "DOT_PRODUCT", {"s": 0, "ksb": n, "abs_bound": n * (6 if tensor[op["inputs"][0]]["type"] == "FP32" else 2), "variance_error_bound": 1.6 * n}
    return rule


def conv(op, shape):
    return np.prod(shape[1][1:]) + 1


RULES = {
    "ADD": ulp(0.5), "SUB": ulp(0.5), "MUL": ulp(0.5), "CEIL": ulp(0.5), "FLOOR": ulp(0.5), "CAST": ulp(0.5, ulp_lower=1.0),
    "RECIPROCAL": ulp(1.0), "RSQRT": ulp(2), "ERF": ulp(5), "POW": ulp(4),
    "EXP": absolute({"base_bound": 3}, {"base_bound": 1}), "LOG": absolute({"lower_bound": 0.5}), "SIGMOID": absolute(),
    "TANH": absolute({"lower_bound": 0.5, "base_bound": 12}, {"lower_bound": 0.5, "base_bound": 4}),
    "COS": absolute({"base_bound": 1.0, "bound_as_magnitude": True, "normal_divisor": 2}), "SIN": sine,
    "RESIZE": resize, "REDUCE_PRODUCT": product,
    "CONV2D": dot(conv), "CONV3D": dot(conv), "TRANSPOSE_CONV2D": dot(conv),
    "DEPTHWISE_CONV2D": dot(lambda op, shape: shape[1][0] * shape[1][1] + 1),
    "MATMUL": dot(lambda op, shape: shape[0][2]),
    "AVG_POOL2D": dot(lambda op, shape: np.prod(op["attribute"]["kernel"])),
    "REDUCE_SUM": dot(lambda op, shape: shape[0][op["attribute"].get("axis", 0)]),
    "FFT2D": dot(lambda op, shape: 2 * np.prod(shape[0][1:])), "RFFT2D": dot(lambda op, shape: np.prod(shape[0][1:])),
}
INFO = {"ULP": "ulp_info", "ABS_ERROR": "abs_error_info", "DOT_PRODUCT": "dot_product_info", "REDUCE_PRODUCT": "reduce_product_info", "MAX_RELATIVE": "max_relative_info"}


def call(program, *arguments):
    # With an empty PATH the reference model cannot start a debugger when it fails.
    done = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True, env={"PATH": ""})
    if done.returncode:
        raise RuntimeError(f"{program}: {(done.stdout + done.stderr).strip()[-200:]}")


def to_json(file, folder):
    call("flatc", "--json", "--strict-json", "--defaults-json", "--raw-binary", "-o", folder, os.path.join(BIN, "tosa.fbs"), "--", os.path.abspath(file))
    return json.load(open(os.path.join(folder, os.path.splitext(os.path.basename(file))[0] + ".json")))


def to_file(program, folder, name):
    json.dump(program, open(os.path.join(folder, name + ".json"), "w"))
    call("flatc", "--binary", "-o", folder, os.path.join(BIN, "tosa.fbs"), os.path.join(folder, name + ".json"))
    return os.path.join(folder, name + ".tosa")


def ours(tosac, file, folder, arrays, n):
    """What `tosac run` makes of it."""
    for i, a in enumerate(arrays):
        np.save(f"{folder}/in{i}.npy", a)
    done = subprocess.run([tosac, "run", file, "--raw", "-o", folder, *[x for i in range(len(arrays)) for x in ("-i", f"{folder}/in{i}.npy")]],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"tosac run: {done.stderr.strip()[-200:]}")
    return [np.load(f"{folder}/output_{i}.npy") for i in range(n)]


def reference(file, folder, inputs, outputs):
    """inputs: name to array.  The reference model's results in f64, and the bounds of its dot products, by name."""
    names = list(inputs)
    for i, n in enumerate(names):
        np.save(f"{folder}/before{i}.npy", inputs[n])
    json.dump({"tosa_file": file, "ifm_name": names, "ifm_file": [f"before{i}.npy" for i in range(len(names))], "ofm_name": outputs,
               "ofm_file": [f"after{i}.npy" for i in range(len(outputs))], "expected_failure": False,
               "test_requirements": {"bounds_file_required": True}}, open(f"{folder}/desc.json", "w"))
    call("tosa_reference_model", "--test_desc", f"{folder}/desc.json", "--flatbuffer_dir", folder, "--output_dir", folder, "--precise_mode", "1")
    return {o: f"{folder}/after{i}.npy" for i, o in enumerate(outputs)}, {o: f"{folder}/bounds_after{i}.npy" for i, o in enumerate(outputs)}


def equal(got, want):
    if want.dtype == np.float64 and got.dtype != np.float64:
        got = got.astype(np.float64)
    return got.shape == want.shape and bool(np.all((got == want) | ((got != got) & (want != want))))


def breaks_rule(op, tensor, name, got, want, bound, folder):
    """Words about a result that is outside of its operator's rule."""
    dtype = tensor[name]["type"]
    exact = np.load(want)
    if dtype not in FLOATS or op["op"] not in RULES:
        return "" if equal(got, exact) else "is not exact"
    with np.errstate(over="ignore"):
        if equal(got, exact.astype(FLOATS[dtype]).astype(np.float64)):
            return ""  # no rule asks for more than f64's result, rounded
    mode, info = RULES[op["op"]](op, tensor, dtype)
    rule = {"mode": mode, "data_type": dtype, "shape": list(got.shape), INFO[mode]: info}
    json.dump({"meta": {"compliance": {"version": "1.2", "tensors": {name: rule}}}}, open(f"{folder}/rule.json", "w"))
    np.save(f"{folder}/got.npy", got)
    try:
        call("tosa_verify", "--test_desc", f"{folder}/rule.json", "--ofm_name", name, "--imp_result_file", f"{folder}/got.npy", "--ref_result_file", want,
             "--bnd_result_file", bound)
    except RuntimeError as e:
        return str(e)
    return ""


def wrong_operator(tosac, file, arrays, results):
    """Words about the first operator outside of its rule, or "".  arrays: inputs; results: what the program gave as it is."""
    with tempfile.TemporaryDirectory() as t:
        program = to_json(file, t)
        if len(program["regions"]) != 1 or len(program["regions"][0]["blocks"]) != 1:
            return "branches and loops have no rule of their own"
        block = program["regions"][0]["blocks"][0]
        tensor = {x["name"]: x for x in block["tensors"]}
        made = {o: op for op in block["operators"] if op["op"] not in STAYS for o in op["outputs"]}
        other = sorted({tensor[n]["type"] for n in made} - TAKEN)
        if other:
            return f"has {other[0]} inside"
        last, block["outputs"] = block["outputs"], list(made)
        values = dict(zip(made, ours(tosac, to_file(program, t, "all"), t, arrays, len(made))))
        for name, result in zip(last, results):
            if name in made and not equal(result, values[name]):
                return f"{name} is another where all tensors are outputs"
        values.update(zip(block["inputs"], arrays))
        read = sorted({i for op in made.values() for i in op["inputs"] if i in values})
        block["tensors"] += [{**tensor[i], "name": "before " + i} for i in read]
        block["inputs"] = ["before " + i for i in read]
        block["tensors"] = [x for x in block["tensors"] if x["name"] not in values or x["name"] in made]
        for op in made.values():
            op["inputs"] = ["before " + i if i in values else i for i in op["inputs"]]
        want, bound = reference(to_file(program, t, "cut"), t, {"before " + i: values[i] for i in read}, list(made))
        tensor.update({"before " + i: tensor[i] for i in read})
        for name, op in made.items():
            words = breaks_rule(op, tensor, name, values[name], want[name], bound[name], t)
            if words:
                return f"{op['op']} {name} {words}"
    return ""
