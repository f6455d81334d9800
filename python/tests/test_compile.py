# SPDX-License-Identifier: Apache-2.0
"""Compiling, running, comparing: digits from end to end."""
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tosac


def test_float_as_pytorch(digits):
    y = tosac.run(digits.model, digits.x)[0]
    assert y.shape == (1000, 10) and np.abs(y - digits.logits).max() < 1e-4
    assert digits.right(y) == 0.987


def test_int8_on_the_cpu(digits, tmp_path):
    r = tosac.compile(digits.model, "cpu", digits.samples, "int8")
    assert r.save(tmp_path / "d.pte") is r
    assert r.regions == [] and r.cycles is None and r.memory > 0 and r.size == (tmp_path / "d.pte").stat().st_size
    assert digits.right(tosac.run(tmp_path / "d.pte", digits.x)[0]) >= 0.98
    assert "bytes" in r.summary()


def test_accuracy_of_what_is_written(digits):
    r = tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples)
    (a,) = r.accuracy
    assert a.real and 30 < a.sqnr_db < 60 and abs(a.sqnr_db - a.typed_sqnr_db) < 3 and a.lost == 0 and a.aside_sqnr_db is None
    assert " dB" in str(a) and "against float" in r.summary() and r.json()["accuracy"]["outputs"][0]["sqnr_db"] == pytest.approx(a.sqnr_db)
    size = r.size
    r.run(digits.x[:1])
    assert r.size == size
    assert tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples, execute=False).accuracy == []
    (exact,) = tosac.compile(digits.model, "cpu").accuracy
    assert exact.sqnr_db > 100 and exact.typed_sqnr_db is None


def test_regions_and_reasons(digits):
    r = tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples)
    (region,) = r.regions
    assert region.operators == r.on_target and region.tosa_operators > region.operators and region.bytes_in == 784
    assert region.inputs[0].dtype == "i8" and region.inputs[0].quantization.scale[0] > 0
    assert [n.op for n in r.cpu_nodes] == ["rescale", "rescale"] and "no floats" in r.cpu_nodes[0].why
    assert r.cpu_nodes[0].place.startswith("digits_models.py:")
    assert r.json()["regions"][0]["name"] == region.name and "region_0" in r.report()
    assert "<table>" in r._repr_html_()
    assert digits.right(r.run(digits.x[:200])[0]) >= 0.98


def test_report_files(digits, tmp_path):
    r = tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples)
    assert r.report(tmp_path / "r.html") == str(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.lower().startswith("<!doctype html>") and "TOSA-1.0+INT" in page
    r.report(tmp_path / "r.json")
    assert "TOSA-1.0+INT" in json.dumps(json.loads((tmp_path / "r.json").read_text()))
    with pytest.raises(tosac.UsageError):
        r.report(tmp_path / "r.pdf")


def test_scales_beside_a_file(digits, tmp_path):
    tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples).save(tmp_path / "d.tosa")
    y = tosac.run(tmp_path / "d.tosa", digits.x[:200], dequantize=True)[0]
    assert y.dtype == np.float32 and digits.right(y) >= 0.98
    assert np.array_equal(tosac.load(tmp_path / "d.tosa", dequantize=True).run(digits.x[:200])[0], y)
    (tmp_path / "d.tosa.json").unlink()
    with pytest.raises(tosac.UsageError, match="none of it"):
        tosac.run(tmp_path / "d.tosa", digits.x[:1], dequantize=True)
    with pytest.raises(tosac.ModelError, match="neither its types nor"):
        tosac.load(tmp_path / "d.tosa", dequantize=True)


def test_ethos_u(digits, tmp_path):
    r = tosac.compile(digits.model, "ethos-u85-256", digits.samples)
    assert r.cycles > 1000 and r.memory > 0 and r.regions[0].scratch > 0
    assert all("our own back end does not take" in node.why for node in r.cpu_nodes if "converts" not in node.why)
    r.save(tmp_path / "d.pte", emit="pte+tosa")
    assert digits.right(tosac.run(tmp_path / "d.pte", digits.x[:50])[0]) >= 0.96
    tosac.verify(tmp_path / "d.pte")
    assert "NPU_OP" in tosac.disassemble(tmp_path / "d.pte") or tosac.disassemble(tmp_path / "d.pte")


def test_text_and_stages(digits, tmp_path):
    m = tosac.load(digits.model)
    assert m.stage == "float" and m.producer.startswith("torch") and m.inputs[0].shape == (1, 1, 28, 28) and m.inputs[0].name == "x"
    assert any(n.target == "aten.conv2d.default" and n.place for n in m.nodes)
    q = tosac.quantize(m, digits.samples, "a16w8")
    assert q.stage == "typed" and q.report.quantized > 10 and q.report.samples == len(digits.samples)
    assert "torch.int16" in {v["dtype"] for v in q.qparams.values()}
    q.save(tmp_path / "q.ir")
    assert np.array_equal(tosac.run(tmp_path / "q.ir", digits.x[:4])[0], q.run(digits.x[:4])[0])
    assert "conv" in q.text()


def test_compare_worst_first(digits):
    q = tosac.quantize(digits.model, digits.samples)
    c = tosac.compare(digits.model, q, digits.x[:8])
    found = [v.alone_db for v in c if v.alone_db is not None]
    assert len(found) > 10 and found == sorted(found) and all(v.alone_db is None for v in list(c)[len(found):])
    assert c.samples == 8 and c.worst.sqnr_db > 15 and c["linear"].place
    assert "values compared on 8 samples" in str(c)


def test_explain_without_data(digits):
    e = tosac.explain(digits.model, "ethos-u55-128")
    assert len(e.regions) == 1 and e.json()["cpu"] and not hasattr(e, "save")


def test_advise(digits):
    a = tosac.advise(digits.model, "ethos-u55-128", tries=6)
    assert a.tried == 6 and a.left > 0 and len(a) + len(a.rejected) == 6 and a.now.cycles > 0 and a.now.sqnr_db is None
    assert a[0].then.cycles < a[0].before.cycles and a[0].change in str(a) and a.json()["advice"][0]["kind"] == a[0].kind
    measured = tosac.advise(digits.model, "TOSA-1.0+INT", digits.samples[:16])
    assert measured.now.sqnr_db > 20 and any(i.then.sqnr_db for i in [*measured, *measured.rejected])


def test_config_as_dictionary(digits):
    q = tosac.quantize(digits.model, digits.samples[:16], {"preset": "int8", "modules": {"classifier": "a16w8"}})
    assert {"torch.int8", "torch.int16"} <= {v["dtype"] for v in q.qparams.values()}


def test_what_there_is():
    found = {t.name: t for t in tosac.targets()}
    assert found["ethos-u85-256"].takes_stream and found["cpu"].tosa is None
    assert {"conv", "softmax", "sdpa"} <= {o.name for o in tosac.ops("ethos-u85-256")} <= {o.name for o in tosac.ops()}
    with pytest.raises(tosac.UsageError, match="did you mean 'ethos-u85-256'"):
        tosac.ops("ethos-u85-25")


def test_boards(digits, tmp_path):
    known = {b.name: b for b in tosac.boards()}
    assert known["alif-e7-hp"].npu == "ethos-u55-256" and known["alif-e7-hp"].memories == {"sram": 4 << 20, "flash": 5632 << 10}
    made = tosac.compile(digits.model, calibration=digits.samples, board="alif-e7-hp", execute=False)
    assert made.target == "ethos-u55-256" and made.verdict.fits and not made.alternatives()
    assert [m.kind for m in made.verdict.memories] == ["sram", "flash"] and 0.1 < made.verdict.milliseconds < 10
    assert tosac.compile(digits.model, "cpu").verdict is None
    small = tmp_path / "small.board"
    small.write_text(known["alif-e7-hp"].text.replace("5632 KiB", "100 KiB"))
    made = tosac.compile(digits.model, calibration=digits.samples, board=small, execute=False)
    assert not made.verdict.fits and made.verdict.memories[1].left < 0 and "does not fit" in str(made.verdict)
    assert any(a.fits and "a8w4" in a.options and a.flash < 100 << 10 for a in made.alternatives())
    assert made.json()["verdict"]["alternatives"] and made.verdict.alternatives
    with pytest.raises(tosac.UsageError, match="the board alif-e7-hp has ethos-u55-256 and cortex-m55"):
        tosac.compile(digits.model, "ethos-u85-256", board="alif-e7-hp", calibration=digits.samples)
    with pytest.raises(tosac.UsageError, match="the target is missing"):
        tosac.compile(digits.model)
    assert tosac.explain(digits.model, board="nucleo-f446re").target == "cortex-m4"


@pytest.mark.parametrize("target, kinds", [("ethos-u55-128", ("pte", "tosa", "tflite")), ("cortex-m4", ("c", "pte")),
                                           ("ethos-u55-128+cortex-m55", ("c",)), ("vgf", ("vgf",))])
def test_running_and_asking_change_nothing(digits, tmp_path, target, kinds):
    made = tosac.compile(digits.model, target, calibration=digits.samples)
    for kind in kinds:
        path = tmp_path / f"m.{kind}"
        made.save(path)
        line, size = made.summary(), made.size
        logits = made.run(digits.x[:100])[0]
        assert digits.right(logits) > 0.95
        if kind in ("pte", "tflite", "vgf"):
            assert np.array_equal(logits, tosac.run(path, digits.x[:100])[0])  # what was saved is what was run
        assert made.memory > 0 and made.accuracy and made.report(tmp_path / "r.html")
        assert (made.summary(), made.size) == (line, size)


def test_a_verdict_stays_after_a_run(digits, tmp_path):
    text = next(b.text for b in tosac.boards() if b.name == "alif-e7-he")
    board = tmp_path / "near.board"
    board.write_text(text.replace("5632 KiB", "140 KiB"))  # takes the program, and not a copy of its TOSA too
    made = tosac.compile(digits.model, board=board, calibration=digits.samples)
    before = made.verdict
    assert before.fits
    made.run(digits.x[:2])
    assert made.verdict == before


def test_inspect(digits):
    assert tosac.inspect(digits.model)["inputs"][0]["name"] == "x"
    assert "x" in tosac.describe(digits.model)


def test_verify_says_what_is_broken(digits, tmp_path):
    tosac.compile(digits.model, "TOSA-1.0+FP").save(tmp_path / "d.tosa")
    tosac.verify(tmp_path / "d.tosa", "TOSA-1.0+FP")
    with pytest.raises(tosac.ModelError):
        tosac.verify(tmp_path / "d.tosa", "TOSA-1.0+INT")


# ---- errors ----

def test_errors_have_their_parts(digits, tmp_path):
    with pytest.raises(tosac.UsageError) as e:
        tosac.compile(digits.model, "ethos-u85-257", digits.samples)
    assert e.value.id == "usage" and "ethos-u85-257" in e.value.text and isinstance(e.value, ValueError)
    with pytest.raises(tosac.TosacError) as e:
        tosac.compile(digits.model, "ethos-u85-256")
    assert e.value.note and e.value.diagnostics[0].severity == "error"
    (tmp_path / "bad.ir").write_text("graph @main(%0: f32[1]) {\n  %1 = nonsense %0 : f32[1]\n  return %1\n}\n")
    with pytest.raises(tosac.UnsupportedError) as e:
        tosac.load(tmp_path / "bad.ir")
    assert e.value.file.endswith("bad.ir:2:8") and e.value.id == "unknown-op" and "nonsense" in str(e.value)
    with pytest.raises(tosac.TosacError):
        tosac.load(tmp_path / "none.pt2")


def test_data_that_does_not_fit(digits):
    with pytest.raises(tosac.UsageError, match="28, 28"):
        tosac.run(digits.model, np.zeros((1, 1, 27, 27), np.float32))
    with pytest.raises(tosac.UsageError, match="no sample"):
        tosac.quantize(digits.model, [])
    with pytest.raises(tosac.UsageError, match="is not a model"):
        tosac.load(3)
    with pytest.raises(tosac.UsageError, match="emit"):
        tosac.compile(digits.model, "TOSA-1.0+FP").save("x.unknown")


def test_warnings_name_the_users_line(digits):
    with pytest.warns(tosac.TosacWarning, match="8 calibration samples") as seen:
        tosac.quantize(digits.model, digits.samples[:8])
    assert seen[0].filename == __file__ and seen[0].message.diagnostic.id == "data"


def test_data_that_hardly_varies_has_a_spread(digits):
    flat = np.zeros_like(digits.samples)
    flat[0, 0, 0, 0] = 1e-20  # the variance at the first batch norm is rounded to below 0
    with pytest.warns(tosac.TosacWarning) as seen:
        tosac.quantize(digits.model, flat)
    said = "".join(str(w.message) for w in seen)
    assert "its spread is 0 times" in said and "nan" not in said


def test_a_warning_and_its_notes_are_one(digits):
    """What was tried to write the notes does not cut them off; and what is said once is not said again."""
    settings = {"nodes": {"conv2d_3": {"scale": 0.001, "zero_point": -3}}}
    with pytest.warns(tosac.TosacWarning) as seen:
        made = tosac.compile(digits.model, "TOSA-1.0+INT", calibration=digits.samples, config=settings)
        made.to_bytes("pte")
        made.to_bytes("tosa")
        made.run(digits.x[:2])
    assert [w.message.diagnostic.id for w in seen] == ["accuracy"]
    assert any("tried here" in note for note in seen[0].message.diagnostic.notes)


# ---- data ----

def test_every_kind_of_calibration_gives_the_same(digits):
    few = digits.samples[:6]
    want = tosac.quantize(digits.model, few).text()
    kinds = {
        "a list of samples": [s[None] for s in few],
        "pairs with labels": [(s[None], 3) for s in few],
        "batches with labels": [(few[:4], np.arange(4)), (few[4:], np.arange(2))],
        "a generator": (s[None] for s in few),
        "dictionaries": [{"x": s[None], "labels": 1} for s in few],
        "one dictionary": {"x": few},
        "doubles": few.astype(np.float64),
        "an axis more": few[:, None],
        "nested": [((s[None],), 1) for s in few],
    }
    for words, data in kinds.items():
        assert tosac.quantize(digits.model, data).text() == want, words


def test_files_as_calibration(digits, tmp_path):
    np.save(tmp_path / "c.npy", digits.samples[:6])
    want = tosac.quantize(digits.model, digits.samples[:6]).text()
    assert tosac.quantize(digits.model, str(tmp_path / "c.npy")).text() == want
    assert tosac.quantize(digits.model, [tmp_path / "c.npy"]).text() == want


def test_two_inputs_in_their_order(tmp_path):
    (tmp_path / "two.ir").write_text("graph @main(%0: f32[2], %1: f32[2]) {\n  %2 = sub %0, %1 alpha=1 : f32[2]\n  return %2\n}\n")
    a, b = np.array([5, 7], np.float32), np.array([1, 2], np.float32)
    m = tosac.load(tmp_path / "two.ir")
    assert m.run(a, b)[0].tolist() == [4, 5] and m.run((a, b))[0].tolist() == [4, 5]
    assert m.run(np.stack([a, b, a]), np.stack([b, b, a]))[0].tolist() == [[4, 5], [0, 0], [0, 0]]
    with pytest.raises(tosac.UsageError):
        m.run(a)


def test_quantized_borders_take_real_numbers_on_request(digits, tmp_path):
    q = tosac.compile(digits.model, "TOSA-1.0+INT", digits.samples)
    m = tosac.load(q.to_bytes("tosa")[0])
    with pytest.raises(tosac.UsageError, match="i8"):
        m.run(digits.x[:1])


# ---- progress and calling off ----

def test_progress_is_told(digits):
    seen = []
    tosac.quantize(digits.model, digits.samples, progress=lambda *a: seen.append(a))
    assert any("first pass" in what for what, _, _ in seen) and all(done <= total for _, done, total in seen)


def test_an_exception_in_the_callback_calls_it_off(digits):
    def stop(what, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tosac.quantize(digits.model, digits.samples, progress=stop)


def test_shown_on_request(digits, capsys):
    tosac.quantize(digits.model, digits.samples[:8], progress=True)
    assert "samples" in capsys.readouterr().err
    tosac.quantize(digits.model, digits.samples[:8], progress=False)
    assert capsys.readouterr().err == ""


def test_the_lock_is_released(digits):
    """Python goes on while the library works."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    tosac.quantize(digits.model, digits.samples, threads=1)
    spent = time.monotonic() - began
    done.set(), thread.join()
    longest = max(b - a for a, b in zip(ticks, ticks[1:]))
    assert longest < max(0.25 * spent, 0.05), (longest, spent)


def test_contexts_on_threads(digits):
    """Four compilations at once give what one gives."""
    want = tosac.quantize(digits.model, digits.samples[:8]).text()
    got = [None] * 4

    def work(i):
        got[i] = tosac.quantize(digits.model, digits.samples[:8]).text()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert got == [want] * 4


def field(number, data):
    """A field of bytes of a protobuf message; short ones only."""
    data = data.encode() if isinstance(data, str) else data
    return bytes([number << 3 | 2, len(data)]) + data


def onnx_relu():
    """y = relu(x), x f32[n, 3], as an ONNX file."""
    sizes = field(1, field(2, "n")) + field(1, b"\x08\x03")
    port = lambda name: field(1, name) + field(2, field(1, b"\x08\x01" + field(2, sizes)))
    graph = field(1, field(1, "x") + field(2, "y") + field(4, "Relu")) + field(11, port("x")) + field(12, port("y"))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def test_onnx_sizes():
    model = onnx_relu()
    x = np.array([[1, -2, 3], [-4, 5, 6]], np.float32)
    with pytest.raises(tosac.TosacError):
        tosac.load(model)
    for dims in ({"n": 2}, {"x": (2, 3)}, {"x.0": 2}):
        assert tosac.load(model, dims=dims).inputs[0].shape == (2, 3)
        assert np.array_equal(tosac.run(model, x, dims=dims)[0], np.maximum(x, 0))


def test_calibration_of_several_sizes(tmp_path):
    folder = Path(__file__).resolve().parents[2] / "test" / "fixture" / "dynamic" / "pooled"
    files = np.load(folder / "calib.npz")
    samples = [files[f"arr_{i}"] for i in range(len(files.files))]  # of 64, 2 and 8
    r = tosac.compile(str(folder / "model.pt2"), "TOSA-1.1+INT+shape", samples)
    r.save(tmp_path / "p.tosa")
    tosac.compile(str(folder / "model.pt2"), "TOSA-1.1+INT+shape", str(folder / "calib.npz")).save(tmp_path / "same.tosa")
    assert (tmp_path / "p.tosa").read_bytes() == (tmp_path / "same.tosa").read_bytes()


BRANCH = """graph @main(%0 "x": f32[1,3], %1 "flag": bool[], %2 "bias": f32[1,3]) {
  %3 = cond %1, %0 then_graph="a" else_graph="b" : f32[1,3]
  %4 = add %3, %2 alpha=1 : f32[1,3]
  return %4
}
graph @a(%0: f32[1,3]) {
  %1 = abs %0 : f32[1,3]
  return %1
}
graph @b(%0: f32[1,3]) {
  %1 = neg %0 : f32[1,3]
  return %1
}
"""


def test_fixed_inputs():
    x, bias = np.array([[1, -2, 3]], np.float32), np.array([[10, 20, 30]], np.float32)
    for flag, want in ((True, np.abs(x)), (False, -x)):
        model = tosac.load(BRANCH.encode(), set={"flag": flag, "bias": bias})
        assert [port.name for port in model.inputs] == ["x"]
        assert np.array_equal(tosac.run(BRANCH.encode(), x, set={"flag": flag, "bias": bias})[0], want + bias)
    compiled = tosac.compile(BRANCH.encode(), "TOSA-1.0+FP", set={"flag": np.bool_(True), "bias": 0.5})
    assert np.array_equal(compiled.run(x)[0], np.abs(x) + 0.5)
    with pytest.raises(tosac.TosacError, match="its inputs are x, flag, bias"):
        tosac.load(BRANCH.encode(), set={"rate": 1})


def test_codes_and_signatures_of_a_tflite():
    file = str(Path(__file__).resolve().parents[2] / "test" / "fixture" / "tflite" / "two.tflite")
    model = tosac.load(file, method="mul")
    assert [p.name for p in model.inputs + model.outputs] == ["left", "right", "product"]
    assert [(p.quantization.scale, p.quantization.zero_point) for p in model.inputs] == [((.5,), (3,)), ((.25,), (-7,))]
    a, b = np.float32([1, 2, -3, .5]), np.float32([2, -1, .25, 8])
    (y,) = model.run(a, b, dequantize=True)
    assert np.abs(y - a * b).max() <= .375 and y.dtype.kind == "f"
    (codes,) = model.run(np.int8([5, 7, -3, 4]), np.int8([1, -11, -6, 25]))
    assert codes.dtype == np.int8 and np.array_equal((codes - np.float32(1)) * .75, y)
    with pytest.raises(tosac.TosacError, match="there is no signature or graph 'div'"):
        tosac.load(file, method="div")


def test_a_custom_operator_stays_in_a_tflite(tmp_path):
    data = bytearray((Path(__file__).resolve().parents[2] / "fuzz" / "corpus" / "tflite" / "softmax_0_i8.tflite").read_bytes())
    data[420] = 32  # CUSTOM instead of SOFTMAX
    (tmp_path / "custom.tflite").write_bytes(data)
    for model in (str(tmp_path / "custom.tflite"), bytes(data)):
        with pytest.warns(tosac.TosacWarning):
            compiled = tosac.compile(model, "ethos-u55-128")
        compiled.save(tmp_path / "out.tflite")
        assert (tmp_path / "out.tflite").read_bytes()[4:8] == b"TFL3"
        with pytest.raises(tosac.UnsupportedError):
            compiled.save(tmp_path / "out.pte")
    with pytest.raises(tosac.UnsupportedError, match="only a .tflite can hold it"):
        tosac.load(str(tmp_path / "custom.tflite"))


def test_samples_over_threads(digits):
    """Many samples in one call are what each of them gives by itself, on however many threads."""
    x = digits.x[:24]
    one = [tosac.load(digits.model, threads=1).run(x[k : k + 1])[0] for k in range(len(x))]
    for threads in (1, 2, 5):
        program = tosac.Program(digits.model, threads=threads)
        for _ in range(2):  # what was made ready is used again
            assert np.array_equal(program(x)[0], np.concatenate(one))
        assert np.array_equal(program(x[:3], reset=True)[0], np.concatenate(one[:3]))


TWO = b"graph @main(%0: f32[2,3], %1: f32[2,3]) {\n  %2 = add %0, %1 alpha=1 : f32[2,3]\n  return %2\n}\n"
ONE = b"graph @main(%0: f32[2,3]) {\n  %1 = relu %0 : f32[2,3]\n  return %1\n}\n"


@pytest.mark.parametrize("graph, data, words", [
    (ONE, np.zeros((5, 5), np.float32), r"the input is f32\[2, 3\], the data float32\[5, 5\]"),
    (ONE, np.zeros((2, 3), np.uint8), "the data is uint8, the input needs f32"),
    (TWO, (np.zeros((2, 3), np.float32), np.zeros((5, 5), np.float32)), r"input 1 is f32\[2, 3\]"),
    (TWO, np.zeros((2, 3), np.float32), "has 1 tensor, the model 2 inputs: 0, 1"),
    (TWO, {"a": np.zeros((2, 3), np.float32)}, "the model's inputs have no names"),
])
def test_inputs_without_names_are_told_by_their_place(graph, data, words):
    with pytest.raises(tosac.UsageError, match=words) as told:
        tosac.load(graph).run(data)
    assert "None" not in str(told.value)


def test_bytes_of_pictures_are_not_taken_for_floats(digits):
    pictures = np.zeros((4, 1, 28, 28), np.uint8)
    with pytest.raises(tosac.UsageError, match="the data is uint8, input 'x' needs f32"):
        tosac.compile(digits.model, "TOSA-1.0+INT", calibration=pictures)


#: a tanh that one large sample fills: kept, it would cost all others their steps
FILLED = b"""graph @main(%0 "x": f32[1,3,8,8]) {
  %1 = const [0.5, -0.25, 0.125, 1, 0.3, -0.7, 0.11, 0.9, -0.4, 0.2, 0.21, -0.33] : f32[4,3,1,1]
  %2 = const [0.1, -0.2, 0.05, 0] : f32[4]
  %3 "conv" = conv %0, %1, %2 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,4,8,8]
  %4 "silu" = silu %3 : f32[1,4,8,8]
  %5 "mean" = mean %4 axes=[2,3] keepdim=false : f32[1,4]
  %6 = const [30] : f32[1]
  %7 "mul" = mul %5, %6 : f32[1,4]
  %8 "tanh" = tanh %7 : f32[1,4]
  return %8
}
"""


@pytest.mark.parametrize("each, name", [(1, r"\S*/picture_13\.npy is set aside"), (6, r"1 of \S*/picture_12\.npy is set aside")])
def test_samples_set_aside_are_called_by_their_files(tmp_path, each, name):
    x = np.random.default_rng(1).uniform(-1, 1, (42, 3, 8, 8)).astype(np.float32)
    x[13] *= 40
    for i in range(0, 42, each):
        np.save(tmp_path / f"picture_{i:02d}.npy", x[i:i + each])
    with pytest.warns(match=f"calibration sample {name}") as told:
        tosac.quantize(FILLED, str(tmp_path))
    assert sum("set aside" in str(w.message) for w in told) == 1


def test_images(digits, tmp_path):
    r = tosac.compile(digits.model, "vgf:TOSA-1.0+INT", digits.samples, images={"x": "r32_sfloat"}).save(tmp_path / "d.vgf")
    (image,) = r.json()["images"]
    assert image["port"] == "x" and not image["output"] and image["format"] == "R32_SFLOAT" and image["how"].endswith("a shader that converts")
    y = tosac.run(tmp_path / "d.vgf", digits.x[:100].transpose(0, 2, 3, 1))[0]
    plain = tosac.compile(digits.model, "vgf:TOSA-1.0+INT", digits.samples)
    assert y.shape == (100, 10) and (y == plain.run(digits.x[:100])[0]).all()
    with pytest.warns(tosac.TosacWarning, match="R8_UNORM has 0 to 1"):
        tosac.compile(digits.model, "vgf:TOSA-1.0+INT", digits.samples, images={"x": "r8_unorm"}).save(tmp_path / "u.vgf")
    with pytest.raises(tosac.UsageError, match="there is no format 'r8'"):
        tosac.compile(digits.model, "vgf", images={"x": "r8"})
    with pytest.raises(tosac.UsageError, match="images are for the target 'vgf'"):
        tosac.compile(digits.model, "cpu", images={"x": "r8_unorm"})


@pytest.mark.parametrize("begins, words", [
    (b"", "the file is empty"), (b"\x93NUMPY\x01\x00", "a NumPy array"), (b"\x1f\x8b\x08\x00", "a compressed file (gzip)"),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"), (b"\x89HDF\r\n\x1a\n", "a Keras file (HDF5)"), (b"GGUF\x03\0\0\0", "weights for llama.cpp"),
    (b'\x08\0\0\0\0\0\0\0{"a":1}', "a file of weights (safetensors)"), (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
    (b'{"preset": "int8"}', "JSON"), (b"\x80\x02\x8a\x0a", "a pickle"), (b"import torch\n", "Python source"), (b"some words", "text, not a model")])
def test_what_is_no_model_is_called_by_its_name(tmp_path, begins, words):
    for name in ("m.pt2", "m.onnx", "m.tflite"):
        (tmp_path / name).write_bytes(begins)
        with pytest.raises(tosac.ModelError) as e:
            tosac.load(tmp_path / name)
        assert words in str(e.value) and "it reads PyTorch exports" in e.value.note


@pytest.mark.parametrize("mistake, words", [
    (dict(target=5), "target=5: a name is expected"), (dict(config=5), "config=5: a preset"), (dict(config={"nodes": {1}}), "it holds what JSON holds"),
    (dict(dims=[4]), "dims=[4]: a dictionary by name"), (dict(set=3), "set=3: a dictionary"), (dict(threads=-1), "threads=-1"), (dict(threads="2"), "threads='2'"),
    (dict(cpu=3), "cpu=3: names"), (dict(beside="x"), "beside='x'")])
def test_arguments_of_another_type_are_named(digits, mistake, words):
    with pytest.raises(tosac.UsageError) as e:
        tosac.compile(digits.model, **{"target": "TOSA-1.0+INT", "calibration": digits.samples[:2], **mistake})
    assert words in str(e.value)


def test_inputs_that_the_program_does_not_have(digits):
    program = tosac.load(digits.model)
    for call, words in ((lambda: program.run(digits.x[:1], digits.x[:1]), "2 arrays for 1 input: x"), (lambda: program.run(y=digits.x[:1]), "no input 'y'"),
                        (lambda: program.run(np.zeros((4, 28, 28, 1), np.float32)), "looks like NHWC")):
        with pytest.raises(tosac.UsageError) as e:
            call()
        assert words in str(e.value)
