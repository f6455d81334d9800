# SPDX-License-Identifier: Apache-2.0
"""The page of build/web from its opening to a verdict, in a headless Chromium (doc/web.md).     web.py WEB WHERE MODEL [DATA...]

WHERE as the page's list has it: "board alif-e7-hp", "target ethos-u55-128".  Printed: seconds until the page is ready, from Compile to
the verdict, MiB of the program.  Then the sizes of what is downloaded."""
import gzip
import os
import sys
import time

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(top, "test/report")]
from browser import Page  # noqa: E402


def main(web, where, model, *data):
    page, since = Page(width=1400, height=950), time.time()
    page.call("Page.navigate", url="file://" + os.path.join(os.path.abspath(web), "index.html"))
    page.wait_for(lambda: page.value("!!window.tosac && tosac.ready"))
    opened = time.time() - since
    for field, files in (("model", [model]), ("data", list(data))):
        node = page.call("Runtime.evaluate", expression=f"document.getElementById('{field}')")["result"]["objectId"]
        if files:
            page.call("DOM.setFileInputFiles", objectId=node, files=[os.path.abspath(f) for f in files])
    page.value(f"document.getElementById('where').value = '{where}'; 1")
    since = time.time()
    page.value("tosac.compile()")
    took = time.time() - since
    said = page.value("document.getElementById('verdict').innerText || document.getElementById('messages').innerText")
    print(f"opened {opened:.1f} s, verdict {took:.1f} s, {page.value('document.getElementById(`doing`).textContent')}: {' '.join(said.split())}")
    page.close()
    for name in sorted(os.listdir(web)):
        with open(os.path.join(web, name), "rb") as f:
            text = f.read()
        print(f"{name}: {len(text) / 1e6:.2f} MB, {len(gzip.compress(text, 9)) / 1e6:.2f} with gzip")


main(*sys.argv[1:])
