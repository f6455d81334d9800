# SPDX-License-Identifier: Apache-2.0
"""The colours of the report's sheet, light and dark, by WCAG 2 AA: contrast.py

Text needs 4.5 to 1 on everything that it may stand on, what shows where a control is 3 to 1.  Colours that are mixed or made by
the scripts follow from the sheet: the bars of the flame chart (--tint) and the blocks of memory (--block)."""
import colorsys
import os
import re
import sys

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "report", "page")
sheet = open(os.path.join(folder, "page.css"), encoding="utf-8").read()
passed, failed = 0, 0
SURFACES = ("bg", "panel", "wash", "accent-wash")


def check(name, good, found=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"{name}: {found}")


def theme(selector):
    block = re.search(re.escape(selector) + r" \{(.*?)\n\}", sheet, re.S).group(1)
    return dict(re.findall(r"--([\w-]+): ([^;]+);", block))


def rgb(text):
    return [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(c):
    r, g, b = (v / 12.92 if v <= .04045 else ((v + .055) / 1.055) ** 2.4 for v in c)
    return .2126 * r + .7152 * g + .0722 * b


def contrast(a, b):
    x, y = sorted((luminance(a), luminance(b)), reverse=True)
    return (x + .05) / (y + .05)


def mix(a, b, part):
    return [x + (y - x) * part for x, y in zip(a, b)]


def meets(name, text, behind, least):
    found = contrast(text, behind)
    check(name, found >= least, f"{found:.2f} to 1, expected {least}")


light = theme(":root")
for look, colours in (("light", light), ("dark", {**light, **theme(':root[data-theme="dark"]')})):
    colour = {k: rgb(v) for k, v in colours.items() if re.fullmatch(r"#[0-9a-f]{6}", v)}
    # Whatever the sheet uses as a colour of text.
    used = set(re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", sheet)) | set(re.findall(r"svg (?:text|\.axis) \{ fill: var\(--([\w-]+)\)", sheet))
    check(f"{look}: colours of text are found", {"ink", "soft", "accent"} <= used, used)
    for name in sorted(used - {"bg"}):
        for surface in SURFACES:
            meets(f"{look}: text in --{name} on --{surface}", colour[name], colour[surface], 4.5)
    meets(f"{look}: the note at the pointer", colour["bg"], colour["ink"], 4.5)
    for surface in ("bg", "panel", "wash"):
        meets(f"{look}: edges of controls and lines of charts on --{surface}", colour["edge"], colour[surface], 3)
        meets(f"{look}: the mark of the focus on --{surface}", colour["accent"], colour[surface], 3)
    # Bars with text on them: from --cpu to --good, or --merged; cost of a node: up to --accent.
    tint = float(colours["tint"].rstrip("%")) / 100
    for step in range(11):
        meets(f"{look}: text on a bar of the flame chart", colour["ink"], mix(colour["panel"], mix(colour["cpu"], colour["good"], step / 10), tint), 4.5)
        meets(f"{look}: text on a node coloured by cost", colour["ink"], mix(colour["panel"], colour["accent"], tint * step / 10), 4.5)
    meets(f"{look}: text on a bar without multiplications", colour["ink"], mix(colour["panel"], colour["merged"], tint), 4.5)
    saturation, lightness = (float(v.rstrip("%")) / 100 for v in colours["block"].split())
    for hue in range(150, 300, 5):
        meets(f"{look}: text on a block of memory, hue {hue}", colour["ink"], colorsys.hls_to_rgb(hue / 360, lightness, saturation), 4.5)
check("no colour of text beside the sheet's", not re.search(r"(?<![\w-])color: (?!var|inherit|transparent)", sheet.replace("color-scheme:", "")))
check("motion is left out where it is not wanted", "@media (prefers-reduced-motion: reduce)" in sheet)
check("the focus is never hidden", not re.search(r"(?<!\.slice \{ cursor: pointer; )outline: none", sheet))
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
