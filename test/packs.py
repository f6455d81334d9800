#!/usr/bin/env python3
"""A model in C as a CMSIS-Pack, as a library of Arduino and PlatformIO, in a Zephyr module.

    packs.py TOSAC [WORK]

What is inside is compiled, and computes what `tosac run` does.  Zephyr's own functions are stood in for (CMake, kernel.h).  Ends with
"N passed, N failed, N skipped".
"""
import json
import os
import shutil
import struct
import subprocess
import zipfile
from xml.etree import ElementTree

from tried import expect, run_main, tried

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
DIGITS = [f"{HERE}/fixture/digits/model.pt2", "--calib", f"{HERE}/fixture/digits/calib.npz"]
ARM = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -O1 -Wall -Wextra -Werror -c".split()
MAIN = """#include <stdio.h>
#include "{header}"
static uint8_t arena[{name}_ARENA_BYTES] __attribute__((aligned(16)));
static int8_t in[{name}_INPUT_0_BYTES];
static int16_t out[{name}_OUTPUT_0_ELEMENTS];
int main(void)
{{
    while (fread(in, 1, sizeof in, stdin) == sizeof in) {{
        {function}_run_in(arena, in, out);
        fwrite(out, 1, sizeof out, stdout);
    }}
    return 0;
}}
"""
# What `find_package(Zephyr)` does, as far as the example asks.
ZEPHYR = """set(APPLICATION_SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
file(STRINGS ${APPLICATION_SOURCE_DIR}/prj.conf lines REGEX "^CONFIG_")
foreach(line ${lines})
  string(REGEX MATCH "^(CONFIG_[A-Z_]+)=\\"?([^\\"]*)\\"?$" found "${line}")
  set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
enable_language(C)
macro(zephyr_library_named name)
  add_library(${name} STATIC)
  set(current ${name})
endmacro()
macro(zephyr_library_sources)
  target_sources(${current} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  target_include_directories(app PRIVATE ${ARGN})
  target_include_directories(${current} PRIVATE ${ARGN})
endmacro()
add_executable(app)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
foreach(module ${ZEPHYR_EXTRA_MODULES})
  include(${module}/CMakeLists.txt)
endforeach()
target_link_libraries(app PRIVATE tosac_model)
"""
KERNEL = """#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define printk printf
#define __aligned(n) __attribute__((aligned(n)))
static inline uint32_t k_cycle_get_32(void) { return 0; }
static inline uint32_t k_cyc_to_us_floor32(uint32_t cycles) { return cycles; }
"""


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=300, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr).decode(errors='replace')[-1500:]}")
    return done.stdout


def packed(tosac, work, name, target="cortex-m4"):
    """The archive, made twice."""
    for folder in ("a", "b"):
        os.makedirs(f"{work}/{folder}", exist_ok=True)
        run(tosac, "compile", *DIGITS, "-t", target, "-o", f"{work}/{folder}/{name}", "--quiet")
    with open(f"{work}/a/{name}", "rb") as a, open(f"{work}/b/{name}", "rb") as b:
        expect(a.read() == b.read(), "two archives of the same model differ")
    return zipfile.ZipFile(f"{work}/a/{name}")


def codes(tosac, work):
    """Inputs as codes, and the codes that come out."""
    run(tosac, "compile", *DIGITS, "-t", "cortex-m4", "-o", f"{work}/digits.c", "--quiet")
    head = open(f"{work}/digits.h", encoding="ascii").read()
    def number(word):
        return float(head.split(f"DIGITS_{word} ")[1].split()[0])
    run(tosac, "compile", *DIGITS, "-t", "cortex-m4", "-o", f"{work}/digits.ir", "--quiet")
    run(tosac, "run", f"{work}/digits.ir", "-i", f"{HERE}/fixture/digits/calib.npz", "-o", f"{work}/out", "--quiet")
    with zipfile.ZipFile(f"{HERE}/fixture/digits/calib.npz") as z:
        data = z.read(z.namelist()[0])
    pixels = struct.unpack(f"<{784 * 8}f", data[128:128 + 4 * 784 * 8])
    given = bytes(max(-128, min(127, round(p / number("INPUT_0_SCALE")) + int(number("INPUT_0_ZERO_POINT")))) & 255 for p in pixels)
    results = struct.unpack("<80f", open(f"{work}/out/output_0.npy", "rb").read()[128:128 + 320])
    return given, [round(r / number("OUTPUT_0_SCALE")) for r in results]


def cmsis_pack(tosac, work):
    z = packed(tosac, work, "acme.digits.1.2.0.pack")
    root = ElementTree.fromstring(z.read("acme.digits.pdsc"))
    expect([root.find(t).text for t in ("vendor", "name")] == ["acme", "digits"] and root.find("releases/release").get("version") == "1.2.0", "names")
    files = [f.get("name") for f in root.iter("file")]
    expect(sorted(files) == sorted(n for n in z.namelist() if n != "acme.digits.pdsc"), "files", files)
    part = root.find("components/component")
    expect(root.find(f"conditions/condition[@id='{part.get('condition')}']/require").get("Dcore") == "Cortex-M4", "core")
    z.extractall(f"{work}/pack")
    for name in files:
        if name.endswith(".c"):
            run("arm-none-eabi-gcc", *ARM, f"-I{work}/pack/src", f"{work}/pack/{name}", "-o", f"{work}/x.o")
    return f"{len(files)} files"


def pair_pack(tosac, work):
    z = packed(tosac, work, "acme.pair.1.0.0.pack", "ethos-u55-128+cortex-m55")
    expect("src/tosac_npu.h" in z.namelist() and b"tosac_npu_run()" in z.read("acme.pair.pdsc") and b"Cortex-M55" in z.read("acme.pair.pdsc"), z.namelist())
    return "with tosac_npu_run()"


def library(tosac, work):
    z = packed(tosac, work, "digits-2.0.1.zip", "cortex-m4")
    about = dict(line.split("=", 1) for line in z.read("digits/library.properties").decode().splitlines())
    expect(about["name"] == "digits" and about["version"] == "2.0.1" and f"digits/src/{about['includes']}" in z.namelist(), about)
    expect(all(about.get(k) is not None for k in ("author", "maintainer", "sentence", "paragraph", "category", "url", "architectures")), about)
    more = json.loads(z.read("digits/library.json"))
    expect(more["name"] == "digits" and more["version"] == "2.0.1" and more["headers"] == "digits.h", more)
    z.extractall(f"{work}/library")
    folder = f"{work}/library/digits/src"
    with open(f"{work}/main.c", "w", encoding="ascii") as f:
        f.write(MAIN.format(header=about["includes"], name="DIGITS", function="digits"))
    run("cc", "-O1", f"-I{folder}", f"{work}/main.c", *[f"{folder}/{n}" for n in os.listdir(folder) if n.endswith(".c")], "-o", f"{work}/digits")
    given, wanted = codes(tosac, work)
    got = struct.unpack("<80h", run(f"{work}/digits", input=given))
    expect(list(got) == wanted, "results", got[:10], wanted[:10])
    return "8 samples equal"


def zephyr(tosac, work):
    shutil.copytree(f"{TOP}/examples/zephyr", f"{work}/zephyr")
    os.makedirs(f"{work}/stub/include/zephyr")
    for name, text in (("ZephyrConfig.cmake", ZEPHYR), ("include/zephyr/kernel.h", KERNEL)):
        with open(f"{work}/stub/{name}", "w", encoding="ascii") as f:
            f.write(text)
    os.makedirs(f"{work}/zephyr/sample/model")
    run(tosac, "compile", *DIGITS, "-t", "cortex-m55", "-o", f"{work}/zephyr/sample/model/network.c", "--quiet")
    expect("CONFIG_TOSAC_MODEL_FOLDER" in open(f"{work}/zephyr/sample/prj.conf", encoding="ascii").read() and
           "config TOSAC_MODEL_FOLDER" in open(f"{work}/zephyr/Kconfig", encoding="ascii").read(), "Kconfig")
    run("cmake", "-G", "Ninja", "-S", f"{work}/zephyr/sample", "-B", f"{work}/zephyr/build", f"-DZephyr_DIR={work}/stub")
    run("cmake", "--build", f"{work}/zephyr/build")
    said = run(f"{work}/zephyr/build/app").decode()
    with open(f"{work}/zero.npy", "wb") as f:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }"
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head + b" " * (117 - len(head)) + b"\n" + bytes(4 * 784))
    run(tosac, "run", f"{HERE}/fixture/digits/model.pt2", "-i", f"{work}/zero.npy", "-o", f"{work}/zero", "--quiet")
    logits = struct.unpack("<10f", open(f"{work}/zero/output_0.npy", "rb").read()[128:168])
    expect(said.startswith(f"class {logits.index(max(logits))}, "), said, logits)
    return said.strip()


def mistakes(tosac, work):
    for name, target, word in (("digits.pack", "cortex-m4", "VENDOR.NAME.VERSION.pack"), ("a.b.1.pack", "cortex-m4", "VENDOR.NAME.VERSION.pack"),
                               ("2digits.zip", "cortex-m4", "NAME-VERSION.zip"), ("a.b.1.0.0.pack", "ethos-u85-256", "a model in C")):
        done = subprocess.run([tosac, "compile", *DIGITS, "-t", target, "-o", f"{work}/{name}"], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and word in done.stderr, name, done.stderr)
    return "told"


def main(tosac, work):
    needs = {cmsis_pack: "arm-none-eabi-gcc", zephyr: "cmake"}
    cases = [(case,) for case in (cmsis_pack, pair_pack, library, zephyr, mistakes)]
    return tried(tosac, work, cases, lambda case: case in needs and not shutil.which(needs[case]) and f"there is no {needs[case]}", apart=True)


if __name__ == "__main__":
    run_main(main)
