# SPDX-License-Identifier: Apache-2.0
"""Programs in C on this machine, packs, firmwares in the emulator."""
import json
import shutil
import zipfile

import numpy as np
import pytest

import tosac

from conftest import TOP

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


@pytest.fixture(scope="module")
def m4(digits):
    return tosac.compile(digits.model, "cortex-m4", calibration=digits.calib)


def test_c_for_this_machine(digits, m4):
    program = m4.host()
    x = digits.x[:20]
    assert [p.shape for p in program.inputs] == [(1, 1, 28, 28)] and program.inputs[0].dtype == np.int8 and program.outputs[0].name == "linear"
    (got,), (want,) = program.run(x), m4.run(x)
    scale = program.outputs[0].scale
    assert got.shape == want.shape and np.array_equal(np.rint(got / scale), np.rint(want / scale))
    (codes,) = program.run_codes(program.inputs[0].codes(x[0]))
    assert codes.dtype == np.int16 and np.array_equal(codes[0], np.rint(want[0] / scale))
    assert program.npu_cycles is None
    with pytest.raises(tosac.UsageError):
        program.run(x, x)
    with pytest.raises(tosac.ToolError, match="no C compiler"):
        m4.host(compiler="no-such-compiler")


def test_beside_an_ethos_u(digits):
    result = tosac.compile(digits.model, "ethos-u55-128+cortex-m55", calibration=digits.calib, cpu="conv2d_9")
    program, x = result.host(), digits.x[:6]
    (got,), (want,) = program.run(x), result.run(x)
    assert np.array_equal(np.rint(got / program.outputs[0].scale), np.rint(want / program.outputs[0].scale))
    assert program.npu_cycles == pytest.approx(6 * sum(r.cycles for r in result.regions), abs=6)  # each is rounded


def test_state_lasts():
    folder = TOP / "test" / "fixture" / "lstm"
    result = tosac.compile(folder / "stream.pt2", "cortex-m4", calibration=str(folder / "samples.npy"))
    program, x = result.host(), np.load(folder / "samples.npy")[:4]
    want, got = result.run(x), program.run(x)
    scale = program.outputs[0].scale
    assert np.array_equal(np.rint(got[0] / scale).ravel(), np.rint(want[0] / scale).ravel())
    again = program.run(x)
    assert not np.array_equal(again[0], got[0])
    program.reset()
    assert np.array_equal(program.run(x)[0], got[0])


def test_figures_and_packs(m4, tmp_path):
    m4.save(tmp_path / "network.c")
    said = json.loads(m4.report(tmp_path / "r.json") and (tmp_path / "r.json").read_text())
    assert said and 100_000 < m4.flash < 200_000 and m4.memory == 62720 and m4.cycles > 1e6
    m4.host()
    assert m4.memory == 62720  # what was made before is what there is
    m4.save(tmp_path / "acme.digits.1.0.0.pack")
    assert "acme.digits.pdsc" in zipfile.ZipFile(tmp_path / "acme.digits.1.0.0.pack").namelist()
    m4.save(tmp_path / "digits-1.0.0.zip")
    assert "digits/library.json" in zipfile.ZipFile(tmp_path / "digits-1.0.0.zip").namelist()
    with pytest.raises(tosac.UsageError, match="VENDOR.NAME.VERSION.pack"):
        m4.save(tmp_path / "digits.pack")


def test_no_c_and_no_ethos_u(digits, m4, tmp_path):
    result = tosac.compile(digits.model, "TOSA-1.0+INT", calibration=digits.calib)
    with pytest.raises(tosac.UsageError, match="no program in C"):
        result.host()
    with pytest.raises(tosac.UsageError, match="no Ethos-U"):
        m4.emulate(tmp_path / "firmware.elf")
    with pytest.raises(tosac.UsageError):
        tosac.emulate(tmp_path / "firmware.elf")


def test_marks(digits, tmp_path):
    result = tosac.compile(digits.model, "ethos-u85-256", calibration=digits.calib, marks="irq")
    plain = tosac.compile(digits.model, "ethos-u85-256", calibration=digits.calib)
    assert result.size > plain.size and np.array_equal(result.run(digits.x[:5])[0], plain.run(digits.x[:5])[0])
    with pytest.raises(tosac.UsageError, match="expected irq or wait"):
        tosac.compile(digits.model, "ethos-u85-256", calibration=digits.calib, marks="often")


def test_what_an_emulator_says(digits, monkeypatch, tmp_path):
    """A stand-in for the command: what the firmware prints, its jobs, its exit code; test/emulate.py has the emulator itself."""
    script = tmp_path / "tosac"
    script.write_text("#!/bin/sh\necho \"the same bytes 4\"\necho \"ethos-u: job 1: 61 operations, 257323 cycles, 509 us on the host\" >&2\n"
                      "echo \"ethos-u: job 2: 61 operations, 257323 cycles, 400 us on the host\" >&2\necho \"$@\"\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setattr("tosac._host.command", lambda: str(script))
    result = tosac.compile(digits.model, "ethos-u55-128+cortex-m55", calibration=digits.calib)
    ran = result.emulate(tmp_path / "firmware.elf", clock=25_000_000)
    assert ran.code == 3 and ran.cycles == 2 * 257323 and [j.operations for j in ran.jobs] == [61, 61] and ran.jobs[1].microseconds == 400
    assert ran.output.splitlines()[0] == "the same bytes 4" and "-t ethos-u55-128 --report --clock 25000000" in ran.output


def test_int8_tflite_for_a_cortex_m(m4, tmp_path):
    """Saved from Python: the command's bytes."""
    m4.save(tmp_path / "network.tflite")
    assert m4.memory == 107776
    program = tosac.load(tmp_path / "network.tflite")
    assert np.isfinite(program.run(np.zeros((1, 1, 28, 28), np.float32))[0]).all()
