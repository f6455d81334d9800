# SPDX-License-Identifier: Apache-2.0
"""The page as files that need no server: build.py WASM TO

index.html has its sheet and scripts inside; program.js the compiler, compressed and as text, as pages from a disk may fetch nothing, and
threads.js the same for pages that a server isolates: one of the two is loaded; example.js a model and its data."""
import base64
import gzip
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(here)


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def packed(*path):
    with open(os.path.join(*path), "rb") as f:
        return base64.b64encode(gzip.compress(f.read(), 9, mtime=0)).decode()


def literal(code):
    """A text of JavaScript, as a literal inside a script."""
    return "`" + code.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${").replace("</script", "<\\/script") + "`"


def main(wasm, to):
    os.makedirs(to, exist_ok=True)
    version = ".".join(re.findall(r"TOSAC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text(top, "include/tosac/base.h")))
    run = text(here, "run.js") + text(here, "worker.js")

    def program(name, more=""):
        return f'const tosacProgram = {{wasm: "{packed(wasm, name + ".wasm")}", main: {literal(text(wasm, name + ".js"))}, run: {literal(run)}{more}}};\n'
    parts = {"version": version, "style": text(top, "src/report/page/page.css") + text(here, "style.css"),
             "script": text(top, "src/report/page/page.base.js") + "\n".join(text(here, name) for name in ("engine.js", "zip.js", "page.js"))}
    digits = os.path.join(top, "test/fixture/digits")
    example = ",".join(f'{{name: "{name}", data: "{packed(digits, file)}"}}' for name, file in (("digits.pt2", "model.pt2"), ("digits.npz", "calib.npz")))
    files = {"index.html": re.sub("@(version|style|script)@", lambda m: parts[m[1]], text(here, "index.html")),
             "program.js": program("tosac"),
             "threads.js": program("tosac-threads", ", thread: " + literal(text(wasm, "tosac-threads.worker.js"))),
             "example.js": f"window.tosacExample = [{example}];\n"}
    for name, content in files.items():
        with open(os.path.join(to, name), "w", encoding="utf-8") as f:
            f.write(content)


main(*sys.argv[1:])
