# SPDX-License-Identifier: Apache-2.0
"""Language models: tokens, two methods of one program, text after text."""
import numpy as np
import pytest
import tosac
from conftest import TOP

DECODER = TOP / "test" / "fixture" / "decoder"
MADE = np.loadtxt(DECODER / "made.txt", dtype=np.int64).tolist()


@pytest.fixture(scope="module")
def program():
    prefill = tosac.compile(DECODER / "prefill.pt2", "cpu", method="prefill")
    return tosac.compile(DECODER / "decode.pt2", "cpu", method="decode", beside=prefill)


def test_tokens():
    tokenizer = tosac.Tokenizer(DECODER / "tokenizer.json")
    assert len(tokenizer) == 384 and tokenizer.find("<|endoftext|>") == 0 and tokenizer.find("no such token") is None
    for text in ("The program ", "naïve 日本 😀", ""):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_greedy_text_is_that_of_torch(program):
    told = []
    made = tosac.generate(program, DECODER / "tokenizer.json", "The program ", 40, on_text=told.append)
    start = len(tosac.Tokenizer(DECODER / "tokenizer.json").encode("The program "))
    assert made.tokens == MADE[start:start + 40] and "".join(told) == made.text
    assert (made.windows, made.steps, made.context) == (1, 39, 64)


def test_a_long_prompt_goes_through_windows(program, tmp_path):
    program.save(tmp_path / "lm.pte")
    made = tosac.generate(tmp_path / "lm.pte", DECODER / "tokenizer.json", MADE[:40], 20)
    assert made.tokens == MADE[40:60] and made.windows == 3


def test_one_method_of_a_program(program, tmp_path):
    program.save(tmp_path / "lm.pte")
    assert [p.shape for p in tosac.load(tmp_path / "lm.pte", method="prefill").inputs][0] == (1, 16)
    with pytest.raises(tosac.ModelError, match="no method 'other'"):
        tosac.load(tmp_path / "lm.pte", method="other")


def test_what_is_no_language_model():
    with pytest.raises(tosac.ModelError, match="not a language model"):
        tosac.generate(TOP / "test" / "fixture" / "digits" / "model.pt2", DECODER / "tokenizer.json", "a")
