#!/usr/bin/env python3
"""Whether a firmware takes a file: faults of the kinds that end in "Invoke failed", planted one by one, and what `verify --firmware` says.

    firmware_fit.py TOSAC [WORK]

Ends with "N passed, N failed, N skipped".
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = (f"{HERE}/fixture/digits/model.pt2", "--calib", f"{HERE}/fixture/digits/calib.npz", "--no-execute")
RESOLVER = "static tflite::MicroMutableOpResolver<4> r;\nr.AddEthosU();\nr.AddQuantize();\nr.AddDequantize();\nr.AddSoftmax();\n"
BOARD = """[Board.tiny]
title = Tiny
npu = ethos-u55-128
core = cortex-m55
system_config = Ethos_U55_High_End_Embedded
memory_mode = Shared_Sram
sram = 8 KiB
flash = 64 KiB
"""
REVERSE = "graph @main(%0: i8[1,6,8,16]) {\n  %1 = tosa.reverse %0 axis=1 : i8[1,6,8,16]\n  return %1\n}\n"

# file, firmware, further options, the rule, and words of what is found; None: nothing is at fault
FAULTS = (
    ("u55.tflite", "tflm,driver=0.16,arena=200K,resolver={work}/good.cc", ["-t", "ethos-u55-128"], None, ""),
    ("u55.tflite", "tflm", ["-t", "ethos-u55-256"], "macs", "128 multiplications a cycle, and there are 256"),
    ("u55.tflite", "tflm", ["-t", "ethos-u65-256"], "product", "compile with -t ethos-u65-256"),
    ("u55.tflite", "tflm", ["--board", "nucleo-h743zi"], "product", "has no Ethos-U"),
    ("u55.tflite", "tflm,driver=0.15", ["-t", "ethos-u55-128"], "driver", "older than 0.16"),
    ("u55.tflite", "tflm,resolver={work}/bad.cc", ["-t", "ethos-u55-128"], "resolver", "does not call AddEthosU(): tflite::MicroMutableOpResolver<"),
    ("u55.tflite", "tflm,arena=1000", ["-t", "ethos-u55-128"], "arena", "bytes are needed, 1000 are there"),
    ("u55.tflite", "tflm", ["--board", "{work}/tiny.ini"], "memory", "of the file, tiny has 65536"),
    ("u55-askew.tflite", "tflm", ["-t", "ethos-u55-128"], "alignment", "begins at byte 28 of its payload"),
    ("u55.tflite", "executorch-1.4", ["-t", "ethos-u55-128"], "file", "ExecuTorch 1.4's runtime does not load"),
    ("m4.tflite", "tflm,resolver={work}/good.cc", ["--board", "nucleo-h743zi"], "resolver", "does not call AddConv2D()"),
    ("u85.pte", "executorch-1.4,driver=0.16,kernels=quantized_decomposed+EthosUBackend,method=64K,temporary=1M", ["-t", "ethos-u85-256"], None, ""),
    ("u85.pte", "executorch-1.4,driver=0.15", ["-t", "ethos-u85-256"], "driver", "does not know U85"),
    ("u85.pte", "executorch-1.4,method=1000", ["-t", "ethos-u85-256"], "pools", "method allocator's pool"),
    ("u85.pte", "executorch-1.4,temporary=1000", ["-t", "ethos-u85-256"], "pools", "temporary pool"),
    ("u85.pte", "executorch-1.4,kernels=portable", ["-t", "ethos-u85-256"], "kernels", "the backend EthosUBackend is not among"),
    ("u85.pte", "tflm", ["-t", "ethos-u85-256"], "file", "TensorFlow Lite Micro does not load"),
    ("{here}/fixture/named/two.pte", "executorch-1.5", [], None, ""),
    ("{here}/fixture/named/two.pte", "executorch-1.4", [], "version", "asks for ExecuTorch 1.5"),
    ("u65.pte", "linux-6.19", ["--board", "nxp-imx93"], None, ""),
    ("u85.pte", "linux-6.19", ["-t", "ethos-u85-256"], None, ""),
    ("u55.tflite", "linux-6.19", [], "product", "which the driver does not know"),
    ("m4.tflite", "linux-6.19", [], "file", "without a command stream"),
    ("reverse.bin", "linux-6.19", ["-t", "ethos-u65-256"], "regions", "a negative stride"),
    ("vela.bin", "linux-6.19", ["-t", "ethos-u85-256"], "registers", "IFM2_BASE"),
    ("slow.bin", "linux-6.19", ["--board", "{work}/slow.ini"], "hang", "the longest command is expected to take"),
)
MISTAKES = (("tflmicro", "no firmware that is known"), ("tflm,arena=much", "not a number of bytes"), ("tflm,color=red", "can be said"))


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, check=False)


def make(tosac, out, *args):
    done = run(tosac, "compile", *args, "-o", out)
    if done.returncode:
        raise RuntimeError(f"{out}: {done.stderr}")


def askew(data):
    """The stream of a payload one word earlier: a NOP is taken out before it, and put in behind it."""
    at = data.index(b"COP1")
    word = at + 4
    while struct.unpack_from("<I", data, word)[0] & 255 != 5:
        word += 12 if struct.unpack_from("<I", data, word)[0] & 255 == 1 else 4
    nop, begin = word, word
    while struct.unpack_from("<I", data, begin)[0] & 255 == 5:
        begin += 4
    head = struct.unpack_from("<I", data, begin)[0]
    end = begin + 4 + 4 * ((head >> 16) + ((head >> 8 & 255) << 16))
    return data[:nop] + data[nop + 4:end] + data[nop:nop + 4] + data[end:]


def payload(cop, weights):
    """A driver's payload as the file of a region, without inputs and outputs."""
    def block(name, content):
        return name.ljust(16, b"\0") + struct.pack("<I", len(content)) + bytes(12) + content + bytes(-len(content) % 16)
    none = struct.pack("<I", 0)
    return b"".join((block(b"vela_bin_stream", b""), block(b"cmd_data", cop), block(b"weight_data", bytes(weights)),
                     block(b"scratch_size", struct.pack("<I", 1 << 20)), block(b"inputs", none), block(b"outputs", none),
                     block(b"vela_end_stream", b"")))


def prepare(tosac, work):
    def write(name, content):
        with open(f"{work}/{name}", "wb" if isinstance(content, bytes) else "w") as f:
            f.write(content)
    system = "Ethos_U55_High_End_Embedded,Shared_Sram"
    make(tosac, f"{work}/u55.tflite", *DIGITS, "-t", "ethos-u55-128", "--system", system)
    make(tosac, f"{work}/m4.tflite", *DIGITS, "-t", "cortex-m4")
    make(tosac, f"{work}/u65.pte", *DIGITS, "-t", "ethos-u65-256")
    make(tosac, f"{work}/u85.pte", *DIGITS, "-t", "ethos-u85-256")
    write("reverse.ir", REVERSE)
    make(tosac, f"{work}/reverse.bin", f"{work}/reverse.ir", "-t", "ethos-u65-256", "--emit", "stream")
    make(tosac, f"{work}/slow.bin", *DIGITS, "-t", "ethos-u65-256", "--emit", "stream")
    with open(f"{work}/u55.tflite", "rb") as f:
        write("u55-askew.tflite", askew(f.read()))
    with open(f"{HERE}/fixture/cost/digits-u85-256.cop", "rb") as f:
        write("vela.bin", payload(f.read(), 1 << 20))
    write("good.cc", RESOLVER)
    write("bad.cc", RESOLVER.replace("EthosU", "Add"))
    write("tiny.ini", BOARD)
    write("slow.ini", BOARD.replace("tiny", "slow").replace("ethos-u55-128", "ethos-u65-256\nnpu_clock = 10 kHz")
          .replace("Ethos_U55_High_End_Embedded", "Ethos_U65_High_End").replace("Shared_Sram", "Dedicated_Sram"))


def main():
    tosac = os.path.abspath(sys.argv[1])
    work = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="tosac-fit-")
    os.makedirs(work, exist_ok=True)
    prepare(tosac, work)
    good = bad = 0

    def check(name, yes, why):
        nonlocal good, bad
        good, bad = good + bool(yes), bad + (not yes)
        if not yes:
            print(f"{name}: {why}")

    for file, firmware, options, rule, words in FAULTS:
        name = f"{file} {firmware} {' '.join(options)}"
        args = ["verify", os.path.join(work, file.format(here=HERE)), "--firmware", firmware.format(work=work), *(o.format(work=work) for o in options)]
        done = run(tosac, *args, "--json", "--strict-fit")
        try:
            found = [(f["rule"], f["found"]) for f in json.loads(done.stdout)["findings"] if f["verdict"] == "fault"]
        except (ValueError, KeyError):
            check(name, False, done.stdout + done.stderr)
            continue
        if rule is None:
            check(name, not found and done.returncode == 0, found)
        else:
            check(name, any(r == rule and words in text for r, text in found) and done.returncode == 1, f"{done.returncode} {found}")
            check(f"{name}, not strict", run(tosac, *args).returncode == 0, "exit 1 without --strict-fit")
    for firmware, words in MISTAKES:
        done = run(tosac, "verify", f"{work}/u55.tflite", "--firmware", firmware)
        check(firmware, done.returncode == 2 and words in done.stderr, done.stderr)
    print(f"{good} passed, {bad} failed, 0 skipped")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
