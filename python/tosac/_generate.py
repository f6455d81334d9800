# SPDX-License-Identifier: Apache-2.0
"""Language models: text to tokens and back, and text after text."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

from ._errors import usage
from ._library import Context, lib, n, record, text, utf8
from ._model import make_context, read_model
from ._data import is_path


class Tokenizer:
    """A tokenizer.json: `encode()` makes tokens of a text, `decode()` a text of tokens."""

    def __init__(self, path: Union[str, os.PathLike], _context: Optional[Context] = None):
        self._context, self._handle, self._path = _context or make_context(), ctypes.c_void_p(), os.fspath(path)
        self._context.call("tc_tokenizer_open", utf8(self._path), ctypes.byref(self._handle))

    def __len__(self) -> int:
        return lib.tc_tokenizer_size(self._handle)

    def find(self, token: str) -> Optional[int]:
        """The number of a token by its text, such as "<|endoftext|>"; None: there is none."""
        found = lib.tc_tokenizer_find(self._handle, utf8(token))
        return None if found < 0 else found

    def encode(self, string: str, special: bool = True) -> list[int]:
        """The tokens of a text; special: with those that the file puts around every text."""
        raw = string.encode()
        given = n.tc_bytes(ctypes.cast(ctypes.c_char_p(raw), ctypes.POINTER(ctypes.c_uint8)), len(raw))
        out, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_size_t()
        self._context.quick("tc_tokenizer_encode", self._handle, given, int(special), ctypes.byref(out), ctypes.byref(count))
        return out[:count.value] if count.value else []

    def decode(self, tokens: Sequence[int], continues: bool = False) -> str:
        """The text of tokens; continues: other text stands in front of it."""
        given, out = (ctypes.c_int64 * max(len(tokens), 1))(*tokens), n.tc_bytes()
        self._context.quick("tc_tokenizer_decode", self._handle, given, len(tokens), int(continues), ctypes.byref(out))
        return ctypes.string_at(out.data, out.size).decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"<tosac.Tokenizer {self._path}: {len(self)} tokens>"


@dataclass(frozen=True)
class Generated:
    """What was made behind a prompt, and what it took on this machine."""

    text: str
    tokens: list[int]
    context: Optional[int]  #: places that the caches have, where that is known
    windows: int  #: calls of the method that takes a window of tokens
    steps: int  #: and of the one that takes a single token
    seconds: float

    def __str__(self) -> str:
        return self.text


def _methods(program: Any, context: Context, prefer_tosa: bool) -> list[Any]:
    first = read_model(program, context, prefer_tosa=prefer_tosa)
    names = []
    while (name := lib.tc_model_method(first._handle, len(names))) is not None:
        names.append(text(name))
    if len(names) > 2:
        names = [m for m in names if m in ("prefill", "decode")]
    return [read_model(program, context, prefer_tosa=prefer_tosa, method=m) for m in names] or [first]


def generate(program: Any, tokenizer: Union[str, os.PathLike], prompt: Union[str, Sequence[int]], n_tokens: int = 64, *, temperature: float = 0,
             top_k: int = 0, seed: int = 0, stop: Optional[str] = "<|endoftext|>", context: int = 0, prefer_tosa: bool = False,
             on_text: Optional[Callable[[str], Any]] = None, threads: int = 0) -> Generated:
    """Continue a prompt with a language model: a path, bytes, or a Compiled program.

    Of a program with two methods the one that takes a single token makes the text, and the other reads the prompt, window by window.
    temperature: 0 always takes the most likely token; 1 samples by probability, among the `top_k` most likely
    stop: the token that ends a text.  on_text: told of every piece of text as it is made
    """
    if hasattr(program, "to_bytes"):
        program = program.to_bytes("pte+tosa" if program.target.startswith("ethos") else "pte")[0]
    elif not is_path(program) and not isinstance(program, (bytes, bytearray, memoryview)):
        raise usage(f"a {type(program).__name__} is no program", "give a path, bytes or what tosac.compile() returns")
    ctx = make_context(threads)
    words = Tokenizer(tokenizer, ctx)
    given = words.encode(prompt) if isinstance(prompt, str) else list(prompt)
    models = _methods(program, ctx, prefer_tosa)
    told = n.tc_on_token(lambda user, token: (on_text(words.decode([token], True)) if on_text else None, 0)[1])
    end = words.find(stop) if stop else None
    options = record(n.tc_generate_options, n_method=len(models), n_prompt=len(given), n=n_tokens, temperature=temperature, top_k=top_k, seed=seed,
                     stop=-1 if end is None else end, context=context, on_token=told)
    methods, tokens = (ctypes.c_void_p * len(models))(*(m._handle for m in models)), (ctypes.c_int64 * max(len(given), 1))(*given)
    options.method, options.prompt = ctypes.cast(methods, type(options.method)), ctypes.cast(tokens, type(options.prompt))
    out = record(n.tc_generated)
    ctx.quick("tc_generate", ctypes.byref(options), ctypes.byref(out))
    made = out.token[:out.n] if out.n else []
    return Generated(words.decode(made, True), made, out.context or None, out.windows, out.steps, out.window_seconds + out.step_seconds)
