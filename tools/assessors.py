# SPDX-License-Identifier: Apache-2.0
"""assessors.py -- doc/assessors.md with its table of counts as the tree has them.    assessors.py PAGE [OUT]"""
from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- counts: make docs -->\n", "<!-- end of counts -->"


def lines(*patterns: str) -> int:
    return sum(len(path.read_text().splitlines()) for pattern in patterns for path in TOP.glob(pattern))


def rows(pattern: str, *files: str) -> int:
    return sum(len(re.findall(pattern, path.read_text(), re.M)) for glob in files for path in TOP.glob(glob))


def table() -> str:
    how = Counter(re.findall(r'"(z3|exhaustive)",\s*\w*', (TOP / "test" / "proofs" / "lemmas.py").read_text().split("LEMMAS = [")[1]))
    counts = [
        ("passes and stages, the graph verified after each", rows(r"^(?:PASS|STAGE)\(", "src/*/*_pass.def")),
        ("lowering rules, each with cases of what it writes", rows(r"^\w+\( ", "src/lower/lower.def")),
        ("texts before and after a rule or pass, compared to the last byte", len(list((TOP / "test" / "golden").rglob("*.ir")))),
        ("programs of unit tests", len(list((TOP / "test" / "unit").glob("*.c")))),
        ("lemmas of integer rewrites decided by trying every code", how["exhaustive"]),
        ("lemmas decided by z3", how["z3"]),
        ("functions of the compiler's C that lemmas are stated in, proved equal to them by z3", len(re.findall(r"^    (?:\*\()?Kernel\(", (TOP / "test" / "proofs" / "kernels.py").read_text(), re.M))),
        ("lines of tosac_check, Python, which shares no code with the compiler", lines("check/tosac_check/*.py")),
        ("harnesses that feed any bytes to the doors of the program", len(list((TOP / "fuzz").glob("fuzz_*.c")) or list((TOP / "fuzz").glob("*.c")))),
    ]
    return "\n".join(["| what | count |", "|---|---|", *(f"| {what} | {count:,} |" for what, count in counts)]) + "\n"


def main() -> int:
    page = Path(sys.argv[1])
    text = page.read_text()
    head, rest = text.split(BEGIN)
    Path(sys.argv[-1]).write_text(head + BEGIN + table() + rest[rest.index(END):])
    return 0


if __name__ == "__main__":
    sys.exit(main())
