#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images as inputs and outputs of a .vgf (tosac compile --image) before Arm's tools, in every format.

    vgf_images.py formats  TOSAC [--every N] [--only TEXT]    the judges' Python (tools/setup.sh judges)
    vgf_images.py networks TOSAC [--only TEXT]

formats: a small network, float and int8, takes an image and gives one, every code of 8 bits in each component; the scenario runner on
the emulation layer gives the bytes that `tosac run` gives of the file, and both give what numpy computes of the codes.  networks:
test/fixture/shaders with images in and out.  Ends with "N passed, N failed".
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["formats", "networks"])
ap.add_argument("tosac")
ap.add_argument("--every", type=int, default=1)
ap.add_argument("--only", default="")
A = ap.parse_args()
A.tosac = os.path.abspath(A.tosac)
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "fixture", "shaders")
RNG = np.random.default_rng(3)


class Format:
    """Components, their bits and meaning, from Vulkan's name."""

    def __init__(self, name):
        self.name = name
        self.packed = "pack32" in name
        self.kind = re.search(r"unorm|snorm|uint|sint|sfloat|ufloat", name).group()
        parts = re.findall(r"([rgba])(\d+)", name.split("_")[0])
        self.n, self.bits = len(parts), int(dict((c, b) for c, b in parts)["r"])
        self.order = [("rgba".index(c), int(b)) for c, b in (reversed(parts) if self.packed else parts)]
        self.dtype = {8: np.uint8, 16: np.uint16, 32: np.uint32}[32 if self.packed else self.bits]
        if not self.packed and self.kind in ("snorm", "sint"):
            self.dtype = {8: np.int8, 16: np.int16, 32: np.int32}[self.bits]
        if self.kind == "sfloat":
            self.dtype = {16: np.float16, 32: np.float32}[self.bits]

    def draw(self, h, w):
        """All codes of 8 bits in every component; of wider ones some, with the ends."""
        shape = (h, w, 1 if self.packed else self.n)
        if self.kind == "sfloat":
            wild = RNG.choice([np.inf, -np.inf, np.nan], shape)
            return np.where(RNG.random(shape) < 0.02, wild, RNG.standard_normal(shape) * 2).astype(self.dtype)
        if self.kind == "ufloat":
            words = RNG.integers(0, 2 ** 32, shape, dtype=np.uint64).astype(np.uint32)
            return words & np.uint32(0b1011111111_10111111111_10111111111)  # no infinity
        if self.packed:
            return RNG.integers(0, 2 ** 32, shape, dtype=np.uint64).astype(np.uint32)
        info = np.iinfo(self.dtype)
        codes = np.arange(h * w * self.n) % 256 + info.min if self.bits == 8 else RNG.integers(info.min, info.max, h * w * self.n, endpoint=True)
        codes = codes.reshape(h * w, self.n) if self.bits > 8 else np.stack([np.roll(np.arange(h * w) % 256 + info.min, 7 * k) for k in range(self.n)], 1)
        codes[:2] = [[info.min], [info.max]]
        if self.bits == 32:
            codes //= 2 ** 12
        return codes.astype(self.dtype).reshape(shape)

    def parts(self, texels):
        """Codes by component, red first; of floats the numbers."""
        out = np.zeros(texels.shape[:2] + (self.n,), np.float64 if "float" in self.kind else np.int64)
        shift = 0
        for place, (k, bits) in enumerate(self.order):
            if self.packed:
                code = texels[..., 0].astype(np.int64) >> shift & (2 ** bits - 1)
                shift += bits
                out[..., k] = (code << (15 - bits)).astype(np.uint16).view(np.float16) if self.kind == "ufloat" else code
            else:
                out[..., k] = texels[..., place]
        return out

    def most(self, k):
        bits = next(b for c, b in self.order if c == k)
        return 2 ** (bits - (self.kind == "snorm")) - 1

    def reals(self, texels):
        codes = self.parts(texels).astype(np.float64)
        if self.kind.endswith("norm"):
            codes /= [self.most(k) for k in range(self.n)]
            codes = np.maximum(codes, -1)
        return codes

    def nearest(self, reals):
        """By component what is nearest to the numbers: codes, or floats."""
        if self.kind.endswith("norm"):
            most = np.array([self.most(k) for k in range(self.n)])
            return np.clip(np.rint(reals * most), -most if self.kind == "snorm" else 0 * most, most)
        if self.kind in ("uint", "sint"):
            low, high = (0, 2 ** self.bits - 1) if self.kind == "uint" else (-2 ** (self.bits - 1), 2 ** (self.bits - 1) - 1)
            return np.clip(np.rint(reals), low, high)
        if self.kind == "ufloat":
            mantissa = np.array([6, 6, 5])
            step = 2.0 ** (np.maximum(np.floor(np.log2(np.maximum(reals, 2.0 ** -30))), -14) - mantissa)
            return np.clip(np.rint(np.maximum(reals, 0) / step) * step, 0, (2 - 2.0 ** -mantissa) * 2 ** 15)
        return reals.astype(self.dtype).astype(np.float64)


FORMATS = [f"r{b}{rest.format(b=b)}_{kind}" for b, kinds in ((8, "unorm snorm uint sint"), (16, "unorm snorm uint sint sfloat"), (32, "sint sfloat"))
           for rest in ("", "g{b}", "g{b}b{b}a{b}") for kind in kinds.split()] + \
    ["b8g8r8a8_unorm", "a2b10g10r10_unorm_pack32", "b10g11r11_ufloat_pack32"]
# What the scenario runner has files of images for: DXGI's numbers.
DXGI = {"r32g32b32a32_sfloat": 2, "r16g16b16a16_sfloat": 10, "r16g16b16a16_sint": 14, "r8g8b8a8_sint": 32, "r16g16_sfloat": 34, "r32_sfloat": 41,
        "r8g8_sint": 52, "r16_sfloat": 54, "b10g11r11_ufloat_pack32": 26, "r8_unorm": 61, "r8_snorm": 63, "r8g8_unorm": 49, "r8g8b8a8_unorm": 28,
        "r8g8b8a8_snorm": 31, "b8g8r8a8_unorm": 87}
SCALAR = {1: "VK_FORMAT_R8_UINT", 2: "VK_FORMAT_R16_UINT", 4: "VK_FORMAT_R32_UINT"}


def call(*words):
    done = subprocess.run([A.tosac, *words], capture_output=True, text=True)
    if done.returncode:
        raise vgf.Refused(f"tosac {words[0]}: " + done.stderr.strip()[-300:])
    return done


class Skipped(Exception):
    pass


def dds(path, format, texels):
    h, w = texels.shape[-3:-1]
    words = [0x20534444, 124, 0x100f, h, w, w * texels.itemsize * texels.shape[-1], 1, 1] + [0] * 11 + [32, 4, 0x30315844] + [0] * 5 + [0x1000] + [0] * 4 + \
        [DXGI[format.name], 3, 0, 1, 0]
    open(path, "wb").write(np.array(words, np.uint32).tobytes() + texels.tobytes())


def run_layer(file, folder, inputs, environment):
    """Results by output.  Images are loaded and stored through tensors that share their memory: the scenario runner's own files of images
    know few formats."""
    d = vgf.dump(file)
    bindings, resources, results = [], [{"graph": {"src": os.path.abspath(file), "uid": "graph"}}], []
    for kind, access in (("inputs", "readonly"), ("outputs", "writeonly")):
        for i, port in enumerate(d["model_sequence"][kind]):
            r, uid = d["resources"][port["mrt_index"]], f"{kind}_{i}"
            bindings.append({"set": 0, "id": port["binding"], "resource_ref": uid})
            path = os.path.join(folder, uid + ".npy")
            file_of = {"src": path} if kind == "inputs" else {"dst": uid + ".npy"}
            if kind == "inputs":
                np.save(path, inputs[i])
            else:
                results.append(path)
            if r["vk_descriptor_type"].endswith("TENSOR_ARM"):
                resources.append({"tensor": {"uid": uid, "dims": r["shape"], "format": r["vk_format"], "shader_access": access, **file_of}})
                continue
            _, h, w, c = r["shape"]
            format = Format(r["vk_format"].lower().replace("vk_format_", ""))
            sampled = r["vk_descriptor_type"].endswith("SAMPLER")
            odd = w * c * np.dtype(format.dtype).itemsize % 64  # Lavapipe begins each row at a multiple of 64 bytes, and the runner does not know
            if odd or format.packed or any(k != port["mrt_index"] and o.get("alias_group_id") == r.get("alias_group_id") is not None for k, o in enumerate(d["resources"])):
                # The file has a tensor of the same memory, and the runner takes no second one; nor one of an image of packed words.
                if format.name not in DXGI:
                    raise Skipped(f"the scenario runner has no files of {format.name}")
                path = os.path.join(folder, uid + ".dds")
                file_of = {"src": path} if kind == "inputs" else {"dst": uid + ".dds"}
                if kind == "inputs":
                    dds(path, format, inputs[i])
                else:
                    results[-1] = path
                resources.append({"image": {"uid": uid, "dims": [1, w, h, 1], "format": r["vk_format"], **file_of,
                                            "shader_access": "image_read" if sampled else "readwrite",
                                            **({"min_filter": "NEAREST", "mag_filter": "NEAREST", "border_address_mode": "CLAMP_EDGE"} if sampled else {})}})
                continue
            share = {"tiling": "LINEAR", "memory_group": {"id": uid}}
            resources.append({"image": {"uid": uid, "dims": [1, w, h, 1], "format": r["vk_format"], **share,
                                        "shader_access": "image_read" if sampled else "readwrite",
                                        **({"min_filter": "NEAREST", "mag_filter": "NEAREST", "border_address_mode": "CLAMP_EDGE"} if sampled else {})}})
            size = np.dtype(format.dtype).itemsize
            resources.append({"tensor": {"uid": uid + "_bytes", "dims": [1, h, w, 1 if format.packed else c], "format": SCALAR[size],
                                         "shader_access": "readwrite", **share, **file_of}})
            if kind == "inputs":
                np.save(path, inputs[i].view({1: np.uint8, 2: np.uint16, 4: np.uint32}[size]))
    scenario = os.path.join(folder, "scenario.json")
    json.dump({"commands": [{"dispatch_graph": {"bindings": bindings, "graph_ref": "graph"}}], "resources": resources}, open(scenario, "w"))
    vgf.call(vgf.program("scenario_runner", "binaries", "bin", "scenario-runner"), "--scenario", scenario, "--output", folder, env=environment)
    return [np.frombuffer(open(path, "rb").read()[148:], np.uint8) if path.endswith(".dds") else np.load(path) for path in results]


def finite(*images):
    """Where all of them are what is no number, or the same infinity, 0."""
    a = images[0]
    odd = ~np.isfinite(a) & np.all([(b == a) | np.isnan(b) & np.isnan(a) for b in images], axis=0)
    return [np.where(odd, 0, b) for b in images]


def no_nan(a):
    return np.where(np.isnan(a), 0, a)


def apart(format, a, b):
    """How far two images are from each other: in codes, or relative to the largest number."""
    a, b = (format.parts(x.reshape(x.shape[-3:])) for x in (a, b))
    if "float" in format.kind:
        a, b = finite(a, b)
    far = np.abs(a.astype(np.float64) - b.astype(np.float64)).max()
    return far / max(1e-9, np.abs(a).max()) if "float" in format.kind else far


H, W = 8, 64


def case(name, channels, layout, quantized, to, environment):
    """Words about what is wrong.  to: the result's format."""
    f, g = Format(name), Format(to)
    shape = [1, channels, H, W] if layout == "nchw" else [1, H, W, channels]
    whole = f.kind in ("uint", "sint")
    gain, shift = (0.75, 0.125) if not whole else (0.5, 3)
    dims = ",".join(map(str, shape))
    text = f"graph @main(%0 \"x\": f32[{dims}]) {{\n  %1 = const [{gain}] : f32[1]\n  %2 = const [{shift}] : f32[1]\n" \
           f"  %3 = mul %0, %1 : f32[{dims}]\n  %4 \"y\" = add %3, %2 alpha=1 : f32[{dims}]\n  return %4\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        model, file, calib = (os.path.join(folder, n) for n in ("model.ir", "model.vgf", "calib.npy"))
        open(model, "w").write(text)
        texels = f.draw(H, W)
        words = ["-t", "vgf"]
        if quantized:
            low, high = (-1, 1) if f.kind in ("snorm", "sfloat") else (0, 1) if not whole else (-100, 100)
            np.save(calib, np.linspace(low, high, 8 * int(np.prod(shape))).reshape([8] + shape[1:]).astype(np.float32))
            words = ["-t", "vgf:TOSA-1.0+INT", "--calib", calib]
        try:
            call("compile", model, *words, "--check", "--image", f"x={name}:{layout}", "--image", f"y={to}:{layout}", "-o", file)
        except vgf.Refused as no:
            expected = quantized and f.kind == "uint" and "codes from -128 to 127" in str(no)
            return "" if expected else str(no)
        np.save(os.path.join(folder, "in.npy"), texels[None])
        call("run", file, "-i", os.path.join(folder, "in.npy"), "-o", os.path.join(folder, "ours"))
        ours = np.load(os.path.join(folder, "ours", "output_0.npy"))
        try:
            unseen, theirs = None, run_layer(file, folder, [texels[None]], environment)[0].view(ours.dtype).reshape(ours.shape)
        except Skipped as no:
            unseen, theirs = no, ours
        far = apart(g, ours, theirs)
        if far > (0 if quantized else 1e-6 if "float" in g.kind else 1):
            return f"the layer is {far:g} from tosac run"
        # numpy: floats exactly but for the last bit; codes of int8 within what two roundings to the codes may be off
        want = f.reals(texels)
        want = (no_nan(want) if quantized else want) * gain + shift
        none = np.isnan(want) if "float" not in g.kind else np.zeros(want.shape, bool)
        want = np.where(none, 0, want)
        want[..., channels:] = [0, 0, 0, 1][channels:f.n]
        want, got = g.nearest(want), g.parts(ours.reshape(texels.shape[:2] + (-1,))).astype(np.float64)
        if np.any(got[none]):
            return "what is no number is another code than 0"
        if g.kind == "sfloat" and not quantized:
            want, got = finite(want, got)
        if quantized and whole:  # codes of the network's own scales
            if unseen:
                raise unseen
            return ""
        slack = 2.5 / 128 if quantized else 0
        for k in range(f.n):
            step = g.most(k) if g.kind.endswith("norm") else max(1, np.abs(want[..., k][np.isfinite(want[..., k])]).max())
            near = slack * (2 if g.kind in ("snorm", "sfloat") else 1) * step + (1 if g.kind.endswith("norm") or whole else 1e-3 * step)
            if g.kind == "snorm":
                got[..., k] = np.maximum(got[..., k], -step)
            if quantized and "float" in g.kind:
                want[..., k] = np.clip(want[..., k], got[..., k].min(), got[..., k].max())
            off = np.abs(want[..., k] - got[..., k]).max()
            if off > near:
                return f"component {k} is {off:g} from numpy's, {near:g} are allowed"
    if unseen:
        raise unseen
    return ""


def formats(environment):
    right = wrong = 0
    skipped = {}
    cases = []
    for name in FORMATS:
        n = Format(name).n
        for quantized in (False, True):
            for layout in ("nchw", "nhwc"):
                for channels in {n, 3 if n == 4 else n}:
                    cases.append((name, channels, layout, quantized, name))
    # numbers that are none, as codes
    cases += [(name, Format(name).n, "nchw", False, name.replace("16" if "16" in name else "32", bits).replace("sfloat", kind))
              for name in FORMATS if "sfloat" in name for bits, kind in (("8", "unorm"), ("16", "snorm"), ("8", "sint"))]
    for c in [c for c in cases if A.only in " ".join(map(str, c))][::A.every]:
        try:
            words = case(*c, environment)
        except vgf.Refused as no:
            words = str(no)
        except Skipped as no:
            skipped[str(no)] = skipped.get(str(no), 0) + 1
            continue
        right, wrong = right + (not words), wrong + bool(words)
        if words:
            print(f"{c[0]}, {c[1]} channels, {c[2]}, {'int8' if c[3] else 'float'}, to {c[4]}: {words}", flush=True)
    for why, count in skipped.items():
        print(f"{count} not run: {why}", flush=True)
    return right, wrong


NETWORKS = ("unet", "flow", "transformer")
BY_CHANNELS = {1: "r8_unorm", 2: "r16g16_sfloat", 3: "r8g8b8a8_unorm", 4: "r8g8b8a8_snorm"}


def networks(environment):
    right = wrong = 0
    for name in NETWORKS:
        model = os.path.join(FIXTURES, name + ".pt2")
        ports = json.loads(call("inspect", model, "--json").stdout)
        for words, near in ((["-t", "vgf"], 1), (["-t", "vgf", "--shaders", "samplers"], 1), (["-t", "vgf:TOSA-1.0+INT", "--calib", "random:1"], 0)):
            if A.only not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                file, images, inputs, paths = os.path.join(folder, name + ".vgf"), [], [], []
                asked = [("input", i, p) for i, p in enumerate(ports["inputs"])] + [("output", i, p) for i, p in enumerate(ports["outputs"])]
                for kind, i, p in asked:
                    shape = [int(d) for d in re.search(r"\[(.*)\]", p["type"]).group(1).split(",")]
                    if len(shape) == 4:
                        images += ["--image", f"{kind}_{i}=" + BY_CHANNELS[shape[1]]]
                        if kind == "input":
                            inputs.append(Format(images[-1].split("=")[1]).draw(shape[2], shape[3])[None])
                    elif kind == "input":
                        inputs.append(RNG.random(shape).astype(np.float32))
                try:
                    call("compile", model, *words, *images, "--check", "-o", file)
                    for i, x in enumerate(inputs):
                        paths.append(os.path.join(folder, f"in_{i}.npy"))
                        np.save(paths[-1], x)
                    call("run", file, *sum((["-i", p] for p in paths), []), "-o", os.path.join(folder, "ours"))
                    far, wholes = [], []
                    for i, got in enumerate(run_layer(file, folder, inputs, environment)):
                        ours = np.load(os.path.join(folder, "ours", f"output_{i}.npy"))
                        got = got.view(ours.dtype).reshape(ours.shape)
                        wholes.append(ours.dtype.kind != "f")
                        gap = np.abs(ours.astype(np.float64) - got.astype(np.float64)).max()
                        far.append(gap / max(1e-9, np.abs(ours.astype(np.float64)).max()) if ours.dtype.kind == "f" else gap)
                    ok = all(g <= (near if whole else 1e-5) for g, whole in zip(far, wholes))
                    words_ = f"{', '.join(images[1::2])}: largest differences {', '.join(f'{g:.2g}' for g in far)}"
                except vgf.Refused as no:
                    ok, words_ = False, str(no)
            right, wrong = right + ok, wrong + (not ok)
            print(f"{name} {' '.join(words)}: {words_}", flush=True)
    return right, wrong


def main():
    missing = vgf.missing()
    if missing:
        print(f"{missing} is missing\n0 passed, 0 failed, 1 skipped")
        return 0
    folder, environment = vgf.vulkan()
    right, wrong = {"formats": formats, "networks": networks}[A.what](environment)
    shutil.rmtree(folder)
    print(f"{right} passed, {wrong} failed")
    return bool(wrong)


sys.exit(main())
