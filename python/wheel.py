# SPDX-License-Identifier: Apache-2.0
"""wheel.py -- the Python package with the library, the command and what they need, as one wheel.

    wheel.py BUILD OUT      BUILD has libtosac.so and tosac, or libtosac.dll and tosac.exe; the wheel goes to the folder OUT

A build for another machine (tools/cross.sh) gives a wheel for that one: its libraries come from the root it was built against.

Libraries that are not on every Linux come along under names of their own, so that they meet no other copy in the same
process, and are found beside ours.  The tag names the oldest C library that has every symbol that is used; functions that
newer ones have only moved or renamed are asked for as older ones have them (older()).  The same files give the same wheel, byte for byte.
"""
from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent

#: what manylinux counts as being on every system
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-.*)\.so")

METADATA = """\
Metadata-Version: 2.4
Name: tosac
Version: {version}
Summary: A quantizing ahead-of-time compiler for Arm machine-learning targets
Keywords: compiler,quantization,machine learning,Arm,Ethos-U,Cortex-M,TOSA,VGF,ExecuTorch,PyTorch,ONNX,TensorFlow Lite
License-Expression: Apache-2.0
{licences}
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Operating System :: {system}
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Topic :: Software Development :: Compilers
Classifier: Topic :: Software Development :: Embedded Systems
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.21
Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM

{words}
"""


def run(*args: object) -> str:
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True).stdout


class Machine:
    """Where a build's machine has its tools, libraries and licences."""

    def __init__(self, build: Path):
        self.windows = (build / "libtosac.dll").exists()
        self.name = "x86_64" if self.windows else {62: "x86_64", 183: "aarch64"}[(build / "libtosac.so").read_bytes()[18]]
        self.prefix, self.root = "", Path("/")
        if self.windows:
            self.prefix, self.root = "x86_64-w64-mingw32-", Path(os.environ.get("TOSAC_WINDOWS_ROOT", build.parent / "root"))
        elif self.name != platform.machine():
            self.prefix, self.root = f"{self.name}-linux-gnu-", Path(os.environ.get("TOSAC_ARM_ROOT", build.parent / "root"))

    def tool(self, name: str) -> str:
        return self.prefix + ("gcc" if name == "cc" and self.prefix else name)

    def needed(self, path: Path) -> list[str]:
        return re.findall(r"NEEDED\s+(\S+)", run(self.tool("objdump"), "-p", path))

    def path_of(self, name: str) -> Path:
        if self.prefix:
            for path in sorted(self.root.glob(f"**/lib/{self.name}-linux-gnu/{name}")):
                return path.resolve()
        else:
            for line in run("/sbin/ldconfig", "-p").splitlines():
                if line.split() and line.split()[0] == name:
                    return Path(line.split()[-1]).resolve()
        raise SystemExit(f"wheel.py: {name} is needed and not installed")

    def owner(self, path: Path) -> list[str]:
        """The package that a file came from, where one is known."""
        inside = "/" + str(path.relative_to(self.root))
        names = {inside, f"/usr{inside}", inside.removeprefix("/usr")}
        if self.prefix:
            lists = sorted(self.root.glob("var/lib/dpkg/info/*.list"))
            return [p.stem for p in lists if names & set(p.read_text().splitlines())][:1]
        found = [run("bash", "-c", f"dpkg -S '{name}' 2>/dev/null || true") for name in sorted(names)]
        return [words.split(":")[0] for words in found if words][:1]

    def licences(self, owners: list[str]) -> dict[str, Path]:
        if self.windows:
            return {path.name: path for path in sorted((self.root / "licenses").iterdir())}
        return {package: self.root / "usr/share/doc" / package / "copyright" for package in owners}


def without_encryption(machine: Machine, folder: Path, user: Path, name: str) -> Path:
    """A library in the place of OpenSSL's in which every function says that it cannot.

    libzip asks it about encrypted archives only, and no export is one; it turns them down.  Four megabytes less."""
    wanted = re.findall(r" U (\w+)@(OPENSSL_\w[\w.]*)", run(machine.tool("nm"), "-D", "--undefined-only", user))
    versions = sorted({v for _, v in wanted})
    source, script, out = folder / "none.c", folder / "none.map", folder / name
    source.write_text("".join(f"void *{f}(void);\nvoid *{f}(void) {{ return 0; }}\n" for f, _ in wanted))
    script.write_text("".join(f"{v} {{ global: {' '.join(f + ';' for f, w in wanted if w == v)} }};\n" for v in versions))
    run(machine.tool("cc"), "-shared", "-fPIC", "-O2", "-fno-builtin", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script,{script}", source, "-o", out)
    source.unlink(), script.unlink()
    return out


#: functions that have been in glibc from its first version on, under a version of their own since they moved into libc.so.6
#: (threads, loading) or stopped to set errno in a way of their own (mathematics)
MOVED = re.compile(r"(pthread_(create|join|once|sigmask|condattr_setclock|key_create|getspecific|setspecific|detach)|dl(open|sym|close|error|addr)|sem_\w+|exp|log|pow|__libc_start_main)$")
#: functions that were macros before glibc 2.33
SHIM = {"stat": "SYS_newfstatat, -100, a, b, 0", "fstat": "SYS_fstat, a, b", "lstat": "SYS_newfstatat, -100, a, b, 0x100"}


def shim(machine: Machine, folder: Path) -> None:
    """libtosac-compat.so: stat() and its kin by the system's own calls, whose record is the C library's on 64 bits."""
    source, out = folder / "compat.c", folder / "libtosac-compat.so"
    lines = ["#include <sys/syscall.h>", "long syscall(long, ...);"]
    for name, words in SHIM.items():
        first = "long" if name == "fstat" else "const char *"
        lines += [f"int {f}({first} a, void *b);\nint {f}({first} a, void *b) {{ return (int)syscall({words}); }}" for f in (name, name + "64")]
    source.write_text("\n".join(lines) + "\n")
    run(machine.tool("cc"), "-shared", "-fPIC", "-O2", "-fno-builtin", f"-Wl,-soname,{out.name}", source, "-o", out)
    source.unlink()


def elf_hash(name: bytes) -> int:
    h = 0
    for c in name:
        h = (h << 4) + c
        h = (h ^ (h & 0xF0000000) >> 24) & 0x0FFFFFFF
    return h


def older(machine: Machine, path: Path) -> list[str]:
    """Symbols of MOVED are asked for by the first version of all, where that is the only reason for a newer one; the shim's functions that
    it wants.  Names and hashes of needed versions (.gnu.version_r) are changed where they lie; nothing moves."""
    wanted: dict[str, list[str]] = {}
    for line in run(machine.tool("objdump"), "-T", path).splitlines():
        if "*UND*" in line and (found := re.search(r"\(?GLIBC_([\d.]+)\)?\s+(\w+)$", line)):
            wanted.setdefault(found[1], []).append(found[2])
    shims = sorted({name for names in wanted.values() for name in names if name in SHIM or name in {s + "64" for s in SHIM}})
    base = "2.2.5" if machine.name == "x86_64" else "2.17"
    moved = {v for v, names in wanted.items() if all(MOVED.match(n) or n in shims for n in names) and v != base}
    if not moved or base not in wanted:
        return shims
    data = bytearray(path.read_bytes())
    section: dict[str, tuple[int, int]] = {}
    for line in run(machine.tool("objdump"), "-h", path).splitlines():
        if (found := re.match(r"\s*\d+ (\S+)\s+(\w+)\s+\w+\s+\w+\s+(\w+)", line)):
            section[found[1]] = (int(found[3], 16), int(found[2], 16))
    texts, (at, _) = section[".dynstr"], section[".gnu.version_r"]
    name = f"GLIBC_{base}".encode()
    where = data.index(b"\0" + name + b"\0", texts[0], sum(texts)) + 1 - texts[0]
    while True:
        _, n, _, aux, following = struct.unpack_from("<HHIII", data, at)
        here = at + aux
        for _ in range(n):
            _, flags, index, text, after = struct.unpack_from("<IHHII", data, here)
            said = bytes(data[texts[0] + text:data.index(b"\0", texts[0] + text)]).decode()
            if said.removeprefix("GLIBC_") in moved:
                struct.pack_into("<IHHII", data, here, elf_hash(name), flags, index, where, after)
            here += after
        if not following:
            break
        at += following
    path.write_bytes(data)
    return shims


def gather_windows(machine: Machine, build: Path, folder: Path) -> list[str]:
    """The same for Windows, where a library is found beside the one that asks for it."""
    for name in ["libtosac.dll", "tosac.exe", *(build / "late.txt").read_text().split()]:
        shutil.copy(build / name, folder / name)
        run(machine.tool("strip"), "--strip-unneeded", folder / name)
    return [path.name for path in sorted((machine.root / "licenses").iterdir())]


def gather(machine: Machine, build: Path, folder: Path) -> list[str]:
    """Our library and command with all that they need in one folder; the packages that the rest came from."""
    ours, owners = [], []
    for source, name in ((build / "libtosac.so", "libtosac.so"), (build / "tosac", "tosac")):
        shutil.copy(source.resolve(), folder / name)
        ours.append(folder / name)
    waiting, new_name = list(ours), {}
    late = {ours[0]: (build / "late.txt").read_text().split()}  # what ours loads when it is wanted
    while waiting:
        user = waiting.pop()
        for name in machine.needed(user) + late.get(user, []):
            if SYSTEM.match(name) or name in new_name or name.startswith("libtosac.so"):
                continue
            stem, _, rest = name.partition(".so")
            new_name[name] = f"{stem}-tosac.so{rest}"
            if name.startswith("libcrypto."):
                without_encryption(machine, folder, user, new_name[name])
                continue
            source = machine.path_of(name)
            owners += machine.owner(source)
            shutil.copy(source, folder / new_name[name])
            waiting.append(folder / new_name[name])
    for path in sorted(folder.iterdir()):
        path.chmod(0o755)
        run(machine.tool("strip"), "--strip-unneeded", path)
        changes = [["--replace-needed", name, new_name.get(name, "libtosac.so")] for name in machine.needed(path)
                   if name in new_name or name.startswith("libtosac.so")]
        if path.name != "tosac":
            changes.append(["--set-soname", path.name])
        for change in changes + [["--set-rpath", "$ORIGIN"]]:  # patchelf mixes up several at once
            run("patchelf", *change, path)
    users = [path for path in sorted(folder.iterdir()) if older(machine, path)]
    if users:
        shim(machine, folder)
    for path in users:
        run("patchelf", "--add-needed", "libtosac-compat.so", path)
    for path in ours:  # where these functions were before 2.34
        for name in ("libpthread.so.0", "libdl.so.2"):
            run("patchelf", "--add-needed", name, path)
    return sorted(set(owners))


def glibc(machine: Machine, folder: Path) -> str:
    """The oldest C library that has all that is used: "2.36"."""
    found = {tuple(map(int, v.split("."))) for path in folder.iterdir() for v in re.findall(r"GLIBC_(\d+\.\d+)", run(machine.tool("objdump"), "-T", path))}
    return "{}.{}".format(*max(found))


def hashed(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def main(build: Path, out: Path) -> None:
    machine = Machine(build)
    version = ".".join(re.findall(r"define TOSAC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (TOP / "include/tosac/base.h").read_text()))
    info = f"tosac-{version}.dist-info"
    files: dict[str, tuple[bytes, int]] = {}
    with tempfile.TemporaryDirectory() as t:
        folder = Path(t)
        owners = (gather_windows if machine.windows else gather)(machine, build, folder)
        system = "win_amd64" if machine.windows else f"manylinux_{glibc(machine, folder).replace('.', '_')}_{machine.name}"
        tag = f"py3-none-{system}"
        for path in sorted(folder.iterdir()):
            files[f"tosac/_lib/{path.name}"] = (path.read_bytes(), 0o755)
        bindings = folder / "_native.py"
        run(sys.executable, HERE / "headers.py", "bindings", TOP / "include" / "tosac", bindings)
        files["tosac/_native.py"] = (bindings.read_bytes(), 0o644)
    for path in sorted((HERE / "tosac").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            files.setdefault(f"tosac/{path.name}", (path.read_bytes(), 0o644))
    licences = {"LICENSE": TOP / "LICENSE"} | machine.licences(owners)
    licences = {name: path.read_bytes() for name, path in licences.items() if path.exists()}
    metadata = METADATA.format(version=version, words=(HERE / "README.md").read_text(), system="Microsoft :: Windows" if machine.windows else "POSIX :: Linux",
                               licences="\n".join(f"License-File: {name}" for name in licences))
    files[f"{info}/METADATA"] = (metadata.encode(), 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: tosac\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\ntosac = tosac.__main__:main\n", 0o644)
    files |= {f"{info}/licenses/{name}": (words, 0o644) for name, words in licences.items()}
    rows = [f"{name},{hashed(data)},{len(data)}" for name, (data, _) in files.items()] + [f"{info}/RECORD,,"]
    files[f"{info}/RECORD"] = (("\n".join(rows) + "\n").encode(), 0o644)
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"tosac-{version}-{tag}.whl"
    for old in out.glob(f"tosac-*{'win_amd64' if machine.windows else machine.name}.whl"):
        old.unlink()
    with zipfile.ZipFile(wheel, "w") as z:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            z.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB; beside ours: {', '.join(owners)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
