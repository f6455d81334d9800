#!/usr/bin/env python3
"""doc/targets.md's new target, added in a copy of the tree.        new_target.py [COPY]

The page's two blocks are the whole change: the record is a file of src/machine, the row goes into machine.def.  Then the copy is
built, and the target is listed, explained, compiled for and run.  A record without its sizes is refused with a message.
"""
import re
import sys

from copied_tree import HERE, Copy

TARGET, DIGITS = "ethos-u95-4096", HERE / "test/fixture/digits"


def blocks():
    """The record with its file's name, and the row."""
    page = (HERE / "doc/targets.md").read_text()
    text = page[page.index("## What a new target costs"):]
    name = re.search(r"`(src/machine/machine_\w+\.c)`", text)[1]
    record, row = re.findall(r"```c?\n(.*?)```", text, re.S)[:2]
    return name, record, row


def try_target(copy):
    tosac = copy.where / "build/tosac"
    listed = copy.run(tosac, "targets")
    copy.tell(TARGET in listed.stdout, f"tosac targets does not list {TARGET}:\n{listed.stdout}{listed.stderr}")
    said = copy.run(tosac, "explain", DIGITS / "model.pt2", "-t", TARGET)
    copy.tell(said.returncode == 0 and f"{TARGET}: " in said.stdout, f"explain: {said.returncode}\n{said.stdout}{said.stderr}")
    given = {}
    for kind in ["pte", "tosa"]:
        program, out = copy.where / f"digits.{kind}", copy.where / f"out-{kind}"
        made = copy.run(tosac, "compile", DIGITS / "model.pt2", "-t", TARGET, "--emit", kind, "-o", program, "--calib", DIGITS / "calib.npz")
        copy.tell(f"44 operators on {TARGET}, 2 on the CPU" in made.stdout + made.stderr, f"compile --emit {kind}: {made.returncode}\n{made.stdout}{made.stderr}")
        done = copy.run(tosac, "run", program, "-i", DIGITS / "test.npz", "--dequantize", "-o", out)
        copy.tell(done.returncode == 0, f"run of {kind}: {done.returncode}\n{done.stderr}")
        given[kind] = (out / "output_0.npy").read_bytes() if done.returncode == 0 else kind
    copy.tell(given["pte"] == given["tosa"], "the stream and the TOSA file give different results")
    right = copy.run(tosac, "evaluate", copy.where / "digits.pte", "--data", DIGITS / "test.npz", "--labels", DIGITS / "test_label.npy")
    found = re.search(r"(\d+\.\d+) ?%", right.stdout)
    copy.tell(found and float(found[1]) > 95, f"evaluate: {right.returncode}\n{right.stdout}{right.stderr}")
    cost = copy.run(tosac, "profile", copy.where / "digits.pte")
    copy.tell(cost.returncode == 0 and TARGET in cost.stdout, f"profile: {cost.returncode}\n{cost.stdout[:600]}{cost.stderr}")


def try_without_sizes(copy, path, record):
    text = re.sub(r"static const tc_npu_machine sizes.*?\n};\n", "", record, flags=re.S)
    path.write_text(text.replace(".npu = sizes, .n_npu = TC_COUNT(sizes),", ""))
    if not copy.build("tosac", "unit-machine"):
        return
    whole = copy.run("build/unit-machine")
    copy.tell(whole.returncode == 1 and "ethos-u95-:" in whole.stderr, f"unit-machine misses no sizes:\n{whole.stderr}")
    said = copy.run("build/tosac", "explain", DIGITS / "model.pt2", "-t", TARGET)
    copy.tell(said.returncode == 2 and "is unknown" in said.stderr, f"explain without sizes: {said.returncode}\n{said.stderr}")


def main():
    name, record, row = blocks()
    copy = Copy(sys.argv[1] if len(sys.argv) > 1 else HERE / "build/target")
    (copy.where / name).write_text(record)
    table = copy.where / "src/machine/machine.def"
    table.write_text(table.read_text().replace("#undef MACHINE", row + "#undef MACHINE"))
    if copy.build("tosac", "unit-machine"):
        whole = copy.run("build/unit-machine")
        copy.tell(whole.returncode == 0, f"unit-machine:\n{whole.stderr}")
        try_target(copy)
        try_without_sizes(copy, copy.where / name, record)
    print(f"a target more: 2 files, {record.count(chr(10)) + 1} lines")
    return copy.done()


sys.exit(main())
