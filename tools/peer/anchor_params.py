#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our parameters beside the anchor's.     anchor_params.py TOSAC (ZOO_FOLDER | ATEN_FOLDER | CASE)... [-v]

For every model: `tosac quantize -q anchor` on the data that the anchor was calibrated with, and its quantized.pt2 read with
`tosac opt --pass=convert-qdq-to-types`.  Values that both graphs have (same name, operator, shape and innermost module) are compared, and
the weights that such a value is made with, channel by channel: scales within 1e-5 relative, zero points equal.  -v names the others; a value whose partners in the anchor's graph are
partners in ours too is marked "range", the others "class".
"""
import argparse, collections, json, os, re, subprocess, sys, tempfile

LINE = re.compile(r'^  %\d+ (?:"([^"]*)" )?= (\S+) .*?: i(?:8|16)(\[[^]]*\]) q\(([-+.\de]+):(-?\d+)[^)]*\)(?: loc\((.*)\))?$')
WEIGHT = re.compile(r'^  (%\d+) (?:"[^"]*" )?= const .*: i8\[[^]]*\] q\((?:axis=\d+; )?([^)]*)\)')
PAIR = re.compile(r"([-+.\de]+):(-?\d+)")
PRODUCT = re.compile(r'= (?:conv|conv_transpose|linear) %\d+, (%\d+)')
FIELD = re.compile(r'(node|target|module)="([^"]*)"')


def values(path):
    """(name, operator, shape, module) -> (scale, zero) of every quantized value that a node or an input makes, and the same
    with "weight" -> ((scale, zero) of each channel)."""
    found, constant = {}, {}
    for line in open(path):
        c = WEIGHT.match(line)
        if c:
            constant[c.group(1)] = tuple((float(s), int(z)) for s, z in PAIR.findall(c.group(2)))
        m = LINE.match(line)
        if not m or m.group(2) == "const" or "q(axis" in line:
            continue
        loc = dict(FIELD.findall(m.group(6) or ""))
        if m.group(2) == "rescale":  # an input, or a value that enters a domain
            key = (m.group(1), "", m.group(3), "")
        else:
            key = (loc.get("node"), loc.get("target", "").rstrip("_"), m.group(3), loc.get("module", ""))
        if not key[0] or key in found:
            continue
        found[key] = ((float(m.group(4)), int(m.group(5))),)
        product = PRODUCT.search(line)
        if product and product.group(1) in constant:
            found[key + ("weight",)] = constant[product.group(1)]
    return found


def equal(ours, theirs):
    return len(ours) == len(theirs) and all(abs(s - a) <= 1e-5 * a and z == b for (s, z), (a, b) in zip(ours, theirs))


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def jobs(folder):
    """(name, float model, quantized export, calibration data, configuration)."""
    if os.path.exists(os.path.join(folder, "anchor", "quantized.pt2")):
        yield os.path.basename(folder), f"{folder}/model.pt2", f"{folder}/anchor/quantized.pt2", [f"{folder}/calib.npz"], "anchor"
        return
    for here, _, files in sorted(os.walk(folder)):
        if "meta.json" not in files:
            continue
        meta = json.load(open(f"{here}/meta.json"))
        data = [f"{here}/{i['file']}" for i in meta.get("inputs", []) if "file" in i]
        for q in meta.get("quantized", []):
            tag = q["tag"]
            # a8w4 is a training configuration (moving averages, weights rounded while it looks); calib2: on data that is not here
            if not q.get("has_qdq") or not tag.startswith(("a8w8", "a16w8")) or "calib2" in q.get("extra", []):
                continue
            yield meta["case"] + " " + tag, f"{here}/model.pt2", f"{here}/{q['file']}", data, tag


def configuration(tag, theirs, path):
    """The configuration that a tag names.  16 bits have two floors there; the scales tell which."""
    if tag == "anchor":
        return "anchor"
    c = {"preset": "anchor", "weights": {"per_channel": "pc" in tag}}
    if tag.startswith("a16"):
        floors = {v[0][0] for v in theirs.values()} & {2.0**-12}
        c["activations"] = {"dtype": "int16", "eps": 2.0**-12 if floors else 2.0**-16}
    json.dump(c, open(path, "w"))
    return path


def partners(found):
    groups = collections.defaultdict(set)
    for key, parameters in found.items():
        groups[parameters].add(key)
    return groups


def compare(tosac, job, verbose):
    name, model, quantized, data, tag = job
    with tempfile.TemporaryDirectory() as t:
        failed = run(tosac, "opt", "--pass=convert-qdq-to-types", quantized, "-o", f"{t}/anchor.ir")
        theirs = {} if failed else values(f"{t}/anchor.ir")
        words = [tosac, "quantize", model, "-q", configuration(tag, theirs, f"{t}/c.json"), "-o", f"{t}/ours.ir"]
        for d in data or ["random:1"]:
            words += ["--calib", d]
        failed = failed or run(*words)
        if failed:
            print(f"{name}: {failed}")
            return 0, 0, 0, 0
        ours = values(f"{t}/ours.ir")
    both = [k for k in theirs if k in ours]
    good = 0
    by_ours, by_theirs = partners(ours), partners(theirs)
    for k in both:
        same = equal(ours[k], theirs[k])
        good += same
        if verbose and not same:
            mine, others = by_ours[ours[k]] & set(both), by_theirs[theirs[k]] & set(both)
            why = "range" if mine == others else "class"
            (s, z), (a, b) = next((p for p in zip(ours[k], theirs[k]) if not equal(p[:1], p[1:])), ((0, 0), (0, 0)))
            print(f"  {name}: {k[0]} {' '.join(k[4:]) or k[1]} {why}: ours {s:.9g}:{z}, the anchor's {a:.9g}:{b}")
    weights = [k for k in both if k[4:]]
    return good, len(both), sum(equal(ours[k], theirs[k]) for k in weights), len(weights)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tosac")
    p.add_argument("folder", nargs="+")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    total = [0, 0]
    for folder in a.folder:
        count = [0, 0, 0, 0]
        for job in jobs(folder.rstrip("/")):
            count = [x + y for x, y in zip(count, compare(a.tosac, job, a.v))]
        print(f"{folder}: {count[0]} of {count[1]} equal, {count[2]} of {count[3]} of them weights")
        total = [total[0] + count[0], total[1] + count[1]]
    print(f"all: {total[0]} of {total[1]}")
    return total[0] < 0.99 * total[1]


if __name__ == "__main__":
    sys.exit(main())
