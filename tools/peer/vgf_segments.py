#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VGF files with compute shaders, made by Arm's model converter, before its emulation layer and before us.

    vgf_segments.py TOSAC [--random N] [--seed S] [--keep DIR] [--only WORD]

Each case is a TOSA graph with CUSTOM operators of com.arm.VulkanCustomShader, whose shaders are SPIR-V from text (spirv_text.py).
The converter makes a file of several segments of it; `tosac run` and the scenario runner run that file on the same numbers, which must
come out equal, also of what `tosac compile` writes of the file again, of the .tosa itself, and of a .tosa that it makes of the file: integers and plain float arithmetic bit for bit, what Vulkan leaves a tolerance within it.  --random N: programs of one
invocation an element made from numbers S, S+1, ...  Run it with a Python that has the tools (tools/setup.sh judges).
Ends with "N passed, N failed"."""
import argparse
import base64
import importlib.metadata
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import spirv_text  # noqa: E402
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("tosac")
ap.add_argument("--random", type=int, default=0)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--keep")
ap.add_argument("--only", default="")
A = ap.parse_args()

TYPES = """%void = OpTypeVoid
%bool = OpTypeBool
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%f32 = OpTypeFloat 32
%u32x2 = OpTypeVector %u32 2
%u32x3 = OpTypeVector %u32 3
%i32x2 = OpTypeVector %i32 2
%i32x4 = OpTypeVector %i32 4
%f32x2 = OpTypeVector %f32 2
%f32x4 = OpTypeVector %f32 4
%pin = OpTypePointer 1 %u32x3
%gid = OpVariable %pin 1
""" + "".join(f"%u{i} = OpConstant %u32 {i}\n%i{i} = OpConstant %i32 {i}\n" for i in range(8)) + \
    "".join(f"%f{i} = OpConstant %f32 {i}.\n" for i in range(5)) + "%half = OpConstant %f32 0.5\n%shift = OpConstant %f32 0.47\n%bit = OpConstant %f32 0.01\n"
# VkFormat, how numpy has a component, how SPIR-V has it in a tensor, components
FORMATS = {"R32_SFLOAT": ("f32", "%f32"), "R32_SINT": ("i32", "%i32"), "R8_SINT": ("i8", "%i8"), "R16_SINT": ("i16", "%i16"),
           "R16_SFLOAT": ("f16", "%f16")}
EXTRA = {"%i8": ("OpCapability 39\n", "%i8 = OpTypeInt 8 1\n"), "%i16": ("OpCapability 22\n", "%i16 = OpTypeInt 16 1\n"),
         "%f16": ("OpCapability 9\n", "%f16 = OpTypeFloat 16\n")}


class Port:
    """What a shader is bound to: a tensor of a rank, an image, or a storage buffer."""

    def __init__(self, kind, format, rank=1, sampler=None):
        self.kind, self.format, self.rank, self.sampler = kind, format, rank, sampler


def shader(ports, body, local=(1, 1, 1), globals="", more=""):
    """A module with the ports as %p0, %p1 ... in set 0, bindings 0, 1 ...  The body has %gx and %gy."""
    used = {FORMATS[p.format][1] for p in ports if p.kind == "tensor"} & set(EXTRA)
    caps = "".join(EXTRA[t][0] for t in sorted(used))
    interface = " ".join(f"%p{i}" for i in range(len(ports))) + more
    decorations = "".join(f"OpDecorate %p{i} 34 0\nOpDecorate %p{i} 33 {i}\n" for i in range(len(ports)))
    declared, seen = "", set()
    for i, p in enumerate(ports):
        if p.kind == "tensor":
            element = FORMATS[p.format][1]
            name = f"%tensor_{element[1:]}_{p.rank}"
            lines = f"{name} = OpTypeTensorARM {element} %u{p.rank}\n{name}_p = OpTypePointer 0 {name}\n"
            storage = 0
        elif p.kind == "sampled":
            name = "%sampled"
            lines = "%image = OpTypeImage %f32 1 0 0 0 1 0\n%sampled = OpTypeSampledImage %image\n%sampled_p = OpTypePointer 0 %sampled\n"
            storage = 0
        elif p.kind == "storage":
            whole = p.format.endswith("INT")
            number = {"R8G8B8A8_UNORM": 4, "R8G8B8A8_SNORM": 5, "R8G8B8A8_SINT": 23, "R32G32B32A32_SFLOAT": 1, "R32_SFLOAT": 3,
                      "R16G16B16A16_SFLOAT": 2}[p.format]
            name = f"%image_{number}"
            lines = f"{name} = OpTypeImage {'%i32' if whole else '%f32'} 1 0 0 0 2 {number}\n{name}_p = OpTypePointer 0 {name}\n"
            storage = 0
        else:
            element = FORMATS[p.format][1]
            name = f"%buffer_{element[1:]}"
            decorations += f"OpDecorate {name} 2\nOpMemberDecorate {name} 0 35 0\nOpDecorate {name}_a 6 4\n" if name not in seen else ""
            lines = f"{name}_a = OpTypeRuntimeArray {element}\n{name} = OpTypeStruct {name}_a\n{name}_p = OpTypePointer 12 {name}\n" \
                    f"{name}_e = OpTypePointer 12 {element}\n"
            storage = 12
        declared += (lines if name not in seen else "") + f"%p{i} = OpVariable {name}_p {storage}\n"
        seen.add(name)
    ranks = "".join(f"%at{r} = OpTypeArray %u32 %u{r}\n" for r in sorted({p.rank for p in ports if p.kind == "tensor"}))
    text = "OpCapability 1\n" + caps + \
        ("OpCapability 4174\nOpExtension \"SPV_ARM_tensors\"\n" if any(p.kind == "tensor" for p in ports) else "") + \
        "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel 0 1\n" + \
        f"OpEntryPoint 5 %main \"main\" %gid {interface}\nOpExecutionMode %main 17 {local[0]} {local[1]} {local[2]}\n" + \
        "OpDecorate %gid 11 28\n" + decorations + TYPES + "".join(EXTRA[t][1] for t in sorted(used)) + ranks + declared + globals + \
        "%main = OpFunction %void 0 %fn\n%entry = OpLabel\n%g = OpLoad %u32x3 %gid\n%gx = OpCompositeExtract %u32 %g 0\n" + \
        "%gy = OpCompositeExtract %u32 %g 1\n%gz = OpCompositeExtract %u32 %g 2\n" + body + "OpReturn\nOpFunctionEnd\n"
    return spirv_text.assemble(text)


KIND = {"tensor": "TENSOR_ARM", "sampled": "COMBINED_IMAGE_SAMPLER", "storage": "STORAGE_IMAGE", "buffer": "STORAGE_BUFFER"}


def custom(result, operands, type, ports, groups, code):
    """The line of a CUSTOM operator; the last port is its result."""
    attrs = {"entry_point": "main", "workgroup_sizes": list(groups), "shader_language": "SPIR-V", "shader_code": base64.b64encode(code).decode()}
    for i, p in enumerate(ports):
        key = f"input_{i}_" if i < len(operands) else f"output_{i - len(operands)}_"
        attrs.update({key + "vkformat": "VK_FORMAT_" + p.format, key + "vkdescriptortype": "VK_DESCRIPTOR_TYPE_" + KIND[p.kind],
                      key + "binding": i, key + "descriptorset": 0})
        if p.sampler:
            attrs[key + "sampler"] = dict(zip(("min_filter", "mag_filter", "address_mode_u", "address_mode_v", "border_color"), p.sampler))
    return f"  {result} = tosa.custom {', '.join(operands)} operator_name=\"shader\" domain_name=\"com.arm.VulkanCustomShader\" " \
           f"implementation_attrs=0x{json.dumps(attrs).encode().hex()} : {type}\n"


def graph(inputs, lines, output):
    return f"graph @main({', '.join(inputs)}) {{\n" + lines + f"  return {output}\n}}\n"


def sampler(filter, u, v, border="FLOAT_TRANSPARENT_BLACK"):
    return (f"VK_FILTER_{filter}",) * 2 + (f"VK_SAMPLER_ADDRESS_MODE_{u}", f"VK_SAMPLER_ADDRESS_MODE_{v}", f"VK_BORDER_COLOR_{border}")


RNG = np.random.default_rng(7)
CASES = {}  # name: text, inputs, tolerance


def elementwise(format, body, n=24, tolerance=0, values=None, name=None, globals=""):
    """ABS or IDENTITY, a shader of one element an invocation (%x to %y), and CLAMP."""
    dtype, element = FORMATS[format]
    port = Port("tensor", format)
    code = shader([port, port], f"%at = OpCompositeConstruct %at1 %gx\n%a = OpLoad %tensor_{element[1:]}_1 %p0\n%b = OpLoad %tensor_{element[1:]}_1 %p1\n"
                  f"%x = OpTensorReadARM {element} %a %at\n" + body + "OpTensorWriteARM %b %at %y\n", globals=globals)
    t = f"{dtype}[{n}]"
    first = {"f32": "tosa.abs", "f16": "tosa.abs", "i32": "tosa.abs"}.get(dtype, "tosa.bitwise_not")
    last = {"i32": "tosa.abs"}.get(dtype, "tosa.bitwise_not" if dtype[0] == "i" else "tosa.floor")
    return graph([f"%0: {t}"], f"  %1 = {first} %0 : {t}\n" + custom("%2", ["%1"], t, [port, port], (n, 1, 1), code) +
                 f"  %3 = {last} %2 : {t}\n", "%3" if tolerance == 0 else "%2"), [values], tolerance


def real(n=24):
    return (RNG.standard_normal(n) * 4).astype(np.float32)


CASES["f32"] = elementwise("R32_SFLOAT", "%w = OpFMul %f32 %x %f3\n%v = OpExtInst %f32 %glsl Sqrt %w\n%y = OpFAdd %f32 %v %half\n", values=real())
CASES["f16"] = elementwise("R16_SFLOAT", "%w = OpFMul %f16 %x %x\n%y = OpFAdd %f16 %w %x\n", values=real().astype(np.float16))
CASES["i32"] = elementwise("R32_SINT", "%w = OpIMul %i32 %x %i3\n%v = OpSRem %i32 %w %i7\n%y = OpBitwiseXor %i32 %v %x\n",
                           values=RNG.integers(-1000, 1000, 24).astype(np.int32))
CASES["i8"] = elementwise("R8_SINT", "%w = OpSConvert %i32 %x\n%v = OpIMul %i32 %w %w\n%u = OpShiftRightArithmetic %i32 %v %u3\n%y = OpSConvert %i8 %u\n",
                          values=RNG.integers(-128, 128, 24).astype(np.int8))
CASES["i16"] = elementwise("R16_SINT", "%w = OpIAdd %i16 %x %x\n%y = OpIMul %i16 %w %x\n", values=RNG.integers(-300, 300, 24).astype(np.int16))
CASES["loop"] = elementwise(
    "R32_SFLOAT", "OpBranch %head\n%head = OpLabel\n%k = OpPhi %u32 %u0 %entry %k2 %more\n%s = OpPhi %f32 %f0 %entry %s2 %more\n"
    "%c = OpULessThan %bool %k %gx\nOpLoopMerge %done %more 0\nOpBranchConditional %c %more %done\n%more = OpLabel\n"
    "%kf = OpConvertUToF %f32 %k\n%t = OpFMul %f32 %x %kf\n%s2 = OpFAdd %f32 %s %t\n%k2 = OpIAdd %u32 %k %u1\nOpBranch %head\n"
    "%done = OpLabel\n%y = OpFAdd %f32 %s %f1\n", values=real())
CASES["functions of GLSL"] = elementwise(
    "R32_SFLOAT", "%a1 = OpExtInst %f32 %glsl Sin %x\n%a2 = OpExtInst %f32 %glsl Exp2 %a1\n%a3 = OpExtInst %f32 %glsl Tanh %x\n"
    "%a4 = OpFAdd %f32 %a2 %a3\n%a5 = OpExtInst %f32 %glsl Log %x\n%a6 = OpExtInst %f32 %glsl Atan2 %a5 %x\n%y = OpFAdd %f32 %a4 %a6\n",
    values=real() + 5, tolerance=5e-6)


def together():
    """Work groups of eight: shared memory, barriers, atomics on it and on a buffer.  Sums and largest numbers do not depend on an order."""
    p, q = Port("tensor", "R32_SINT"), Port("buffer", "R32_SINT")
    shared = "%eight = OpConstant %u32 8\n%row8 = OpTypeArray %i32 %eight\n%prow = OpTypePointer 4 %row8\n%pone = OpTypePointer 4 %i32\n" \
             "%s = OpVariable %prow 4\n%sum = OpVariable %pone 4\n%top = OpVariable %pone 4\n%least = OpConstant %i32 -2147483648\n%sem = OpConstant %u32 264\n%dev = OpConstant %u32 1\n"
    body = "%at = OpCompositeConstruct %at1 %gx\n%a = OpLoad %tensor_i32_1 %p0\n%x = OpTensorReadARM %i32 %a %at\n" \
           "%li = OpBitwiseAnd %u32 %gx %u7\n%first = OpIEqual %bool %li %u0\nOpSelectionMerge %go 0\nOpBranchConditional %first %clear %go\n" \
           "%clear = OpLabel\nOpStore %sum %i0\nOpStore %top %least\nOpBranch %go\n%go = OpLabel\n%mine = OpAccessChain %pone %s %li\nOpStore %mine %x\n" \
           "OpControlBarrier %u2 %u2 %sem\n%lo = OpISub %u32 %u7 %li\n%other = OpAccessChain %pone %s %lo\n%y = OpLoad %i32 %other\n" \
           "%o1 = OpAtomicIAdd %i32 %sum %u2 %u0 %x\n%o2 = OpAtomicSMax %i32 %top %u2 %u0 %y\nOpControlBarrier %u2 %u2 %sem\n" \
           "%v1 = OpLoad %i32 %sum\n%v2 = OpLoad %i32 %top\n%v3 = OpIMul %i32 %y %i3\n%v4 = OpIAdd %i32 %v1 %v2\n%v5 = OpIAdd %i32 %v3 %v4\n" \
           "%to = OpAccessChain %buffer_i32_e %p1 %u0 %gx\nOpStore %to %v5\nOpControlBarrier %u2 %u2 %sem\n" \
           "%n = OpAtomicIAdd %i32 %to %dev %u0 %x\n%n2 = OpAtomicXor %i32 %to %dev %u0 %i5\n"
    code = shader([p, q], body, (8, 1, 1), shared, " %s %sum %top")
    t = "i32[32]"
    return graph([f"%0: {t}"], f"  %1 = tosa.abs %0 : {t}\n" + custom("%2", ["%1"], t, [p, q], (4, 1, 1), code) + f"  %3 = tosa.bitwise_not %2 : {t}\n", "%3"), \
        [RNG.integers(-1000, 1000, 32).astype(np.int32)], 0


CASES["shared memory, barriers, atomics"] = together()


def blend():
    """Two tensors of rank 4, rows of four at once, sizes that the shader asks for."""
    p = Port("tensor", "R32_SFLOAT", 4)
    code = shader([p, p, p], "%a = OpLoad %tensor_f32_4 %p0\n%b = OpLoad %tensor_f32_4 %p1\n%c = OpLoad %tensor_f32_4 %p2\n"
                  "%at = OpCompositeConstruct %at4 %u0 %gy %gx %u0\n%v = OpTensorReadARM %row %a %at\n%w = OpTensorReadARM %row %b %at\n"
                  "%n = OpTensorQuerySizeARM %u32 %a %u2\n%nf = OpConvertUToF %f32 %n\n" +
                  "".join(f"%v{k} = OpCompositeExtract %f32 %v {k}\n%w{k} = OpCompositeExtract %f32 %w {k}\n%q{k} = OpFMul %f32 %w{k} %nf\n"
                          f"%r{k} = OpFAdd %f32 %v{k} %q{k}\n" for k in range(4)) +
                  "%r = OpCompositeConstruct %row %r0 %r1 %r2 %r3\nOpTensorWriteARM %c %at %r\n", (3, 1, 1), "%row = OpTypeArray %f32 %u4\n")
    t = "f32[1,5,6,4]"
    k = "  %9 = const [" + ", ".join(str(i / 8) for i in range(24)) + "] : f32[1,1,6,4]\n"
    lines = k + f"  %2 = tosa.add %0, %9 : {t}\n  %3 = tosa.negate %1, %10, %10 : {t}\n" + custom("%4", ["%2", "%3"], t, [p, p, p], (2, 5, 1), code) + \
        f"  %5 = tosa.add %4, %9 : {t}\n" + custom("%6", ["%5", "%2"], t, [p, p, p], (2, 5, 1), code) + f"  %7 = tosa.floor %6 : {t}\n"
    return graph([f"%0: {t}", f"%1: {t}"], "  %10 = const [0] : f32[1]\n" + lines, "%7"), [real(120).reshape(1, 5, 6, 4), real(120).reshape(1, 5, 6, 4)], 0


CASES["two shaders, shared constants"] = blend()


def pixels(format, sampled, samplers, body, dims=(6, 8), out=None, out_dtype="f32", out_format="R32_SFLOAT", tolerance=0, dtype="i8", before="tosa.bitwise_not"):
    """A tensor as an image of the shader."""
    h, w = dims
    p, q = Port("sampled" if sampled else "storage", format, sampler=samplers), Port("tensor", out_format, 4)
    code = shader([p, q], "%xy = OpVectorShuffle %u32x2 %g %g 0 1\n%b = OpLoad %tensor_f32_4 %p1\n%to = OpCompositeConstruct %at4 %u0 %gy %gx %u0\n" + body +
                  "".join(f"%c{k} = OpCompositeExtract %f32 %c {k}\n" for k in range(4)) +
                  "%r = OpCompositeConstruct %row %c0 %c1 %c2 %c3\nOpTensorWriteARM %b %to %r\n", globals="%row = OpTypeArray %f32 %u4\n")
    oh, ow = out or dims
    t, o = f"{dtype}[1,{h},{w},4]", f"f32[1,{oh},{ow},4]"
    text = graph([f"%0: {t}"], f"  %1 = {before} %0 : {t}\n" + custom("%2", ["%1"], o, [p, q], (ow, oh, 1), code), "%2")
    values = real(h * w * 4).reshape(1, h, w, 4) if dtype == "f32" else RNG.integers(-128, 128, (1, h, w, 4)).astype(np.int8)
    return text, [values], tolerance


# Lavapipe interpolates pixels of 8 bits, of UNORM, in 8 bits.
# Lavapipe multiplies codes by the reciprocal of the largest one: the last bit may differ.
READ = "%im = OpLoad %image_{n} %p0\n%c = OpImageRead %f32x4 %im %xy\n"
SAMPLE = "%im = OpLoad %sampled %p0\n%fx = OpConvertUToF %f32 %gx\n%fy = OpConvertUToF %f32 %gy\n%uu = OpFDiv %f32 %fx {w}\n%vv = OpFDiv %f32 %fy {h}\n" \
    "%us = OpFSub %f32 %uu %shift\n%vs = OpFAdd %f32 %vv %bit\n%uv = OpCompositeConstruct %f32x2 %us %vs\n%c = OpImageSampleExplicitLod %f32x4 %im %uv 2 %f0\n"
CASES["storage image UNORM"] = pixels("R8G8B8A8_UNORM", False, None, READ.format(n=4), tolerance=1e-7)
CASES["storage image SNORM"] = pixels("R8G8B8A8_SNORM", False, None, READ.format(n=5), tolerance=1e-7)
CASES["storage image f32"] = pixels("R32G32B32A32_SFLOAT", False, None, READ.format(n=1), dtype="f32", before="tosa.abs")
for mode in ("CLAMP_TO_EDGE", "REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_BORDER"):
    for filter in ("NEAREST", "LINEAR"):
        CASES[f"sampled f32 {filter} {mode}"] = pixels(
            "R32G32B32A32_SFLOAT", True, sampler(filter, mode, mode, "FLOAT_OPAQUE_WHITE"), SAMPLE.format(w="%f3", h="%f4"), out=(7, 9), dtype="f32",
            before="tosa.abs", tolerance=0 if filter == "NEAREST" else 1e-5)
GATHER = SAMPLE.replace("OpImageSampleExplicitLod %f32x4 %im %uv 2 %f0", "OpImageGather %f32x4 %im %uv %i{k}")
for k, mode in enumerate(("CLAMP_TO_EDGE", "REPEAT", "CLAMP_TO_BORDER")):
    CASES[f"gathered f32 {mode}"] = pixels("R32G32B32A32_SFLOAT", True, sampler("LINEAR", mode, mode), GATHER.format(w="%f3", h="%f4", k=k), out=(7, 9), dtype="f32", before="tosa.abs")
CASES["sampled UNORM"] = pixels("R8G8B8A8_UNORM", True, sampler("LINEAR", "CLAMP_TO_EDGE", "REPEAT"), SAMPLE.format(w="%f3", h="%f4"), out=(7, 9), tolerance=0.005)
CASES["sampled SNORM"] = pixels("R8G8B8A8_SNORM", True, sampler("LINEAR", "CLAMP_TO_EDGE", "REPEAT"), SAMPLE.format(w="%f3", h="%f4"), out=(7, 9), tolerance=2e-6)


def written(format, number, dtype, tolerance=0):
    """A shader writes an image, which the next graph reads as a tensor."""
    h, w = 5, 6
    p, q = Port("tensor", "R32_SFLOAT", 4), Port("storage", format, 4)
    code = shader([p, q], "%a = OpLoad %tensor_f32_4 %p0\n%at = OpCompositeConstruct %at4 %u0 %gy %gx %u0\n%v = OpTensorReadARM %row %a %at\n" +
                  "".join(f"%v{k} = OpCompositeExtract %f32 %v {k}\n" for k in range(4)) + "%c = OpCompositeConstruct %f32x4 %v0 %v1 %v2 %v3\n"
                  f"%xy = OpVectorShuffle %u32x2 %g %g 0 1\n%im = OpLoad %image_{number} %p1\nOpImageWrite %im %xy %c\n", globals="%row = OpTypeArray %f32 %u4\n")
    t, o = f"f32[1,{h},{w},4]", f"{dtype}[1,{h},{w},4]"
    last = "tosa.bitwise_not" if dtype == "i8" else "tosa.floor"
    text = graph([f"%0: {t}"], f"  %1 = tosa.tanh %0 : {t}\n" + custom("%2", ["%1"], o, [p, q], (w, h, 1), code) + f"  %3 = {last} %2 : {o}\n", "%3")
    return text, [real(h * w * 4).reshape(1, h, w, 4) / 4], tolerance  # where tanh is 1 or nearly so, one last bit would decide what floor gives


CASES["written UNORM"] = written("R8G8B8A8_UNORM", 4, "i8")
CASES["written SNORM"] = written("R8G8B8A8_SNORM", 5, "i8")
CASES["written f32"] = written("R32G32B32A32_SFLOAT", 1, "f32")


def buffers():
    p = Port("buffer", "R32_SFLOAT")
    code = shader([p, p], "%a = OpAccessChain %buffer_f32_e %p0 %u0 %gx\n%x = OpLoad %f32 %a\n%n = OpArrayLength %u32 %p0 0\n%nf = OpConvertUToF %f32 %n\n"
                  "%y = OpFMul %f32 %x %nf\n%b = OpAccessChain %buffer_f32_e %p1 %u0 %gx\nOpStore %b %y\n")
    t = "f32[16]"
    return graph([f"%0: {t}"], f"  %1 = tosa.abs %0 : {t}\n" + custom("%2", ["%1"], t, [p, p], (16, 1, 1), code) + f"  %3 = tosa.floor %2 : {t}\n", "%3"), [real(16)], 0


CASES["buffers"] = buffers()


# ---- random programs -----------------------------------------------------------------------------------------------------------

WHOLE2 = ["IAdd", "ISub", "IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]
WHOLE_EXT = ["SMin", "SMax", "UMin", "UMax"]
REAL2 = ["FAdd", "FSub", "FMul"]
REAL_EXT = ["Floor", "Ceil", "Trunc", "RoundEven", "FAbs", "Fract", "FSign"]


def program(seed):
    """Integers and reals of 32 bits in random order, with choices, branches, loops, casts, arrays and a call of a function."""
    r = random.Random(seed)
    whole, reals, truths, lines, n = ["%x", "%i3", "%i7"], ["%zs", "%half", "%f3"], [], [], [0]

    def fresh():
        n[0] += 1
        return f"%r{n[0]}"

    def small(x):
        """Within the numbers that products keep exact and finite."""
        a, b = fresh(), fresh()
        lines.append(f"{a} = OpExtInst %f32 %glsl FMin {x} %f4\n{b} = OpExtInst %f32 %glsl FMax {a} %minus\n")
        return b

    def step():
        v = fresh()
        what = r.randrange(12)
        if what < 2:
            lines.append(f"{v} = Op{r.choice(WHOLE2)} %i32 {r.choice(whole)} {r.choice(whole)}\n")
            whole.append(v)
        elif what < 4:
            lines.append(f"{v} = Op{r.choice(REAL2)} %f32 {r.choice(reals)} {r.choice(reals)}\n")
            reals.append(small(v))
        elif what == 4:
            lines.append(f"{v} = OpExtInst %f32 %glsl {r.choice(REAL_EXT)} {r.choice(reals)}\n")
            reals.append(v)
        elif what == 5:
            lines.append(f"{v} = OpExtInst %i32 %glsl {r.choice(WHOLE_EXT)} {r.choice(whole)} {r.choice(whole)}\n")
            whole.append(v)
        elif what == 6:
            s = r.choice(["ShiftLeftLogical", "ShiftRightLogical", "ShiftRightArithmetic"])
            lines.append(f"{v} = Op{s} %i32 {r.choice(whole)} %u{r.randrange(1, 8)}\n")
            whole.append(v)
        elif what == 7:
            c = r.choice(["SLessThan", "ULessThanEqual", "IEqual", "SGreaterThan"])
            lines.append(f"{v} = Op{c} %bool {r.choice(whole)} {r.choice(whole)}\n")
            truths.append(v)
        elif what == 8:
            c = r.choice(["FOrdLessThan", "FOrdGreaterThanEqual", "FUnordNotEqual"])
            lines.append(f"{v} = Op{c} %bool {r.choice(reals)} {r.choice(reals)}\n")
            truths.append(v)
        elif what == 9 and truths:
            t, pool = r.choice([("%i32", whole), ("%f32", reals)])
            lines.append(f"{v} = OpSelect {t} {r.choice(truths)} {r.choice(pool)} {r.choice(pool)}\n")
            pool.append(v)
        elif what == 10:
            a = fresh()
            lines.append(f"{a} = OpBitwiseAnd %i32 {r.choice(whole)} %i7\n{v} = OpConvertSToF %f32 {a}\n")
            reals.append(small(v))
        else:
            lines.append(f"{v} = OpConvertFToS %i32 {r.choice(reals)}\n")
            whole.append(v)

    def branch():
        if not truths:
            return
        b = n[0] = n[0] + 1
        a, c = r.choice(reals), r.choice(whole)
        lines.append(f"OpSelectionMerge %join{b} 0\nOpBranchConditional {r.choice(truths)} %yes{b} %no{b}\n%yes{b} = OpLabel\n"
                     f"%ya{b} = OpFSub %f32 {a} %half\n%yb{b} = OpIAdd %i32 {c} %i5\nOpBranch %join{b}\n%no{b} = OpLabel\nOpBranch %join{b}\n"
                     f"%join{b} = OpLabel\n%ja{b} = OpPhi %f32 %ya{b} %yes{b} {a} %no{b}\n%jb{b} = OpPhi %i32 %yb{b} %yes{b} {c} %no{b}\n")
        reals.append(small(f"%ja{b}"))
        whole.append(f"%jb{b}")

    def loop():
        b = n[0] = n[0] + 1
        c, start = r.choice(whole), r.choice(whole)
        lines.append(f"%lim{b} = OpBitwiseAnd %i32 {c} %i7\nOpBranch %pre{b}\n%pre{b} = OpLabel\nOpBranch %head{b}\n%head{b} = OpLabel\n"
                     f"%k{b} = OpPhi %i32 %i0 %pre{b} %kn{b} %cont{b}\n%s{b} = OpPhi %i32 {start} %pre{b} %sn{b} %cont{b}\n"
                     f"%c{b} = OpSLessThan %bool %k{b} %lim{b}\nOpLoopMerge %end{b} %cont{b} 0\nOpBranchConditional %c{b} %cont{b} %end{b}\n"
                     f"%cont{b} = OpLabel\n%m{b} = OpIMul %i32 %s{b} %i3\n%sn{b} = OpIAdd %i32 %m{b} %k{b}\n%kn{b} = OpIAdd %i32 %k{b} %i1\n"
                     f"OpBranch %head{b}\n%end{b} = OpLabel\n")
        whole.append(f"%s{b}")

    for _ in range(r.randrange(10, 60)):
        k = r.random()
        branch() if k < 0.08 else loop() if k < 0.14 else step()
    port = Port("tensor", "R32_SINT"), Port("tensor", "R32_SFLOAT")
    a, b = whole[-1], reals[-1]
    body = "%at = OpCompositeConstruct %at1 %gx\n%ta = OpLoad %tensor_i32_1 %p0\n%tb = OpLoad %tensor_f32_1 %p1\n%tc = OpLoad %tensor_i32_1 %p2\n" \
        "%x = OpTensorReadARM %i32 %ta %at\n%z = OpTensorReadARM %f32 %tb %at\n%zs = OpExtInst %f32 %glsl FClamp %z %minus %f4\n" + "".join(lines) + \
        f"%zb = OpBitcast %i32 {b}\n%out = OpBitwiseXor %i32 %zb {a}\nOpTensorWriteARM %tc %at %out\n"
    ports = [port[0], port[1], port[0]]
    code = shader(ports, body, globals="%minus = OpConstant %f32 -4.\n")
    n_element = 32
    t, f = f"i32[{n_element}]", f"f32[{n_element}]"
    text = graph([f"%0: {t}", f"%1: {f}"], custom("%2", ["%0", "%1"], t, ports, (n_element, 1, 1), code), "%2")
    rng = np.random.default_rng(seed)
    return text, [rng.integers(-2 ** 31, 2 ** 31, n_element).astype(np.int32), (rng.integers(-64, 64, n_element) / 8).astype(np.float32)], 0


# ---- all of it -------------------------------------------------------------------------------------------------------------------

def judge(name, case, folder, environment):
    text, inputs, tolerance = case
    path = {k: os.path.join(folder, k) for k in ("case.ir", "case.tosa", "case.vgf", "again.vgf", "own.vgf", "back.tosa", "back.vgf", "ours", "theirs", "tosa")}
    os.makedirs(path["theirs"])
    open(path["case.ir"], "w").write(text)
    files = []
    for i, x in enumerate(inputs):
        files.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(files[-1], x)
    vgf.call(A.tosac, "compile", path["case.ir"], "-t", "TOSA-1.0+INT+FP+int16", "-o", path["case.tosa"])
    vgf.convert(path["case.tosa"], path["case.vgf"])
    vgf.call(A.tosac, "run", path["case.vgf"], *(w for f in files for w in ("-i", f)), "-o", path["ours"])
    ours = [np.load(os.path.join(path["ours"], f)) for f in sorted(os.listdir(path["ours"]))]
    theirs = [np.load(f) for f in vgf.run(path["case.vgf"], path["theirs"], files, environment)]
    if len(ours) != len(theirs):
        return f"{len(ours)} results, theirs {len(theirs)}"
    vgf.call(A.tosac, "run", path["case.tosa"], *(w for f in files for w in ("-i", f)), "-o", path["tosa"])
    for i, f in enumerate(sorted(os.listdir(path["tosa"]))):
        if np.load(os.path.join(path["tosa"], f)).tobytes() != ours[i].tobytes():
            return "the .tosa gives other numbers than the converter's .vgf of it"
    if not name.startswith("random"):  # what we write of them is the same to the layer: the file again, its .tosa, and that made a .tosa and converted
        vgf.call(A.tosac, "compile", path["case.vgf"], "-t", "vgf", "-o", path["again.vgf"])
        vgf.call(A.tosac, "compile", path["case.tosa"], "-t", "vgf", "-o", path["own.vgf"])
        vgf.call(A.tosac, "compile", path["case.vgf"], "-t", "TOSA-1.0+INT+FP+int16", "-o", path["back.tosa"])
        vgf.convert(path["back.tosa"], path["back.vgf"])
        for file in ("again.vgf", "own.vgf", "back.vgf"):
            out = tempfile.mkdtemp(dir=folder)
            for i, f in enumerate(vgf.run(path[file], out, files, environment)):
                if np.load(f).tobytes() != theirs[i].tobytes():
                    return f"{file}: written again, the layer gives other numbers"
    for a, b in zip(ours, theirs):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape}, theirs {b.dtype}{b.shape}"
        off = np.abs(a.astype(np.float64) - b.astype(np.float64))
        if not (a.tobytes() == b.tobytes() or (tolerance and off.max() <= tolerance)):
            at = np.flatnonzero((a != b).reshape(-1))
            return f"{len(at)} of {a.size} differ, by {off.max():g}: {a.reshape(-1)[at][:4]}, theirs {b.reshape(-1)[at][:4]}"
    return ""


def main():
    lacks = vgf.missing()
    if not lacks and tuple(map(int, importlib.metadata.version("ai_ml_sdk_model_converter").split(".")[:2])) < (0, 11):
        lacks = "a model converter that knows shaders (0.11)"
    if lacks:
        print(f"vgf segments: without {lacks} nothing is compared")
        print("vgf segments: 0 passed, 0 failed, 1 skipped")
        return 0
    root, environment = vgf.vulkan()
    cases = {**CASES, **{f"random {s}": None for s in range(A.seed, A.seed + A.random)}}
    passed = failed = 0
    for name, case in cases.items():
        if A.only not in name:
            continue
        folder = tempfile.mkdtemp(prefix="vgf-shader-")
        try:
            words = judge(name, case or program(int(name.split()[1])), folder, environment)
        except vgf.Refused as refused:
            words = str(refused)
        passed += not words
        failed += bool(words)
        if words:
            print(f"{name}: {words}", flush=True)
            if A.keep:
                shutil.copytree(folder, os.path.join(A.keep, name.replace(" ", "-")), dirs_exist_ok=True)
        shutil.rmtree(folder)
    shutil.rmtree(root)
    print(f"vgf segments: {passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
