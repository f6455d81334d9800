# SPDX-License-Identifier: Apache-2.0
"""Writes test/fixture/tokenizer: small tokenizers of every kind, trained here, and what Hugging Face's tokenizers make of
texts in many scripts, which test/unit/tokenizer.c compares.        tokenizer_cases.py FOLDER
With a number instead of a folder, so many random texts are tried beside the library: tokenizer_cases.py N LIBRARY
"""
import base64
import ctypes
import json
import os
import random
import sys
import tempfile
import zlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders as D, models, normalizers as N, pre_tokenizers as P, processors as R, trainers

TEXTS = ["Hello, world!", "  two  spaces ", "I'm we've DON'T can't 'S", "naïve café Ångström ﬁ ½ ² ①", "Ελληνικά ΣΊΣΥΦΟΣ", "Привет мир Ёлка",
         "日本語のテキスト 漢字", "한국어 각", "مُحَمَّد", "क्षेत्र", "ไทยภาษา", "עִברִית", "😀👨‍👩‍👧 🇩🇪", "tabs\tand\nnew\r\nlines\n\n\n  x", "1234567 3.14 १२३ ⅷ",
         "a_b c-d e.f@g.com http://x.y/z?q=1", "ＦＵＬＬ　ｗｉｄｔｈ", "İstanbul ıI ß ẞ ǅ", "A\u030a e\u0301\u0323 o\u0323\u0302", "\u1e9b\u0323 \ufb00 \u2126 \u212b",
         "x\ufffdz\u200b\u200d\ufeff", "\u00a0nbsp\u3000ideo", "", "   ", "[MASK] <s> </s> text [MASK]  b", "foo<mask>bar <mask> x word xword", "a  <sp>  b",
         "\U0001d400\U0001d7d8 \U0002f800", "㎏ ㋿", "don't do not I 'm it 's . ? !", "CamelCaseHTTPServer2x", "Việt Nam tiếng Việt"]
POOLS = [range(0x20, 0x7F), range(0xA0, 0x250), range(0x300, 0x370), range(0x370, 0x530), range(0x590, 0x700), range(0x900, 0xE80), range(0x1100, 0x1200),
         range(0x1E00, 0x2200), range(0x3000, 0x3100), range(0xAC00, 0xAD00), range(0x4E00, 0x4E80), range(0xF900, 0xFB50), range(0xFF00, 0xFFF0),
         range(0x1F600, 0x1F650), [32, 9, 10, 13, 0xA0, 0x3000, 0x2003]]
ADDED = [AddedToken("<mask>", lstrip=True, special=True), AddedToken("[MASK]", rstrip=True, normalized=True), AddedToken("<sp>", lstrip=True, rstrip=True),
         AddedToken("word", single_word=True)]
SPECIAL = ["<unk>", "<s>", "</s>"]
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200 = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
POSSESSIVE = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
# a table of SentencePiece's trainer, of eleven rules (U+212B, U+FB01, line ends, A and e with their marks, ...)
CHARSMAP = zlib.decompress(base64.b64decode(
    "eNol03nQTlUYAPDne2kMM2b6M2LGUspSkWTJEqXGlspWRJE1Y99leT+RNXv2PWVfsmfnK8KHsi/ZGTVDypK9/N7cOb/73Oc5z8w9d849kTUi8kVkzx6R44mItIhkZr5E5MwVMUyeI5VHItJzRhjJgc"
    "sTseiFiFmSLPLFHRORzEq1iHT92dS2iK6kkFzttiEzEU8pPE1u8pKHMeobbyYi/+MlREEK8CzP8ByFKMzzFKUIXh/FeIkXKUFxSvIypXiF0rxKWcrwGuWoQHkqUZHKvM4bVKEqb/I2b1Et1eMba4jV"
    "qUVNavMO7/EudXifetSlAfX5kA9oREMa8xEf04SmfMKnNKMFzWlFS9rQmrZ8RrtUz9xEdBDb04mOdKEz3ehKD7rTi558Tm/60of+9CM9tVl8wQAGMZDBfMlQhjCcYXzFCEYxMrWPjGYcY/ma8UxkAp"
    "OZxFSmMJ1pzGQGs5nFN8zhW+Yyj+9YwHwWsZAlLGYZS/me5axkBatZxVrW8APr2MB6NrGRLWxmG1vJYDs/8SM72cEufmYPu9lLJvvZx6/8wkEOcJhDHOUIxznGSU5wit84w2nOcZYLnOcSF7nMtSfT"
    "4g/x99Tc+LS4cCUtrnq+kprjT/7mL25wnVvc5Db/cJc73OceD3nAf/wb/x++En7alm0iY1BkLIhHi3GXGw=="))
bytes_only = P.ByteLevel(add_prefix_space=False, use_regex=False)

# model, normalizer, pre-tokenizer, decoder, what stands around a text, settings of the model
KINDS = {
    "bert": ("piece", N.BertNormalizer(), P.BertPreTokenizer(), D.WordPiece(), "bert", {}),
    "bert_cased": ("piece", N.BertNormalizer(lowercase=False), P.BertPreTokenizer(), D.WordPiece(cleanup=False), "template", {}),
    "nfkc_lower_accents": ("piece", N.Sequence([N.NFKC(), N.Lowercase(), N.StripAccents()]), P.Whitespace(), D.WordPiece(), None, {}),
    "nfd_strip": ("piece", N.Sequence([N.NFD(), N.StripAccents(), N.Strip()]), P.Sequence([P.WhitespaceSplit(), P.Punctuation()]), D.WordPiece(), None, {}),
    "gpt2": ("bytes", None, P.ByteLevel(add_prefix_space=True), D.ByteLevel(), None, {}),
    "gpt4": ("bytes", N.NFC(), P.Sequence([P.Split(Regex(GPT4), "isolated"), bytes_only]), D.ByteLevel(), None, {}),
    "o200": ("bytes", None, P.Sequence([P.Split(Regex(O200), "isolated"), bytes_only]), D.ByteLevel(), None, {}),
    "possessive": ("bytes", None, P.Sequence([P.Split(Regex(POSSESSIVE), "removed", invert=True), bytes_only]), D.ByteLevel(), None, {}),
    "falcon": ("bytes", None, P.Sequence([P.Punctuation("contiguous"), P.ByteLevel(add_prefix_space=False), P.Digits(), P.Split(Regex("[0-9][0-9][0-9]"), "isolated")]),
               D.ByteLevel(), None, {}),
    "llama": ("pairs", N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]), None, D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]),
              "template", {"byte_fallback": True, "fuse_unk": True}),
    "metaspace": ("pairs", N.NFKC(), P.Metaspace(prepend_scheme="always"), D.Metaspace(), None, {}),
    "metaspace_first": ("pairs", None, P.Metaspace(prepend_scheme="first", split=False), D.Metaspace(prepend_scheme="first"), None, {"fuse_unk": True}),
    "unigram": ("scores", N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")]), P.Metaspace(), D.Metaspace(), "template", {}),
    "charsmap": ("scores", N.Sequence([N.Precompiled(CHARSMAP), N.Replace(Regex(" {2,}"), " ")]), P.Metaspace(), D.Metaspace(), None, {}),
    "unigram_words": ("scores", N.NFKD(), P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="never")]), D.Metaspace(prepend_scheme="never"), None, {}),
    "clip": ("pairs", N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]),
             P.Split(Regex(r"<\|startoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True), D.BPEDecoder(), None,
             {"end_of_word_suffix": "</w>"}),
    "words": ("words", N.Lowercase(), P.Whitespace(), None, None, {}),
    "merged": ("pairs", None, P.Sequence([P.Digits(True), P.CharDelimiterSplit("e"), P.Split(Regex(r"\p{P}"), "merged_with_next"), P.Split(" ", "merged_with_previous")]),
               D.Fuse(), None, {}),
}


def trained(kind, corpus, size):
    model, normalizer, splitter, decoder, around, settings = kind
    common = {"special_tokens": SPECIAL, "show_progress": False}
    if model == "pairs":
        t, trainer = Tokenizer(models.BPE(unk_token="<unk>", **settings)), trainers.BpeTrainer(vocab_size=size, limit_alphabet=size // 2, **common)
    elif model == "bytes":
        t, trainer = Tokenizer(models.BPE()), trainers.BpeTrainer(vocab_size=size + 256, initial_alphabet=P.ByteLevel.alphabet(), **common)
    elif model == "piece":
        t, trainer = Tokenizer(models.WordPiece(unk_token="<unk>")), trainers.WordPieceTrainer(vocab_size=size, limit_alphabet=size // 2, **common)
    elif model == "scores":
        t, trainer = Tokenizer(models.Unigram()), trainers.UnigramTrainer(vocab_size=max(size, 1000), unk_token="<unk>", **common)
    else:
        t, trainer = Tokenizer(models.WordLevel(unk_token="<unk>")), trainers.WordLevelTrainer(vocab_size=size, **common)
    if normalizer:
        t.normalizer = normalizer
    if splitter:
        t.pre_tokenizer = splitter
    if decoder:
        t.decoder = decoder
    t.train_from_iterator(corpus, trainer)
    ids = {name: t.token_to_id(name) for name in SPECIAL}
    if around == "template":
        t.post_processor = R.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", ids["<s>"]), ("</s>", ids["</s>"])])
    elif around == "bert":
        t.post_processor = R.BertProcessing(("</s>", ids["</s>"]), ("<s>", ids["<s>"]))
    for token in ADDED:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    return t


def record(folder):
    for name, kind in KINDS.items():
        t = trained(kind, [x for x in TEXTS if x.isascii() or "é" in x or "м" in x] * 2 if kind[0] == "scores" else TEXTS * 2, 200)
        rows = []
        for text in TEXTS:
            ids = t.encode(text).ids
            rows.append({"text": text, "ids": ids, "decoded": t.decode(ids, skip_special_tokens=False)})
        parts = json.loads(t.to_str())
        json.dump({"cases": rows} | parts, open(f"{folder}/{name}.json", "w"), ensure_ascii=False, separators=(",", ":"))


def random_text(dice):
    text = ""
    for _ in range(dice.randint(1, 6)):
        pool = dice.choice(POOLS)
        text += "".join(chr(dice.choice(pool)) for _ in range(dice.randint(1, 6))) + dice.choice(["", " "])
        text += dice.choice(["<mask>", " <mask> ", "[MASK]", " <sp>  ", "word", "xword"]) if dice.random() < 0.1 else ""
    return text


class Span(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def beside(count, library):
    lib = ctypes.CDLL(library)
    lib.tc_ctx_new.restype, lib.tc_diagnostics.restype = ctypes.c_void_p, ctypes.c_char_p
    lib.tc_tokenizer_encode.argtypes = [ctypes.c_void_p, ctypes.c_void_p, Span, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    lib.tc_tokenizer_decode.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    dice = random.Random(1)
    corpus, texts = TEXTS * 3 + [random_text(dice) for _ in range(300)], TEXTS + [random_text(dice) for _ in range(count)]
    wrong = 0
    for name, kind in KINDS.items():
        t, ctx, ours = trained(kind, corpus, 3000), ctypes.c_void_p(lib.tc_ctx_new()), ctypes.c_void_p()
        with tempfile.TemporaryDirectory() as folder:
            t.save(f"{folder}/t.json")
            if lib.tc_tokenizer_open(ctx, f"{folder}/t.json".encode(), ctypes.byref(ours)):
                print(name, "refused:", lib.tc_diagnostics(ctx).decode())
                wrong += 1
                continue
        encoded = decoded = 0
        for text in texts:
            raw, ids, n, back = ctypes.create_string_buffer(text.encode()), ctypes.POINTER(ctypes.c_int64)(), ctypes.c_size_t(), Span()
            lib.tc_tokenizer_encode(ctx, ours, Span(ctypes.addressof(raw), len(raw) - 1), 1, ctypes.byref(ids), ctypes.byref(n))
            want, got = t.encode(text).ids, [ids[i] for i in range(n.value)]
            encoded += got == want
            lib.tc_tokenizer_decode(ctx, ours, (ctypes.c_int64 * len(want))(*want), len(want), 0, ctypes.byref(back))
            said = ctypes.string_at(back.data, back.size).decode("utf-8", "replace")
            decoded += said == t.decode(want, skip_special_tokens=False)
            if got != want:
                print(f"  {name} {text!a}: {want}, got {got}")
        print(f"{name}: {encoded} of {len(texts)} alike, {decoded} back")
        wrong += 2 * len(texts) - encoded - decoded
    sys.exit(wrong != 0)


if len(sys.argv) == 3:
    beside(int(sys.argv[1]), os.path.abspath(sys.argv[2]))
record(sys.argv[1])
