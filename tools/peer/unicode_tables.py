# SPDX-License-Identifier: Apache-2.0
"""Writes src/text/unicode_sets.h and unicode_forms.h: what Hugging Face's tokenizers take characters for, asked of that
package character by character; combining classes and pairs are Python's.        unicode_tables.py FOLDER
"""
import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)


def lines(items, gap="", width=98):
    row, out = "", []
    for item in items:
        if row and len(row) + len(gap) + len(item) > width:
            out.append(row)
            row = ""
        row += gap * bool(row) + item
    return out + [row]


def runs(kind_of, bits):
    """First character << bits | kind, for every run of characters of one kind."""
    kinds = [kind_of.get(c, 0) for c in range(0x110001)]
    first = [c for c in range(0x110001) if not c or kinds[c] != kinds[c - 1]]
    return "\n".join("    " + row for row in lines((f"{c << bits | kinds[c]}," for c in first), width=96))


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
masks = {}
for bit, members in enumerate(SETS.values()):
    for c in members:
        masks[c] = masks.get(c, 0) | 1 << bit
kinds = [0] + sorted(set(masks.values()))

with open(sys.argv[1] + "/unicode_sets.h", "w") as out:
    out.write(HEAD.format("unicode_sets.h", "kinds of characters, each a set of\n * tc_chars; runs of one kind, first character << 5 | kind."))
    assert len(kinds) <= 32
    out.write("static const uint32_t kind_set[] = {\n" + "\n".join("    " + row for row in lines((f"{m:#x}," for m in kinds), " ", 96)) + "\n};\n")
    out.write(f"static const uint32_t kind_run[] = {{\n{runs({c: kinds.index(m) for c, m in masks.items()}, 5)}\n}};\n")


def quoted(text):
    return '    "' + "".join("\\" + c if c in '"\\' else c for c in text) + '",'


def form(name):
    change = getattr(normalizers, name)()
    return {c: change.normalize_str(chr(c)) for c in ALL if c not in HANGUL and change.normalize_str(chr(c)) != chr(c)}


canonical, compatible = form("NFD"), form("NFKD")
composed = normalizers.NFC()
pairs = {}
for c in sorted(canonical):
    parts = unicodedata.decomposition(chr(c)).split()
    if len(parts) == 2 and parts[0][0] != "<" and composed.normalize_str(chr(c)) == chr(c):
        first, second = (int(p, 16) for p in parts)
        pairs[first] = pairs.get(first, "") + chr(second) + chr(c)
lower = normalizers.Lowercase()
TEXTS = {
    "canonical": canonical,
    "compatible": {c: text for c, text in compatible.items() if canonical.get(c) != text},
    "lowered": {c: lower.normalize_str(chr(c)) for c in ALL if lower.normalize_str(chr(c)) != chr(c)},
    "pair": pairs,
}
END = "\u241e"
with open(sys.argv[1] + "/unicode_forms.h", "w") as out:
    out.write(HEAD.format("unicode_forms.h", "a character, what it becomes, and the end of\n * a row, by its number; of pairs the first, and each second with what both make; runs of one\n * combining class, first character << 8 | class."))
    for name, texts in TEXTS.items():
        assert END not in "".join(texts.values()) and ord(END) not in texts
        rows = lines((chr(c) + text + END for c, text in sorted(texts.items())), width=92)
        out.write(f"static const char *const {name}_text[] = {{\n" + "\n".join(map(quoted, rows)) + "\n};\n")
    out.write(f"static const uint32_t class_run[] = {{\n{runs({c: unicodedata.combining(chr(c)) for c in ALL}, 8)}\n}};\n")
