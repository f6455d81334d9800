#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/peer/tosa_rule.py takes what the specification allows, and nothing else.        tosa_rule.py

The program is sum((x + 1) * x - x), a difference of near numbers, over 20,000 terms.  Instead of tosac, numpy computes it: rounded
correctly, with its sum in another order, and with one operator wrong at a time.  Run it with the judges' Python.
"""
import os, sys, tempfile
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "peer"))
import tosa_rule  # noqa: E402
from tosa_write import Graph, serialize  # noqa: E402

N = 20000
x = np.random.default_rng(1).uniform(-1e-3, 1e-3, (1, N)).astype(np.float32)


def program():
    g, f = Graph("main"), ("f32", (1, N))
    i = g.input(*f)
    more = g.op("ADD", [i, g.const("f32", np.ones((1, 1)))], [f])
    times = g.op("MUL", [more, i, g.const("i8", np.zeros(1))], [f])
    less = g.op("SUB", [times, i], [f])
    g.output(g.op("REDUCE_SUM", [less], [("f32", (1, 1))], axis=1))
    return serialize([g])


def run(change="", by=1.0, order=np.sum):
    """Every operator's result, the one that is to change multiplied."""
    made = {}
    for name, of in (("ADD", lambda: x + np.float32(1)), ("MUL", lambda: made["ADD"] * x), ("SUB", lambda: made["MUL"] - x),
                     ("REDUCE_SUM", lambda: order(made["SUB"]).astype(np.float32).reshape(1, 1))):
        made[name] = (of() * np.float32(by if name == change else 1)).astype(np.float32)
    return list(made.values())


def one_by_one(a):
    return np.cumsum(a.reshape(-1), dtype=np.float32)[-1:]


def judged(results):
    tosa_rule.ours = lambda tosac, file, folder, arrays, n: results
    with tempfile.TemporaryDirectory() as t:
        open(f"{t}/p.tosa", "wb").write(program())
        return tosa_rule.wrong_operator("", f"{t}/p.tosa", [x], results[-1:])


CASES = [("rounded correctly", "", run(order=lambda a: np.sum(a, dtype=np.float64))), ("in numpy's order", "", run()), ("one by one", "", run(order=one_by_one))]
CASES += [(f"{op} is off by {by:.1e}", op, run(op, 1 + by)) for op, by in (("ADD", 2e-7), ("MUL", 2e-7), ("SUB", 2e-7), ("REDUCE_SUM", 1e-1))]
failed = 0
for name, wrong, results in CASES:
    words = judged(results)
    if not words.startswith(wrong) or bool(words) != bool(wrong):
        failed += 1
        print(f"{name}: '{words}', expected {wrong or 'nothing'}")
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(failed > 0)
