# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: what is in it, its types, its command line."""
import re
import subprocess
import sys
import zipfile
from importlib import metadata, resources
from pathlib import Path

import tosac


def installed():
    return Path(tosac.__file__).parent


def test_it_is_the_installed_one():
    assert "site-packages" in tosac.__file__


def test_versions_agree():
    assert metadata.version("tosac") == tosac.__version__
    said = subprocess.run([sys.executable, "-m", "tosac", "--version"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(rf"tosac {re.escape(tosac.__version__)}( \([0-9a-f]+\+?\))?", said.strip()), said  # and the commit, in a checkout


def test_numpy_is_all_it_needs():
    needs = [r for r in metadata.requires("tosac") if "extra" not in r]
    assert len(needs) == 1 and needs[0].startswith("numpy")
    code = "import sys, tosac; print(sorted(m for m in ('torch', 'IPython', 'executorch') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_marked_as_typed():
    assert resources.files("tosac").joinpath("py.typed").is_file()


def test_everything_that_is_offered_is_there_and_says_what_it_does():
    for name in tosac.__all__:
        thing = getattr(tosac, name)
        assert name == "__version__" or thing.__doc__, name


def test_every_function_of_the_library_is_bound():
    top = Path(__file__).resolve().parents[2]
    from tosac import _native

    assert sorted(_native.FUNCTIONS) == (top / "tools" / "symbols.txt").read_text().split()


def test_libraries_come_along():
    """What the library needs lies beside it, or is part of every Linux."""
    said = subprocess.run(["ldd", str(installed() / "_lib" / "libtosac.so")], capture_output=True, text=True, check=True).stdout
    assert "not found" not in said
    for line in said.splitlines():
        name = line.split()[0]
        if not name.startswith(("linux-vdso", "/lib", "libc.", "libm.", "libdl.", "libpthread.", "libgcc_s.", "libstdc++.", "ld-linux")):
            assert "tosac/_lib" in line, line


def test_command_line(digits, tmp_path):
    said = subprocess.run([sys.executable, "-m", "tosac", "compile", digits.model, "-t", "TOSA-1.0+INT", "--calib", digits.calib, "-o",
                           str(tmp_path / "d.tosa")], capture_output=True, text=True)
    assert said.returncode == 0 and "1 region" in said.stdout
    assert subprocess.run([sys.executable, "-m", "tosac", "frobnicate"], capture_output=True).returncode == 2


def test_same_bytes_as_the_command_line(digits, tmp_path):
    subprocess.run([sys.executable, "-m", "tosac", "compile", digits.model, "-t", "TOSA-1.0+INT", "--calib", digits.calib, "-o",
                    str(tmp_path / "a.tosa")], check=True, capture_output=True)
    tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples).save(tmp_path / "b.tosa")
    assert (tmp_path / "a.tosa").read_bytes() == (tmp_path / "b.tosa").read_bytes()


def test_ready_for_an_index():
    """What twine and an index ask for: a readme, a licence with its files, classifiers, a command for `pipx run tosac`."""
    about = metadata.metadata("tosac")
    assert about["License-Expression"] == "Apache-2.0" and about["Requires-Python"] == ">=3.9" and about["Summary"]
    assert about["Description-Content-Type"].startswith("text/markdown") and "pip install tosac" in about.get_payload()
    assert "Typing :: Typed" in about.get_all("Classifier")
    files = {str(f) for f in metadata.files("tosac")}
    for name in about.get_all("License-File"):
        assert any(f.endswith(f".dist-info/licenses/{name}") for f in files), name
    commands = [e for e in metadata.distribution("tosac").entry_points if e.group == "console_scripts"]
    assert [e.name for e in commands] == ["tosac"] and callable(commands[0].load())
