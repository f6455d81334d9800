# SPDX-License-Identifier: Apache-2.0
"""sbom.py -- what is inside the files of a release, from what was built (tools/release.sh).

    sbom.py inside MAP                     a linker's map: a line for each library in it: name, version, file with its licence
    sbom.py write VERSION COMMIT FOLDER OUT    CycloneDX 1.5 of FOLDER's files: sizes, hashes, and libraries inside

A wheel has a licence for each package whose libraries it has; the map of a static command names the archives it took objects from; a
Debian package and the sources have ours alone.  Versions are those of the packages installed here, or in the root of another machine
(TOSAC_ARM_ROOT, TOSAC_WINDOWS_ROOT, TOSAC_ZIP_ROOT).  A library whose licence is not in the table below is an error.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

#: licences, as SPDX expressions, by Debian's source packages
LICENCES = {
    "bzip2": "bzip2-1.0.6",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-mingw-w64": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "libpng1.6": "libpng-2.0",
    "libz-mingw-w64": "Zlib",
    "libzip": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause",
    "mingw-w64": "ZPL-2.1 AND LicenseRef-public-domain",
    "musl": "MIT",
    "protobuf-c": "BSD-2-Clause",
    "xz-utils": "LicenseRef-public-domain",
    "zlib": "Zlib",
}
ARM, WINDOWS, ZIP = (Path(os.environ.get(f"TOSAC_{name}_ROOT", "/none")) for name in ("ARM", "WINDOWS", "ZIP"))


def lines(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()


def versions(path: Path) -> dict[str, list[str]]:
    """PACKAGE: [SOURCE, VERSION], from a file that tools/cross.sh wrote."""
    rows = [row.split() for row in path.read_text().splitlines()]
    return {row[0]: [row[0] if len(row) == 2 else row[2], row[1]] for row in rows}


def library(package: str, where: str = "") -> tuple[str, str, str]:
    """Name of the source package, version and licence of a binary package: of Debian here, or in the root of `where`."""
    root = {"arm": ARM, "windows": WINDOWS}.get(where)
    if root:
        name, version = versions(root / "versions")[package]
    else:
        name, version = lines("dpkg-query", "-W", "-f", "${source:Package} ${Version}\n", package)[0].split()
    name = re.sub(r"^gcc-\d+(-cross)?$", "gcc", name)
    if name not in LICENCES:
        raise SystemExit(f"sbom.py: the licence of {name} ({package}) is not known: {__file__} has a table")
    return name, version, LICENCES[name]


def inside(path: Path) -> list[tuple[str, str, str, Path]]:
    """Libraries whose objects are in a map: name, version, licence, and the file with its words."""
    found: dict[str, tuple[str, str, str, Path]] = {}
    for archive in sorted(set(re.findall(r"^(/\S+?\.a)\(", path.read_text(), re.M))):
        file = Path(os.path.normpath(archive))
        if file.name == "libtosac.a":
            continue
        if ZIP in file.parents:
            name, version = versions(file.parent / "versions")["libzip"]
            found[name] = (name, version, LICENCES[name], file.parent / "copyright")
            continue
        root = ARM if ARM in file.parents else Path("/")
        package = owner(file, root)
        name, version, licence = library(package, "arm" if root == ARM else "")
        found[name] = (name, version, licence, root / "usr/share/doc" / package / "copyright")
    return sorted(found.values())


def owner(file: Path, root: Path) -> str:
    """The package that a file came from."""
    names = {f"/{part.relative_to(root)}" for part in (file, file.resolve()) if root in part.parents}
    names |= {f"/usr{name}" for name in names} | {name.removeprefix("/usr") for name in names}
    if root == ARM:
        packages = [p.stem for p in sorted(root.glob("var/lib/dpkg/info/*.list")) if names & set(p.read_text().splitlines())]
    else:
        packages = [row.split(":")[0] for row in lines("dpkg-query", "-S", *sorted(names))]
    if not packages:
        raise SystemExit(f"sbom.py: no package has {file}")
    return packages[0]


def of_wheel(path: Path) -> list[tuple[str, str, str]]:
    """Libraries in a wheel, by the licence files that are not ours."""
    where = "windows" if "win_" in path.name else "arm" if "aarch64" in path.name else ""
    with zipfile.ZipFile(path) as z:
        packages = [Path(n).name for n in z.namelist() if ".dist-info/licenses/" in n and not n.endswith("/LICENSE")]
    return sorted({library(package, where) for package in packages})


def component(name: str, version: str, licence: str) -> dict:
    return {"type": "library", "name": name, "version": version, "licenses": [{"expression": licence}],
            "purl": f"pkg:deb/debian/{name}@{quote(version, safe='')}?arch=source"}


def write(version: str, commit: str, folder: Path, out: Path) -> None:
    files, when = [], datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    for path in sorted(p for p in folder.iterdir() if p.is_file() and p != out):
        static = re.search(r"-linux-(x86_64|aarch64)\.tar", path.name)
        libraries = of_wheel(path) if path.suffix == ".whl" else []
        if static:
            build = {"x86_64": "x86", "aarch64": "arm"}[static[1]]
            libraries = [row[:3] for row in inside(Path("build") / build / "build/tosac-static.map")]
        ours = {"type": "application", "name": "tosac", "version": version, "licenses": [{"expression": "Apache-2.0"}]}
        files.append({"type": "file", "name": path.name, "version": version, "bom-ref": path.name,
                      "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
                      "components": [ours] + [component(*row) for row in libraries]})
    subject = {"type": "application", "name": "tosac", "version": version, "bom-ref": "tosac", "licenses": [{"expression": "Apache-2.0"}],
               "properties": [{"name": "tosac:commit", "value": commit}]}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(files)).urn,
           "metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": subject}, "components": files}
    out.write_text(json.dumps(bom, indent=1) + "\n")
    for file in files:
        print(f"{file['name']}: {', '.join(c['name'] + ' ' + c['version'] for c in file['components'])}")


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        for name, version, _, words in inside(Path(sys.argv[2])):
            print(name, version, words)
    else:
        write(sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
