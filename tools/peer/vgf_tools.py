# SPDX-License-Identifier: Apache-2.0
"""Arm's tools for VGF files: the model converter, vgf_dump, and the scenario runner on the emulation layer over Mesa's
software Vulkan.  Run it with a Python that has them (tools/setup.sh judges).  What a tool turns down is a Refused."""
import importlib.util
import json
import os
import shutil
import struct
import subprocess
import tempfile

ICD = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"


class Refused(Exception):
    pass


def package(name):
    return importlib.util.find_spec(name).submodule_search_locations[0]


def program(name, *path):
    """A native program inside an installed package."""
    return os.path.join(package(name), *path)


def call(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise Refused(f"{os.path.basename(command[0])}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout


def missing():
    """What is not there to run VGF files, in words; nothing when all is."""
    for name in ("model_converter", "vgf_lib", "scenario_runner", "emulation_layer"):
        if not importlib.util.find_spec(name):
            return f"the Python package with {name}"
    return "" if os.path.exists(ICD) else "Mesa's software Vulkan (mesa-vulkan-drivers)"


def vulkan():
    """The environment in which the two layers are found, each from a folder of its own: the graph layer first."""
    deploy = program("emulation_layer", "deploy")
    folders = []
    root = os.path.join(tempfile.gettempdir(), f"vgf-layers-{os.getuid()}-{os.getpid()}")
    for name in ("Graph", "Tensor"):
        folders.append(os.path.join(root, name))
        os.makedirs(folders[-1], exist_ok=True)
        shutil.copy(os.path.join(deploy, "share", "vulkan", "explicit_layer.d", f"VkLayer_{name}.json"), folders[-1])
        library = os.path.join(folders[-1], f"VkLayer_{name}.json")
        layer = json.load(open(library))
        path = layer["layer"]["library_path"]
        if not os.path.isabs(path):
            layer["layer"]["library_path"] = os.path.join(deploy, "lib", os.path.basename(path))
        json.dump(layer, open(library, "w"))
    return root, {**os.environ, "LD_LIBRARY_PATH": os.path.join(deploy, "lib"), "VK_LAYER_PATH": ":".join(folders), "VK_ICD_FILENAMES": ICD,
                  "VK_INSTANCE_LAYERS": "VK_LAYER_ML_Graph_Emulation:VK_LAYER_ML_Tensor_Emulation"}


def convert(tosa, out):
    call(program("model_converter", "binaries", "bin", "model-converter"), "-i", tosa, "-o", out)
    if not os.path.exists(out):
        raise Refused("model-converter: exit 0 and no file")


def dump(vgf):
    return json.loads(call(program("vgf_lib", "binaries", "bin", "vgf_dump"), "-i", vgf))


def times(folder):
    """By operator: milliseconds and how many, as the emulation layer has measured them in its graph segments."""
    found = {}
    for name in sorted(os.listdir(folder)):
        text = open(os.path.join(folder, name), errors="replace").read()
        for sample in json.JSONDecoder().raw_decode(text)[0]["samples"]:  # bytes of zero follow
            total, count = found.get(sample["operator_name"], (0.0, 0))
            found[sample["operator_name"]] = (total + sample["time_ms"], count + 1)
    return found


def run(vgf, folder, inputs, environment, profile=None):
    """Paths of the results; inputs are matched by binding.  profile: a folder for the times of graph segments (VMEL_GRAPH_PROFILING)."""
    scenario = os.path.join(folder, "scenario.json")
    call(program("vgf_lib", "binaries", "bin", "vgf_dump"), "-i", vgf, "--scenario-template", "-o", scenario)
    s = json.load(open(scenario))
    s["resources"] = [r for r in s["resources"] if "shader" not in r]  # shaders are in the file: nothing is substituted
    for command in s["commands"]:
        for what in command.values():
            what.pop("shader_substitutions", None)
    binding = {b["resource_ref"]: b["id"] for c in s["commands"] for v in c.values() for b in v.get("bindings", [])}
    results = []
    for r in s["resources"]:
        if "graph" in r:
            r["graph"]["src"] = os.path.abspath(vgf)
        if "shader" in r: # the file's own
            number = r["shader"]["src"].rsplit("_", 1)[1]
            r["shader"]["src"] = os.path.join(os.path.abspath(folder), f"shader_{number}.spv")
            call(program("vgf_lib", "binaries", "bin", "vgf_dump"), "-i", vgf, "--dump-spirv", number, "-o", r["shader"]["src"])
        t = r.get("tensor", {})
        if t.get("src", "").startswith("TEMPLATE_PATH_TENSOR_INPUT"):
            t["src"] = os.path.abspath(inputs[binding[t["uid"]]])
        if "dst" in t:
            t["dst"] = f"output_{t['dst'].rsplit('_', 1)[1]}.npy"
            results.append(os.path.join(folder, t["dst"]))
    json.dump(s, open(scenario, "w"))
    more = ["--emulation-layer-profiling-dump-dir", profile] if profile else []
    environment = {**environment, "VMEL_GRAPH_PROFILING": "1"} if profile else environment
    call(program("scenario_runner", "binaries", "bin", "scenario-runner"), "--scenario", scenario, "--output", folder, *more, env=environment)
    for path in results:
        if not os.path.exists(path):
            raise Refused(f"scenario-runner: exit 0 and no {os.path.basename(path)}")
    return sorted(results)


def resources(d):
    """By binding what an input or output is, and the constants, sorted: the converter numbers them in an order of its own."""
    described = [(r["category"], tuple(r["shape"]), r["vk_format"]) for r in d["resources"]]
    ports = {(b["binding"], kind): described[b["mrt_index"]] for kind in ("inputs", "outputs") for b in d["model_sequence"][kind]}
    return ports, sorted(described[c["mrt_index"]] for c in d["constants"])


def instructions(vgf):
    """The TOSA instructions of the file's SPIR-V, in order."""
    data = open(vgf, "rb").read()
    at = data.index(struct.pack("<I", 0x07230203))
    count, = struct.unpack_from("<I", data, at - 4)
    words, found, i = struct.unpack_from(f"<{count}I", data, at), [], 5
    while i < count:
        if words[i] & 0xffff == 12:
            found.append(words[i + 4])
        i += words[i] >> 16
    return found


def same_resources(our_file, their_file):
    """Words about what differs.  The converter gives an input that nothing reads no binding: ours has one.  Constants are
    compared where the instructions are the same: the converter computes what follows from constants alone."""
    (ports, constants), (their_ports, their_constants) = resources(dump(our_file)), resources(dump(their_file))
    for key, value in their_ports.items():
        if ports.get(key) != value:
            return f"{key} is {ports.get(key)}, the converter's {value}"
    extra = [k for k in ports if k not in their_ports and k[1] == "outputs"]
    if extra:
        return f"more outputs than the converter's: {extra}"
    folded = instructions(our_file) != instructions(their_file)
    return "" if folded or constants == their_constants else f"constants {constants}, the converter's {their_constants}"[:400]
