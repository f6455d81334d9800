# SPDX-License-Identifier: Apache-2.0
"""The page of build/web in a headless Chromium: web.py TOSAC WEB [FOLDER]

From a disk, without a request to anybody: the example's files are those of the native command, byte for byte; a bad file's message is the
command line's; a run is stopped; runs one after the other leave no memory; two are compared.  With FOLDER, pictures are left there."""
import base64
import glob
import os
import subprocess
import sys
import tempfile
import time

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


def opened(web, **how):
    page = Page(**how)
    page.call("Page.navigate", url="file://" + os.path.join(os.path.abspath(web), "index.html"))
    page.wait_for(lambda: page.value("!!window.tosac && tosac.ready"))
    return page


def closed(page):
    page.process.terminate()
    page.process.wait()


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
    check("memory is given back", used[-1] - used[0] < 3 * one, (used, one))


def compared(page):
    before = page.value("document.getElementById('report').src")
    page.value("[0, 2].forEach(i => document.querySelectorAll('#runs input')[i].click())")
    page.wait_for(lambda: page.value("document.getElementById('report').src") != before)
    text = page.value("fetch(document.getElementById('report').src).then(r => r.text()).catch(e => String(e))")
    check("two runs compared", "ethos-u85-256" in text and "ethos-u55-256" in text and '"changes"' in text, text[:200])


def looked_at(web, folder):
    for name, how in (("wide", {"width": 1400, "height": 950}), ("dark", {"width": 1400, "height": 950, "dark": True}), ("phone", {"width": 390, "height": 1600, "phone": True})):
        page = opened(web, **how)
        page.value("document.getElementById('example').click()")
        page.wait_for(lambda: page.value("tosac.runs.length === 1"))
        check(f"{name}: nothing is wider than the screen", page.value("document.documentElement.scrollWidth <= innerWidth && document.getElementById('main').scrollWidth <= innerWidth"))
        time.sleep(1)
        if folder:
            page.picture(os.path.join(folder, name + ".png"))
        closed(page)


def main(tosac, web, folder=None):
    tosac = os.path.abspath(tosac)
    if not program() or not os.path.exists(os.path.join(web, "index.html")):
        print("there is no Chromium, or no page: make web\n0 passed, 0 failed, 1 skipped")
        return 0
    page = opened(web, width=1400, height=950)
    same_bytes(page, tosac)
    compared(page)
    message(page, tosac)
    stop_and_memory(page)
    asked = [p["request"]["url"] for n, p in page.events if n == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "blob:", "data:"))]
    check("nothing is sent", not asked, asked)
    check("the console is silent", not page.console, page.console)
    closed(page)
    looked_at(web, folder)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main(*sys.argv[1:]))
