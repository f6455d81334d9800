# SPDX-License-Identifier: Apache-2.0
"""The page of build/web in a headless Chromium: web.py TOSAC WEB [FOLDER]

From a disk, without a request to anybody: the example's files are those of the native command, byte for byte; a bad file's message is the
command line's; a run is stopped; runs one after the other leave no memory; two are compared; pictures and WAV are data; a model of 100 MB;
several threads where a server isolates it; all of it by keys alone.  With FOLDER, pictures are left there."""
import array
import base64
import functools
import glob
import http.server
import math
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "report"))
from browser import Page, program  # noqa: E402

digits = os.path.join(here, "fixture", "digits")
passed, failed = 0, 0


def check(name, good, found=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"{name}: {found}")


def opened(web, at=None, **how):
    """The page from a disk, or from a server at that address."""
    page = Page(**how)
    page.call("Page.navigate", url=(at or "file://" + os.path.abspath(web)) + "/index.html")
    page.wait_for(lambda: page.value("!!window.tosac && tosac.ready"))
    return page


def give(page, name, data):
    """A file, as if it were dropped."""
    text = base64.b64encode(data).decode()
    page.value(f"tosac.choose([new File([Uint8Array.from(atob('{text}'), c => c.charCodeAt(0))], '{name}')])")


def choose(page, where, options=""):
    page.value(f"document.getElementById('where').value = '{where}'; document.getElementById('options').value = '{options}'; 1")


def made(page, kind):
    """The files of a kind, as {name: bytes}."""
    page.value(f"(async () => {{ await tosac.make(tosac.shown(), '{kind}'); }})()")
    names = page.value(f"(tosac.shown().made['{kind}'] || []).map(f => f.name)")
    one = "(b => {{ let s = ''; for (let i = 0; i < b.length; i += 32768) s += String.fromCharCode(...b.subarray(i, i + 32768)); return btoa(s); }})(tosac.shown().made['{}'][{}].bytes)"
    return {n: base64.b64decode(page.value(one.format(kind, i))) for i, n in enumerate(names)}


def native(tosac, where, kind, name):
    """What the command on this machine writes."""
    with tempfile.TemporaryDirectory() as folder:
        for to, of in (("digits.pt2", "model.pt2"), ("digits.npz", "calib.npz")):
            os.symlink(os.path.join(digits, of), os.path.join(folder, to))
        done = subprocess.run([tosac, "compile", "digits.pt2", *where, "--calib", "digits.npz", "--emit", kind, "-o", name, "--quiet"], cwd=folder, capture_output=True, text=True)
        check(f"native {kind}", done.returncode == 0, done.stderr)
        return {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder) if n not in ("digits.pt2", "digits.npz")}


def same_bytes(page, tosac):
    page.value("document.getElementById('example').click()")
    page.wait_for(lambda: page.value("tosac.runs.length === 1"))
    verdict = page.value("document.getElementById('verdict').innerText")
    check("verdict first", "digits.pt2 on alif-e7-hp: fits" in verdict and " ms" in verdict and " dB" in verdict, verdict)
    for where, words in (("board alif-e7-hp", ["--board", "alif-e7-hp"]), ("target ethos-u85-256", ["-t", "ethos-u85-256"]), ("target cortex-m55", ["-t", "cortex-m55"])):
        choose(page, where)
        page.value("tosac.compile()")
        for kind, name in (("pte", "digits.pte"), ("tflite", "digits.tflite"), ("c", "digits.c"), *([("stream", "digits.bin")] if "cortex" not in where else [])):
            ours, theirs = made(page, kind), native(tosac, words, kind, name)
            check(f"{where}, {kind}: the same bytes", ours and ours == theirs, (sorted(ours), sorted(theirs)))


def message(page, tosac):
    bad = open(os.path.join(digits, "model.pt2"), "rb").read()[:100]
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "bad.pt2"), "wb").write(bad)
        said = subprocess.run([tosac, "compile", "bad.pt2", "-t", "ethos-u55-128", "-o", "x.pte"], cwd=folder, capture_output=True, text=True).stderr.strip()
    give(page, "bad.pt2", bad)
    page.value("tosac.compile()")
    ours = page.value("document.getElementById('messages').innerText").strip()
    check("a bad file's message", said and ours == said, (ours, said))


def resident(pid):
    """MiB of a process and of those that it started."""
    total, parents = 0, {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            parents[int(stat.split("/")[2])] = int(open(stat).read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    for each in list(parents):
        at = each
        while at > 1 and at != pid:
            at = parents.get(at, 0)
        if at == pid:
            try:
                total += int(open(f"/proc/{each}/statm").read().split()[1]) * 4096
            except OSError:
                pass
    return total >> 20


def stop_and_memory(page):
    runs = page.value("tosac.runs.length")
    give(page, "digits.pt2", open(os.path.join(digits, "model.pt2"), "rb").read())
    give(page, "digits.npz", open(os.path.join(digits, "calib.npz"), "rb").read())
    choose(page, "board alif-e7-hp", "--goal sqnr=60,time=10min")
    page.value("void tosac.compile()")
    page.wait_for(lambda: page.value("tosac.engine.isRunning()"))
    time.sleep(1)
    check("progress", page.value("document.getElementById('doing').textContent") != "starting", "nothing was told")
    page.key("Escape", 27)
    check("stopped", page.value("!tosac.engine.isRunning() && document.getElementById('doing').textContent") == "Stopped.")
    check("no run is left", page.value("tosac.runs.length") == runs)
    choose(page, "board alif-e7-hp")
    used = []
    for _ in range(6):
        page.value("tosac.compile()")
        page.call("HeapProfiler.collectGarbage")
        used.append(resident(page.process.pid))
    one = page.value("+document.getElementById('doing').textContent.match(/(\\d+) MiB/)[1]")
    check("runs one after the other", page.value("tosac.runs.length") == runs + 6, page.value("document.getElementById('messages').innerText"))
    check("memory is given back", used[-1] - used[0] < 3 * one, (used, one))


def compared(page):
    before = page.value("document.getElementById('report').src")
    page.value("[0, 2].forEach(i => document.querySelectorAll('#runs input')[i].click())")
    page.wait_for(lambda: page.value("document.getElementById('report').src") != before)
    text = page.value("fetch(document.getElementById('report').src).then(r => r.text()).catch(e => String(e))")
    check("two runs compared", "ethos-u85-256" in text and "ethos-u55-256" in text and '"changes"' in text, text[:200])


def from_disk(page, field, paths):
    """Files chosen in a field of the form."""
    node = page.call("Runtime.evaluate", expression=f"document.getElementById('{field}')")["result"]["objectId"]
    page.call("DOM.setFileInputFiles", objectId=node, files=paths)


def same_as_native(page, tosac, folder, name, model, data, words, where, rules="", options=""):
    """A model and its data, chosen in the form, give the bytes of the command on this machine."""
    from_disk(page, "model", [os.path.join(folder, model)])
    from_disk(page, "data", data)
    choose(page, where, options)
    page.value(f"document.getElementById('preprocess').value = '{rules}'")
    runs = page.value("tosac.runs.length")
    check(f"{name}: rules are asked for", page.value("document.getElementById('rules').hidden") == (rules == ""))
    page.value("(async () => { await tosac.compile(); })()")
    said = page.value("document.getElementById('messages').innerText")
    if page.value("tosac.runs.length") == runs:
        check(name, False, said)
        return
    ours = made(page, "tflite")
    calib = data[0] if len(data) == 1 else os.path.join(folder, "data")
    out = os.path.join(folder, "native.tflite")
    done = subprocess.run([tosac, "compile", os.path.join(folder, model), *words, "--calib", calib, *(["--preprocess", rules] if rules else []), *options.split(), "--emit", "tflite", "-o", out, "--quiet"],
                          capture_output=True, text=True)
    check(f"{name}: native", done.returncode == 0, done.stderr)
    check(f"{name}: the same bytes", done.returncode == 0 and list(ours.values()) == [open(out, "rb").read()], (said, {n: len(b) for n, b in ours.items()}))


def pictures_and_sound(page, tosac):
    graph = 'graph @main(%0 "x": f32[{0}]) {{\n  %1 = mul %0, %0 : f32[{0}]\n  return %1\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        pictures = []
        for source in sorted(glob.glob(os.path.join(here, "fixture", "pictures", "00*.*")))[:6]:
            pictures.append(os.path.join(folder, "data", os.path.basename(source)))
            os.symlink(source, pictures[-1])
        open(os.path.join(folder, "net.ir"), "w").write(graph.format("1,3,24,24"))
        same_as_native(page, tosac, folder, "pictures", "net.ir", pictures, ["-t", "ethos-u55-128"], "target ethos-u55-128", "resize=24x24 mean=0.5 std=0.25")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        sounds = []
        for k in range(4):
            sounds.append(os.path.join(folder, "data", f"{k}.wav"))
            with wave.open(sounds[-1], "wb") as f:
                f.setparams((1, 2, 16000, 1600, "NONE", ""))
                f.writeframes(array.array("h", [int(20000 * math.sin(i * (k + 1) / 7)) for i in range(1600)]).tobytes())
        open(os.path.join(folder, "net.ir"), "w").write(graph.format("1,1600"))
        same_as_native(page, tosac, folder, "WAV", "net.ir", sounds, ["-t", "ethos-u55-128"], "target ethos-u55-128", "rate=16000")


def onnx_product(path, k, n):
    """x [1, k] times a constant [k, n]: a model of 4 k n bytes."""
    def varint(v):
        out = b""
        while v > 127:
            out, v = out + bytes([v & 127 | 128]), v >> 7
        return out + bytes([v])

    def field(number, value):
        return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value

    def port(name, *shape):
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, b"".join(field(1, field(1, d)) for d in shape))))
    row = array.array("f", [math.sin(i * 12.9898) / 16 for i in range(n + 7)]).tobytes()
    weights = b"".join(row[4 * (i % 7):4 * (i % 7) + 4 * n] for i in range(k))
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"MatMul")
    graph = field(1, node) + field(2, b"g") + field(5, field(1, k) + field(1, n) + field(2, 1) + field(8, b"w") + field(9, weights)) + field(11, port(b"x", 1, k)) + field(12, port(b"y", 1, n))
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(8, field(1, b"") + field(2, 13)) + field(7, graph))


def large(page, tosac):
    with tempfile.TemporaryDirectory() as folder:
        onnx_product(os.path.join(folder, "large.onnx"), 5000, 5000)
        data = os.path.join(folder, "x.npy")
        with open(data, "wb") as f:
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1, 5000)}"
            head += " " * (117 - len(head)) + "\n"
            f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
            f.write(array.array("f", [math.sin(i * 0.37) for i in range(20000)]).tobytes())
        since = time.time()
        same_as_native(page, tosac, folder, "a model of 100 MB", "large.onnx", [data], ["-t", "ethos-u85-256"], "target ethos-u85-256")
        print(f"100 MB: {time.time() - since:.0f} s with native's, {page.value('document.getElementById(`doing`).textContent')}")


def themes(page):
    theme = "document.documentElement.dataset.theme"
    before = page.value(theme)
    for _ in range(2):
        page.value("document.getElementById('theme').click()")
        now = page.value(theme)
        check("the report is as light or dark as the page", page.wait_for(lambda: page.inside(theme) == now))
    check("the button turns light and dark", page.value(theme) == before)


class Isolating(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *what):
        pass


def isolated(tosac, web):
    """From a server that isolates the page: as many threads as the machine has cores, the same bytes, and an end of them all at Stop."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Isolating, directory=web))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = opened(web, at=f"http://127.0.0.1:{server.server_port}", width=1400, height=950)
    threads = page.value("tosac.engine.threads")
    check("threads where the page is isolated", page.value("crossOriginIsolated") and threads == min(page.value("navigator.hardwareConcurrency"), 16), threads)
    page.value("document.getElementById('example').click()")
    page.wait_for(lambda: page.value("tosac.runs.length === 1 || document.getElementById('messages').innerText"))
    for kind, name in (("pte", "digits.pte"), ("tflite", "digits.tflite")):
        ours, theirs = made(page, kind), native(tosac, ["--board", "alif-e7-hp"], kind, name)
        check(f"on {threads} threads, {kind}: the same bytes", ours and ours == theirs, (sorted(ours), sorted(theirs)))
    page.value("void tosac.compile()")
    page.wait_for(lambda: page.value("tosac.engine.isRunning()"))
    page.value("tosac.engine.stop()")
    check("stopped", page.value("!tosac.engine.isRunning()"))
    page.value("tosac.compile()")
    check("and started again", page.value("tosac.runs.length") == 2, page.value("document.getElementById('messages').innerText"))
    check("the console is silent there", not page.console, page.console)
    page.close()
    server.shutdown()


def focused(page):
    return page.value("document.activeElement.id || document.activeElement.textContent")


def tab_to(page, what):
    for _ in range(40):
        if focused(page) == what:
            return True
        page.key("Tab", 9)
    return False


def by_keys(web):
    page = opened(web, width=1400, height=950)
    check("keys reach the example", tab_to(page, "example"))
    ring = page.value("getComputedStyle(document.activeElement).outlineStyle")
    check("what has the focus is seen", ring != "none", ring)
    page.key("Enter", 13)
    page.wait_for(lambda: page.value("tosac.runs.length === 1"))
    check("keys reach the boards", tab_to(page, "where"))
    before = page.value("document.getElementById('where').value")
    page.key("ArrowDown", 40)
    check("and choose one", page.value("document.getElementById('where').value") != before)
    check("keys reach Compile", tab_to(page, "start"))
    page.key("Enter", 13)
    page.wait_for(lambda: page.value("tosac.runs.length === 2"))
    check("keys reach a download", tab_to(page, ".tflite"))
    check("keys reach an earlier run", tab_to(page, "Run 1"))
    page.key("Enter", 13)
    check("and show it", page.value("tosac.shown().number") == 1)
    names = page.value("[...document.querySelectorAll('input, select, button, iframe')].filter(e => !(e.labels && e.labels.length) && !e.ariaLabel && !e.getAttribute('aria-label') && !e.title && !e.textContent.trim()).map(e => e.id)")
    check("each control has a name", not names, names)
    page.close()


def looked_at(web, folder):
    for name, how in (("wide", {"width": 1400, "height": 950}), ("dark", {"width": 1400, "height": 950, "dark": True}), ("phone", {"width": 390, "height": 1600, "phone": True})):
        page = opened(web, **how)
        page.value("document.getElementById('example').click()")
        page.wait_for(lambda: page.value("tosac.runs.length === 1"))
        check(f"{name}: nothing is wider than the screen", page.value("document.documentElement.scrollWidth <= innerWidth && document.getElementById('main').scrollWidth <= innerWidth"))
        time.sleep(1)
        if folder:
            page.picture(os.path.join(folder, name + ".png"))
        page.close()


def main(tosac, web, folder=None):
    tosac = os.path.abspath(tosac)
    if not program() or not os.path.exists(os.path.join(web, "index.html")):
        print("there is no Chromium, or no page: make web\n0 passed, 0 failed, 1 skipped")
        return 0
    page = opened(web, width=1400, height=950)
    same_bytes(page, tosac)
    compared(page)
    themes(page)
    message(page, tosac)
    pictures_and_sound(page, tosac)
    large(page, tosac)
    stop_and_memory(page)
    asked = [p["request"]["url"] for n, p in page.events if n == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "blob:", "data:"))]
    check("nothing is sent", not asked, asked)
    check("the console is silent", not page.console, page.console)
    page.close()
    isolated(tosac, web)
    by_keys(web)
    looked_at(web, folder)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main(*sys.argv[1:]))
