# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest

TOP = Path(__file__).resolve().parents[2]
DIGITS = TOP / "test" / "fixture" / "digits"


class Digits:
    model = str(DIGITS / "model.pt2")
    calib = str(DIGITS / "calib.npz")
    x = np.load(DIGITS / "test.npz")["x"]
    label = np.load(DIGITS / "test_label.npy")
    logits = np.load(DIGITS / "test_logits.npy")
    samples = np.load(DIGITS / "calib.npz")["x"]

    @classmethod
    def right(cls, logits):
        return (logits.argmax(1) == cls.label[: len(logits)]).mean()


@pytest.fixture(scope="session")
def digits():
    return Digits
