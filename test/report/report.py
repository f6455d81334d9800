# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: report.py TOSAC [FOLDER]

It loads without a word in the console and without asking anybody for anything; the verdict comes first; searching finds a node,
clicking or the keyboard alone shows it, charts have data, tables are saved as CSV, text can be read in both colours; two reports
tell what changed; a model of 5,000 nodes stays fluid.  With FOLDER, pictures are left there to be looked at."""
import array
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from browser import Page, program
from schema import mistakes, unknown

here = os.path.dirname(os.path.abspath(__file__))
digits = os.path.join(here, "..", "fixture", "digits")
passed, failed = 0, 0


def check(name, good, found=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"{name}: {found}")


def tosac(*words):
    done = subprocess.run([binary, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tosac {' '.join(words)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def many_nodes(n):
    """Blocks of two branches with a skip around them, in modules of modules, as a text graph."""
    lines, k, now = ['graph @main(%0 "x": f32[1,16]) {'], 0, 0

    def node(op, operands, module, more=""):
        nonlocal k
        k += 1
        lines.append(f'  %{k} "{op}_{k}" = {op} {", ".join(f"%{i}" for i in operands)}{more} : f32[1,16] loc("net.py:{10 + k % 37}", node="{op}_{k}", '
                     f'target="aten.{op}.default", module="{module}", module_type="net.Block")')
        return k

    for block in range(n // 20):
        base, left, right = f"stages.{block // 25}.blocks.{block % 25}", now, now
        for i in range(6):
            left = node(("sigmoid", "tanh", "relu")[i % 3], [left], base + ".left")
        for i in range(11):
            right = node(("tanh", "neg", "abs")[i % 3], [right], base + (".right.inner" if i < 6 else ".right.tail"))
        joined = node("add", [left, right], base, " alpha=1")
        joined = node("add", [joined, now], base, " alpha=1")
        now = node("tanh", [joined], base)
    return "\n".join(lines) + f"\n  return %{now}\n}}\n"


def content_of(page):
    text = open(page, encoding="utf-8").read()
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S).group(1))


def same_as_json(page, file):
    """The page holds what the JSON file holds, apart from the command that names the file."""
    a, b = content_of(page), json.load(open(file))
    a["settings"].pop("command"), b["settings"].pop("command")
    check("page and JSON tell the same", a == b)
    schema = json.load(open(os.path.join(here, "..", "..", "doc", "schema", "report.json")))
    wrong, strange = list(mistakes(b, schema)), sorted(set(unknown(b, schema)))
    check("the JSON keeps its schema", not wrong, wrong[:5])
    check("the schema knows every member", not strange, strange[:5])
    return b


def quiet(p, name):
    check(f"{name}: the console is silent", not p.console and not p.value("tosac.troubles.length"), p.console)
    check(f"{name}: nothing is fetched", not p.requests(), p.requests())


def tour(path, name, node, **look):
    """Every part, as a visitor would go through it."""
    p = Page(**look)
    p.open(path)
    check(f"{name}: four questions, and the answer in a sentence", p.value("document.querySelectorAll('#verdict .asked > div').length") == 4 and len(p.value("document.querySelector('#verdict > p').textContent")) > 20)
    for part in ("graph", "error", "cost", "memory", "cpu", "settings", "overview"):
        p.value(f"document.getElementById('tab-{part}').click()")
        p.settle()
        faint = p.value(FAINT)
        check(f"{name}: {part} can be read", not faint, faint)
        check(f"{name}: {part}: every control has a name", p.value(NAMELESS) == [], p.value(NAMELESS))
        check(f"{name}: {part} is shown", p.value(f"!document.getElementById('view-{part}').hidden"))
        check(f"{name}: {part} fits the width", p.value("document.documentElement.scrollWidth <= innerWidth"))
        if pictures:
            p.picture(os.path.join(pictures, f"{name}-{part}.png"))
    # Search as one types.
    box = p.value("(() => { const r = document.getElementById('search').getBoundingClientRect(); return [r.left + 20, r.top + 10]; })()")
    p.click(*box)
    p.type(node)
    check(f"{name}: search lists '{node}'", p.value("[...document.querySelectorAll('#found li')].some(l => l.firstChild.textContent === %s)" % json.dumps(node)))
    p.key("Enter", 13)
    p.settle()
    check(f"{name}: search shows it", p.value("tosac.data.nodes[tosac.selected()].name") == node)
    check(f"{name}: its particulars", node in p.value("document.getElementById('detail').innerText"))
    # The same by a click in the graph.
    p.value("tosac.select(-1)")
    at = p.value(f"tosac.graph.screen(tosac.data.nodes.findIndex(n => n.name === {json.dumps(node)}))")
    p.click(at["x"], at["y"])
    p.settle()
    check(f"{name}: a click shows it", p.value("tosac.selected() >= 0 && tosac.data.nodes[tosac.selected()].name") == node, p.value("tosac.selected()"))
    if pictures:
        p.picture(os.path.join(pictures, f"{name}-node.png"))
    before = p.value("tosac.graph.state().view.k")
    p.call("Input.dispatchMouseEvent", type="mouseWheel", x=at["x"], y=at["y"], deltaX=0, deltaY=-200)
    p.settle()
    check(f"{name}: the wheel zooms", p.value("tosac.graph.state().view.k") > before)
    boxes = p.value("tosac.graph.closeAll(), tosac.graph.state().boxes")
    check(f"{name}: boxes close and open", boxes < p.value("tosac.graph.openAll(), tosac.graph.state().boxes"))
    quiet(p, name)
    return p


# Text in the document that has less than 4.5 to 1 (large: 3 to 1) with what is behind it.
FAINT = r"""(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
  const lum = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > .9) return c; } return [255, 255, 255, 1]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg, script, style, .sr, .skip") || !e.getClientRects().length || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const s = getComputedStyle(e), a = lum(parse(s.color)), b = lum(behind(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < (parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.6 && +s.fontWeight >= 700 ? 3 : 4.5)) bad.push(`${e.className || e.tagName}: "${e.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return bad.slice(0, 5);
})()"""
NAMELESS = """[...document.querySelectorAll("button, input, select, [role=img], [role=tab], [role=button], canvas")].filter(e =>
  e.getClientRects().length && !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label"))).map(e => e.outerHTML.slice(0, 80))"""


def trained_digits(folder):
    page, file = os.path.join(folder, "digits.html"), os.path.join(folder, "digits.json")
    words = ["compile", os.path.join(digits, "model.pt2"), "-t", "TOSA-1.0+INT", "--calib", os.path.join(digits, "calib.npz"), "-o", os.path.join(folder, "d.tosa"), "--report"]
    tosac(*words, page)
    tosac(*words, file)
    content = same_as_json(page, file)
    check("schema", content["schema"] == "tosac-report" and content["schema_version"] == 1)
    check("errors are worst first", all(x <= y for x, y in zip(*(lambda v: (v, v[1:]))(
        [float("inf") if s == "exact" else s for s in ((content["nodes"][i].get("error_integer") or content["nodes"][i]["error_typed"])["sqnr_db"] for i in content["errors"])]))))
    both = [n for n in content["nodes"] if "error_integer" in n and "error_typed" in n]
    check("integer values are near the typed ones", both and all(abs(n["error_integer"]["sqnr_db"] - n["error_typed"]["sqnr_db"]) < 3 for n in both if "exact" not in (
        n["error_integer"]["sqnr_db"], n["error_typed"]["sqnr_db"])), [(n["name"], n["error_integer"], n["error_typed"]) for n in both][:5])
    node = next(n["name"] for n in content["nodes"] if n.get("tosa") and "conv2d" in n["tosa"])
    for name, look in (("digits-light", {}), ("digits-dark", {"dark": True}), ("digits-phone", {"phone": True, "width": 390, "height": 844})):
        p = tour(page, name, node, **look)
        p.value("tosac.go('error')")
        check(f"{name}: error has a curve", p.value("document.querySelector('#view-error path').getAttribute('d').length") > 50)
        check(f"{name}: error has rows", p.value("document.querySelectorAll('#view-error tbody tr').length") > 5)
        p.value("tosac.go('cost')")
        check(f"{name}: cost has slices", p.value("document.querySelectorAll('#view-cost .slice').length") > 5)
        p.value("tosac.go('memory')")
        p.settle()
        colours = p.value("(() => { const c = document.querySelector('#view-memory canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set(); "
                          "for (let i = 0; i < d.length; i += 40) s.add(d[i] + ',' + d[i+1] + ',' + d[i+2]); return s.size; })()")
        check(f"{name}: memory has blocks", colours > 3, colours)
        p.value("tosac.go('settings')")
        check(f"{name}: the copy button is inside its column", p.value("(() => { const a = document.querySelector('.command').getBoundingClientRect(), b = document.querySelector('.command button').getBoundingClientRect(); "
              "return b.width > 10 && b.left >= a.left && b.right <= a.right && b.top >= a.top && b.bottom <= a.bottom; })()"))
        check(f"{name}: light or dark as the system is", p.value("document.documentElement.dataset.theme") == ("dark" if look.get("dark") else "light"))
        p.close()


def quantized_and_compared(folder):
    typed = os.path.join(folder, "typed.ir")
    tosac("quantize", os.path.join(digits, "model.pt2"), "--calib", os.path.join(digits, "calib.npz"), "-o", typed, "--report", os.path.join(folder, "q.html"))
    tosac("compare", os.path.join(digits, "model.pt2"), typed, "-i", os.path.join(digits, "test.npz"), "--report", os.path.join(folder, "c.html"))
    for name, kind in (("q.html", "quantize"), ("c.html", "compare")):
        content = content_of(os.path.join(folder, name))
        check(f"{kind}: says what it is", content["kind"] == kind)
        check(f"{kind}: has errors", len(content["errors"]) > 5)
        p = Page()
        p.open(os.path.join(folder, name), "#error")
        check(f"{kind}: rows", p.value("document.querySelectorAll('#view-error tbody tr').length") > 5)
        p.value("tosac.go('overview')")
        check(f"{kind}: only what was asked", p.value("document.querySelectorAll('#verdict .asked > div').length") == 1 and not p.value("!!document.getElementById('tab-cpu')"))
        quiet(p, kind)
        p.close()


def settings_tried(folder):
    """A goal: what was tried stands there as a table and as pictures, the choice marked."""
    page, file = os.path.join(folder, "goal.html"), os.path.join(folder, "goal.json")
    words = ["compile", os.path.join(digits, "model.pt2"), "-t", "ethos-u85-256", "--calib", os.path.join(digits, "calib.npz"), "--goal", "sqnr=25", "--emit", "tosa",
             "-o", os.path.join(folder, "g.tosa"), "--report"]
    tosac(*words, page)
    tosac(*words, file)
    content = same_as_json(page, file)
    rows = content["frontier"]
    check("goal: several were tried, one was taken", len(rows) > 1 and sum(r["chosen"] for r in rows) == 1, rows)
    p = Page()
    p.open(page, "#settings")
    p.settle()
    charts = "document.querySelectorAll('#view-settings svg.chart')"
    check("goal: cycles and flash have a picture each", p.value(f"{charts}.length") == 2)
    check("goal: a dot for every row", p.value(f"[...{charts}].every(s => s.querySelectorAll('circle').length === {len(rows)})"))
    check("goal: dots lie within it", p.value(f"[...{charts}].every(s => [...s.querySelectorAll('circle')].every(c => +c.getAttribute('cx') > 40 && +c.getAttribute('cx') < 640 && +c.getAttribute('cy') > 0 && +c.getAttribute('cy') < 250))"))
    check("goal: fits the width", p.value("document.documentElement.scrollWidth <= innerWidth"))
    quiet(p, "goal")
    if pictures:
        p.picture(os.path.join(pictures, "goal-settings.png"))
    p.close()


def five_thousand(folder):
    model, page = os.path.join(folder, "many.ir"), os.path.join(folder, "many.html")
    with open(model, "w", encoding="utf-8") as f:
        f.write(many_nodes(5000))
    tosac("compile", model, "-t", "TOSA-1.0+FP", "-o", os.path.join(folder, "many.tosa"), "--report", page)
    check("5,000 nodes are there", len(content_of(page)["nodes"]) == 5002)
    p = tour(page, "many", "add_4998" if "add_4998" in open(model).read() else "add_4999")
    check("many: all are laid out", p.value("tosac.graph.openAll(), tosac.graph.state().boxes") > 5000)
    layout = p.value("(() => { const t = performance.now(); tosac.graph.openAll(); return performance.now() - t; })()")
    check("many: laid out within two seconds", layout < 2000, f"{layout:.0f} ms")
    paint = p.value("(() => { const t = performance.now(); for (let i = 0; i < 20; i++) { tosac.graph.pan(0, -40); tosac.graph.paint(); } return (performance.now() - t) / 20; })()")
    check("many: a picture in a thirtieth of a second", paint < 33, f"{paint:.1f} ms")
    loaded = p.value("performance.timing.loadEventEnd - performance.timing.navigationStart")
    size = os.path.getsize(page)
    check("many: a page of at most 6 MB", size < 6e6, size)
    print(f"5,000 nodes: {size} bytes, loaded in {loaded} ms, layout {layout:.0f} ms, a picture {paint:.1f} ms")
    p.close()


def foreign_names(folder):
    """Names from a model are text on the page, whatever they look like."""
    model, page = os.path.join(folder, "odd.ir"), os.path.join(folder, "odd.html")
    name = '</script><img src=x onerror=alert(1)>'
    with open(model, "w", encoding="utf-8") as f:
        f.write(f'graph @main(%0 "x": f32[1,4]) {{\n  %1 "y" = tanh %0 : f32[1,4] loc("a<b.py:1", node="{name}", target="aten.tanh.default", module="m")\n  return %1\n}}\n')
    tosac("compile", model, "-t", "TOSA-1.0+FP", "-o", os.path.join(folder, "odd.tosa"), "--report", page)
    p = Page()
    p.open(page)
    p.value("tosac.show(1)")
    check("a name stays text", name in p.value("document.getElementById('detail').innerText") and p.value("document.images.length") == 0)
    quiet(p, "odd names")
    p.close()


def types_and_memory(folder):
    """On an Ethos-U: types are the machine's, errors have a number or a reason, blocks a value's name, tensors their ranges."""
    page, file = os.path.join(folder, "u55.html"), os.path.join(folder, "u55.json")
    words = ["compile", os.path.join(digits, "model.pt2"), "-t", "ethos-u55-128", "--calib", os.path.join(digits, "test.npz"), "--labels",
             os.path.join(digits, "test_label.npy"), "--report"]
    tosac(*words, file)
    content = json.load(open(file))
    nodes = content["nodes"]
    there = [n for n in nodes if "region" in n]
    check("u55: what runs on the NPU has the NPU's type", there and all(re.match(r"i(8|16|32)\[", n.get("typed", "")) for n in there), [(n["name"], n.get("typed")) for n in there if not n.get("typed", "").startswith("i")][:5])
    check("u55: an integer dB, or why not", all(("error_integer" in n) != ("no_integer" in n) for n in there), [n["name"] for n in there if ("error_integer" in n) == ("no_integer" in n)][:5])
    check("u55: a convolution says with what it is joined", any(n.get("joined", "").startswith("batch_norm") for n in there if n["op"] == "conv"))
    known = {n["name"] for n in nodes}
    for m in content["memory"]:
        names = [b[0] for b in m["blocks"]]
        check(f"u55: {m['name']}: blocks bear names of values", all(n.split(":")[0] in known for n in names), [n for n in names if n.split(":")[0] not in known][:5])
        plain = [n for n in names if ":" not in n]
        check(f"u55: {m['name']}: each once", len(plain) == len(set(plain)), sorted(n for n in plain if plain.count(n) > 1)[:5])
    for what in ("values", "weights"):
        spreads = [n[what] for n in nodes if what in n]
        check(f"u55: {what} have ranges", len(spreads) > 15, len(spreads))
        check(f"u55: {what}: every number is counted", all(sum(s["bins"]) + s.get("below", 0) + s.get("above", 0) > 0 and len(s["bins"]) == 40 for s in spreads))
        check(f"u55: {what}: channels reach as far as all", all(min(s["low"]) == s["lo"] and max(s["high"]) == s["hi"] for s in spreads))
        check(f"u55: {what}: rows stand for the channels", all(len(s["low"]) <= 64 and (len(s["low"]) - 1) * s["each"] < s["channels"] <= len(s["low"]) * s["each"] for s in spreads))
    check("u55: steps of weights by channel", any(len(n["weights"].get("steps", [])) > 1 for n in nodes if "weights" in n))
    answers = content["summary"]["answers"]
    told = json.loads(tosac("evaluate", os.path.join(digits, "model.pt2"), "--data", os.path.join(digits, "test.npz"), "--labels", os.path.join(digits, "test_label.npy"), "--most", "256", "--json"))["programs"][0]
    check("u55: right answers as evaluate counts them", [a["program"] for a in answers] == ["model", "program"] and abs(answers[0]["right"] / answers[0]["samples"] - told["top1"]) < 1e-9, answers)
    tosac("report", file, "-o", page)
    p = Page()
    p.open(page)
    check("u55: top-1 is in the verdict", "right" in p.value("document.querySelector('#verdict > p').textContent"))
    check("u55: the flame chart has a legend", "multipliers in use" in p.value("document.querySelector('#view-overview .legend').textContent"))
    p.value("tosac.go('ranges')")
    check("u55: ranges have pictures", p.value("document.querySelectorAll('#view-ranges svg.mini').length") > 30)
    k = next(i for i, n in enumerate(nodes) if "weights" in n and "values" in n)
    p.value(f"tosac.show({k})")
    check("u55: a node has its histograms, by channel too", p.value("document.querySelectorAll('#detail svg.spread').length") == 4)
    check("u55: a node has its scale", p.value("document.getElementById('detail').innerText").find("zero point") > 0)
    quiet(p, "u55")
    p.close()
    return file


def with_board(folder, file):
    """What --board adds comes first."""
    content, page = json.load(open(file)), os.path.join(folder, "board.html")
    content["verdict"] = {"board": "some-board", "title": "Some Board", "target": "ethos-u55-128", "fits": False, "milliseconds": 2.5, "inferences_per_second": 400,
                          "memories": [{"name": "SRAM", "kind": "sram", "size": 32768, "used": 62720, "left": -29952}, {"name": "flash", "kind": "flash", "size": 1 << 20, "used": 132016, "left": 916560}],
                          "alternatives": [{"options": "--optimise Size", "fits": True, "memories": [{"name": "SRAM", "kind": "sram", "size": 32768, "used": 30000, "left": 2768}], "milliseconds": 3, "sqnr_db": 38.5}]}
    with open(os.path.join(folder, "board.json"), "w", encoding="utf-8") as f:
        json.dump(content, f)
    tosac("report", os.path.join(folder, "board.json"), "-o", page)
    p = Page()
    p.open(page)
    said = p.value("document.getElementById('verdict').innerText")
    check("board: it does not fit, and by how much", said.startswith("It does not fit on Some Board, 2.5") and "29.3 KiB too much" in said, said[:200])
    check("board: what would", "--optimise Size" in p.value("document.getElementById('view-overview').innerText"))
    check("board: what is over is marked", p.value("document.querySelectorAll('.room.over').length") == 1)
    quiet(p, "board")
    p.close()


def samples_aside(folder):
    """A sample far beyond the others is named."""
    model, data, file, samples = (os.path.join(folder, n) for n in ("aside.ir", "aside.npy", "aside.json", "aside.html"))
    lines = ['graph @main(%0 "x": f32[1,16]) {'] + [
        f'  %{k} "v{k}" = ' + (f"flip %{k - 1} axes=[1]" if k % 2 == 0 else f'{("abs", "relu", "neg")[k // 2 % 3]} %{k - 1}') + " : f32[1,16]" for k in range(1, 13)]
    with open(model, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + '\n  %13 "y" = tanh %12 : f32[1,16]\n  return %13\n}\n')
    draw = random.Random(1)
    numbers = array.array("f", (draw.uniform(-1, 1) * (30 if i // 16 == 3 else 1) for i in range(256 * 16)))
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (256, 1, 16), }".ljust(117) + "\n"
    with open(data, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + numbers.tobytes())
    tosac("compile", model, "-t", "TOSA-1.0+INT", "--calib", data, "-o", os.path.join(folder, "aside.tosa"), "--report", file)
    aside = json.load(open(file))["summary"]["set_aside"]
    check("aside: sample 3", [a["sample"] for a in aside] == [3] and 0 < aside[0]["far_in"] <= aside[0]["of"], aside)
    tosac("report", file, "-o", samples)
    p = Page()
    p.open(samples)
    check("aside: in the verdict and in a table", "1 sample was set aside" in p.value("document.getElementById('verdict').innerText") and "Samples that were set aside" in p.value("document.getElementById('view-overview').innerText"))
    p.close()


def two_reports(folder):
    """What changed, as text, JSON, CSV and page; tables of the page as CSV."""
    file = [os.path.join(folder, n) for n in ("one.json", "two.json")]
    for path, more in zip(file, ([], ["-q", "a16w8"])):
        tosac("compile", os.path.join(digits, "model.pt2"), "-t", "ethos-u55-128", *more, "--calib", os.path.join(digits, "calib.npz"), "--report", path)
    one, two = (json.load(open(f)) for f in file)
    page, tables = os.path.join(folder, "changes.html"), os.path.join(folder, "tables")
    said = tosac("report", *file, "-o", page, "--csv", tables)
    changes = json.loads(tosac("report", *file, "--json"))
    schema = json.load(open(os.path.join(here, "..", "..", "doc", "schema", "changes.json")))
    check("changes keep their schema", not list(mistakes(changes, schema)), list(mistakes(changes, schema))[:5])
    cycles = next(r for r in changes["summary"] if r["what"] == "cycles")
    check("changes: cycles of both", (cycles["first"], cycles["second"]) == (one["summary"]["cycles"], two["summary"]["cycles"]))
    check("changes: layers go together", changes["layers_by"]["added"] == changes["layers_by"]["removed"] == 0 and changes["layers_by"]["changed"] > 20)
    by = {n["name"]: n for n in two["nodes"]}
    check("changes: a layer's cycles are its own", all(two["nodes"][l["node"]]["name"] == l["name"] and l["cycles"][1] == by[l["name"]].get("cycles") for l in changes["layers"] if "cycles" in l))
    gains = [abs((l.get("cycles", [0, 0])[1] or 0) - (l.get("cycles", [0, 0])[0] or 0)) for l in changes["layers"]]
    check("changes: the most cycles first", gains == sorted(gains, reverse=True))
    check("changes: on the terminal", "i8 -> i16" in said and f"{changes['layers_by']['changed']} changed" in said, said[:300])
    rows = list(csv.DictReader(open(os.path.join(tables, "layers.csv"), newline="")))
    check("changes: CSV has every layer", len(rows) == len(changes["layers"]) and rows[0]["layer"] == changes["layers"][0]["name"])
    itself = json.loads(tosac("report", file[0], file[0], "--json"))
    check("a report against itself: nothing", not itself["layers"] and itself["layers_by"]["same"] == sum(n["op"] not in ("input", "output") for n in one["nodes"]))
    check("a page is read as its JSON is", json.loads(tosac("report", file[0], page, "--json"))["summary"] == changes["summary"])
    # Another model: a layer that is gone, one that is new, names that are shifted.
    for n in two["nodes"]:
        if n["op"] == "conv":
            n["name"] += "_moved"
    gone = next(n for n in two["nodes"] if n["op"] == "adaptive_avg_pool")
    gone.update(name="new", op="sigmoid", module="elsewhere", place="other.py:1")
    with open(os.path.join(folder, "other.json"), "w", encoding="utf-8") as f:
        json.dump(two, f)
    other = json.loads(tosac("report", file[0], os.path.join(folder, "other.json"), "--json"))
    check("changes: other names in the same module go together", other["layers_by"]["added"] == 1 and other["layers_by"]["removed"] == 1, other["layers_by"])
    p = Page()
    p.open(page)
    check("changes: they come first", p.value("!document.getElementById('view-changes').hidden"))
    check("changes: rows", p.value("document.querySelectorAll('#view-changes tbody tr').length") > 20)
    faint = p.value(FAINT)
    check("changes: can be read", not faint, faint)
    check("changes: fits the width", p.value("document.documentElement.scrollWidth <= innerWidth"))
    p.value("window.saved = []; URL.createObjectURL = b => { saved.push(b); return 'data:,'; }; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; tosac.go('cost')")
    p.value("document.querySelector('#view-cost .under button:last-child').click()")
    rows = list(csv.DictReader(io.StringIO(p.value("saved[0].text()"))))
    check("CSV of a table: its numbers", {r["node"]: float(r["cycles"]) for r in rows} == {n["name"]: n["cycles"] for n in json.load(open(file[1]))["nodes"] if n.get("cycles")}, rows[:2])
    check("CSV of a table: its name", p.value("saved[1]").endswith("cost-by-node.csv"), p.value("saved[1]"))
    quiet(p, "changes")
    p.close()


def keyboard(folder, page):
    """Everything without a mouse; nothing moves where that is not wanted."""
    p = Page(still=True)
    p.open(page)
    focus = "document.activeElement.id || document.activeElement.className.baseVal || document.activeElement.className || document.activeElement.tagName"
    p.key("Tab", 9)
    check("keys: first a way past the tabs", p.value(focus) == "skip", p.value(focus))
    p.key("Tab", 9)
    check("keys: then the tabs", p.value(focus) == "tab-overview", p.value(focus))
    p.key("ArrowRight", 39)
    check("keys: an arrow goes to the next", p.value(focus) == "tab-graph" and p.value("!document.getElementById('view-graph').hidden"), p.value(focus))
    check("keys: one stop for all tabs", p.value("[...document.querySelectorAll('[role=tab]')].filter(t => t.tabIndex === 0).length") == 1)
    check("keys: tabs name their panels", p.value("[...document.querySelectorAll('[role=tab]')].every(t => document.getElementById(t.getAttribute('aria-controls')).getAttribute('aria-labelledby') === t.id)"))
    p.value("document.getElementById('graph').focus()")
    p.key("ArrowDown", 40)
    first = p.value("tosac.selected()")
    p.key("ArrowDown", 40)
    check("keys: arrows walk the graph", first == 0 and p.value("tosac.data.nodes[tosac.selected()].in.includes(0)"), p.value("tosac.selected()"))
    check("keys: it is said", p.value("tosac.data.nodes[tosac.selected()].name") in p.value("document.getElementById('said').textContent"))
    check("no motion", p.value("getComputedStyle(document.getElementById('detail')).animationName") == "none")
    p.key("Escape", 27)
    check("keys: Escape closes", p.value("tosac.selected()") == -1)
    p.value("tosac.go('cost'); document.querySelector('#view-cost th button').focus()")
    p.key("Enter", 13)
    check("keys: a heading sorts", p.value("document.querySelector('#view-cost th[aria-sort]') !== null"))
    p.value("[...document.querySelectorAll('#view-cost .slice[tabindex]')].pop().focus()")
    p.key("Enter", 13)
    p.settle()
    check("keys: a bar of the flame chart opens", p.value("tosac.selected() >= 0 || document.querySelectorAll('#view-cost .row .link').length > 1"))
    p.value("document.activeElement.blur()")
    p.key("/", 191)
    check("keys: / searches", p.value(focus) == "search" and p.value("document.getElementById('search').getAttribute('role')") == "combobox", p.value(focus))
    quiet(p, "keys")
    p.close()
    p = Page()
    p.open(page)
    p.value("tosac.show(1)")
    check("motion where it is welcome", p.value("getComputedStyle(document.getElementById('detail')).animationName") == "rise")
    p.close()


binary = sys.argv[1]
pictures = sys.argv[2] if len(sys.argv) > 2 else None
if not program():
    print("there is no Chromium (apt-get install chromium)")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)
with tempfile.TemporaryDirectory() as work:
    trained_digits(work)
    keyboard(work, os.path.join(work, "digits.html"))
    with_board(work, types_and_memory(work))
    samples_aside(work)
    two_reports(work)
    quantized_and_compared(work)
    settings_tried(work)
    five_thousand(work)
    foreign_names(work)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
