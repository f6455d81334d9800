#!/usr/bin/env python3
"""The table of doc/boards.md: one model on every board that tosac knows.      board-table.py TOSAC MODEL CALIB PAGE [BOARD...]

Compiles the model for each board, and writes what came out between the marks of the page; PAGE "-" prints it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- table of boards: tools/board-table.py -->", "<!-- end of the table -->"


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def clock(hz):
    return f" at {hz / 1e6:.0f} MHz" if hz else ""


def short(x):
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def size(n):
    return f"{-(-n // 1024)}"


def memories(verdict):
    return ", ".join(f"{m['name']} {size(m['used'])} of {m['size'] // 1024}" for m in verdict["memories"])


def otherwise(verdict):
    fitting = [a for a in verdict["alternatives"] if a["fits"]]
    if verdict["fits"]:
        return "fits"
    return "no; with `" + "` or `".join(a["options"] for a in fitting) + "`" if fitting else "no"


def row(tosac, model, calib, board, folder):
    out = pathlib.Path(folder) / ("m.pte" if board["npu"] else "m.c")
    said = run(tosac, "compile", model, "--board", board["board"], "--calib", calib, "-o", out, "--json")
    v = json.loads(said)["verdict"]
    machine = (board["npu"] or board["core"]) + clock(v.get("npu_clock_hz") or v.get("core_clock_hz"))
    time = f"{short(v['milliseconds'])} ms ({short(v['milliseconds_low'])} to {short(v['milliseconds_high'])}), {short(v['inferences_per_second'])} a second"
    return f"| `{board['board']}` | {machine} | {v.get('memory_mode', '')} | {otherwise(v)} | {memories(v)} | {time} |"


def main(tosac, model, calib, page, *names):
    boards = [b for b in json.loads(run(tosac, "boards", "--json")) if not names or b["board"] in names]
    lines = ["| board | machine | memory mode | verdict | KiB used | time |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for b in boards:
            lines.append(row(tosac, model, calib, b, folder))
            if page == "-":
                print(lines[-1], flush=True)
    if page == "-":
        return
    table = "\n".join(lines)
    path = pathlib.Path(page)
    before, rest = path.read_text().split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
