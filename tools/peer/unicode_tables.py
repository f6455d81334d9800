# SPDX-License-Identifier: Apache-2.0
"""Writes src/api/unicode_sets.h and unicode_forms.h: what Hugging Face's tokenizers take characters for, asked of that
package character by character; combining classes and pairs are Python's.        unicode_tables.py FOLDER
"""
import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)


def ranges(members):
    out = []
    for c in sorted(members):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def lines(items, width=98):
    row, out = "   ", []
    for item in items:
        if len(row) + len(item) + 1 > width:
            out.append(row)
            row = "   "
        row += " " + item
    return "\n".join(out + [row])


def matches(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return [c for c in ALL if not split.pre_tokenize_str(chr(c))]


def gone(normalizer):
    return [c for c in ALL if normalizer.normalize_str(chr(c)) == ""]


def isolated(splitter):
    return [c for c in ALL if len(splitter.pre_tokenize_str("a" + chr(c) + "a")) == 3]


def bert(**on):
    return normalizers.BertNormalizer(**({"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False} | on))


SETS = {
    "letter": matches(r"\p{L}"), "upper": matches(r"\p{Lu}"), "lower": matches(r"\p{Ll}"), "title": matches(r"\p{Lt}"),
    "modifier": matches(r"\p{Lm}"), "number": matches(r"\p{N}"), "digit": matches(r"\d"), "mark": matches(r"\p{M}"),
    "punctuation": matches(r"\p{P}"), "symbol": matches(r"\p{S}"), "word": matches(r"\w"),
    "word_split": [c for c in ALL if len(pre_tokenizers.Whitespace().pre_tokenize_str("a" + chr(c) + "a")) == 1],
    "combining": gone(normalizers.StripAccents()), "accent": gone(bert(strip_accents=True)),
    "control": [c for c in gone(bert(clean_text=True))], "bert_sign": isolated(pre_tokenizers.BertPreTokenizer()),
    "numeric": isolated(pre_tokenizers.Digits()),
}
HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* {} -- made by tools/peer/unicode_tables.py: {} */\n"

with open(sys.argv[1] + "/unicode_sets.h", "w") as out:
    out.write(HEAD.format("unicode_sets.h", "sets of characters, ranges from first to last."))
    for name, members in SETS.items():
        out.write(f"static const uint32_t {name}_set[][2] = {{\n")
        out.write(lines(f"{{{a:#x}, {b:#x}}}," for a, b in ranges(members)) + "\n};\n")


def quoted(text):
    return '"' + "".join("\\" + c if c in '"\\' else c for c in text) + '",'


def form(name):
    change = getattr(normalizers, name)()
    return {c: change.normalize_str(chr(c)) for c in ALL if c not in HANGUL and change.normalize_str(chr(c)) != chr(c)}


canonical, compatible = form("NFD"), form("NFKD")
composed = normalizers.NFC()
pairs = []
for c in canonical:
    parts = unicodedata.decomposition(chr(c)).split()
    if len(parts) == 2 and parts[0][0] != "<" and composed.normalize_str(chr(c)) == chr(c):
        pairs.append("".join(chr(int(p, 16)) for p in parts) + chr(c))
lower = normalizers.Lowercase()
TEXTS = {
    "canonical": [chr(c) + text for c, text in sorted(canonical.items())],
    "compatible": [chr(c) + text for c, text in sorted(compatible.items()) if canonical.get(c) != text],
    "lowered": [chr(c) + lower.normalize_str(chr(c)) for c in ALL if lower.normalize_str(chr(c)) != chr(c)],
    "pair": sorted(pairs, key=lambda p: (ord(p[0]), ord(p[1]))),
}
with open(sys.argv[1] + "/unicode_forms.h", "w") as out:
    out.write(HEAD.format("unicode_forms.h", "a character and what it becomes, by its number;\n * pairs and what they make; combining classes. */").replace(" */ */", " */"))
    for name, texts in TEXTS.items():
        out.write(f"static const char *const {name}_text[] = {{\n{lines(map(quoted, texts))}\n}};\n")
    classes = {c: unicodedata.combining(chr(c)) for c in ALL if unicodedata.combining(chr(c))}
    rows = []
    for c in sorted(classes):
        if rows and rows[-1][1] == c - 1 and rows[-1][2] == classes[c]:
            rows[-1][1] = c
        else:
            rows.append([c, c, classes[c]])
    out.write("static const uint32_t class_set[][3] = {\n" + lines(f"{{{a:#x}, {b:#x}, {k}}}," for a, b, k in rows) + "\n};\n")
