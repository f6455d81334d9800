# SPDX-License-Identifier: Apache-2.0
"""stream.py -- the container of a command stream (.npz), its payload, and the names of commands and registers."""

from __future__ import annotations

import ast
import struct
import zipfile

import numpy as np


class Bad(Exception):
    """What is wrong with a file."""


def require(holds, words: str) -> None:
    if not holds:
        raise Bad(words)


def npy_raw(b):
    require(b[:6] == b"\x93NUMPY", "not an array of NumPy's")
    n = struct.unpack("<H", b[8:10])[0]
    o = 10
    if b[6] != 1:
        n = struct.unpack("<I", b[8:12])[0]
        o = 12
    return b[o : o + n].decode(), b[o + n :]


class Raw:
    def __init__(self, path):
        z = zipfile.ZipFile(path)
        self.v = {}
        for n in z.namelist():
            h, d = npy_raw(z.read(n))
            k = n[:-4]
            hd = ast.literal_eval(h)
            if hd["descr"].startswith("|S"):
                self.v[k] = d
            elif hd["descr"] == "<i8":
                self.v[k] = np.frombuffer(d, "<i8").reshape(hd["shape"])
            elif hd["descr"] == "<f8":
                self.v[k] = np.frombuffer(d, "<f8").reshape(hd["shape"])

    def __getitem__(self, k):
        return self.v[k]


def parse_payload(b):
    w = list(struct.unpack("<%dI" % (len(b) // 4), b[: len(b) // 4 * 4]))
    if b[:4] == b"COP2":
        require(w[4] == 1 and b[28:32] == b"VEUM", "the payload has an unknown entry")
        meta, size = (
            w[6],
            w[5],
        )  # metadata length counts from its tag on; the entry length from the metadata length word on
        at = 28 + meta
        return dict(
            version=w[1],
            config=w[10 - 0],
            id=w[11],
            features=w[12],
            staging=w[13] | w[14] << 32,
            stream_at=at,
            stream=w[at // 4 : (24 + size) // 4],
        )
    require(b[:4] == b"COP1", "the payload has an unknown tag")
    i = 1
    info = {}
    while i < len(w):
        a = w[i] & 0xFF
        if a == 1:
            info["version"] = w[i] >> 16
            info["config"] = w[i + 1]
            info["id"] = w[i + 2]
            i += 3
        elif a == 5:
            i += 1
        elif a == 2:
            n = (w[i] >> 16) | ((w[i] >> 8 & 0xFF) << 16)
            info["stream_at"] = (i + 1) * 4
            info["stream"] = w[i + 1 : i + 1 + n]
            i += 1 + n
        else:
            raise ValueError("action %d" % a)
    return info


CMD0 = {
    0: "OP_STOP",
    1: "OP_IRQ",
    2: "OP_CONV",
    3: "OP_DEPTHWISE",
    5: "OP_POOL",
    6: "OP_ELEMENTWISE",
    7: "OP_RESIZE",
    16: "OP_DMA_START",
    17: "OP_DMA_WAIT",
    18: "OP_KERNEL_WAIT",
    19: "OP_PMU_MASK",
    256: "IFM_PAD_TOP",
    257: "IFM_PAD_LEFT",
    258: "IFM_PAD_RIGHT",
    259: "IFM_PAD_BOTTOM",
    260: "IFM_DEPTH_M1",
    261: "IFM_PRECISION",
    263: "IFM_UPSCALE",
    264: "IFM_BROADCAST",
    265: "IFM_ZERO_POINT",
    266: "IFM_WIDTH0_M1",
    267: "IFM_HEIGHT0_M1",
    268: "IFM_HEIGHT1_M1",
    269: "IFM_IB_END",
    271: "IFM_REGION",
    273: "OFM_WIDTH_M1",
    274: "OFM_HEIGHT_M1",
    275: "OFM_DEPTH_M1",
    276: "OFM_PRECISION",
    277: "OFM_BLK_WIDTH_M1",
    278: "OFM_BLK_HEIGHT_M1",
    279: "OFM_BLK_DEPTH_M1",
    280: "OFM_ZERO_POINT",
    282: "OFM_WIDTH0_M1",
    283: "OFM_HEIGHT0_M1",
    284: "OFM_HEIGHT1_M1",
    287: "OFM_REGION",
    288: "KERNEL_WIDTH_M1",
    289: "KERNEL_HEIGHT_M1",
    290: "KERNEL_STRIDE",
    291: "PARALLEL_MODE",
    292: "ACC_FORMAT",
    293: "ACTIVATION",
    294: "ACTIVATION_MIN",
    295: "ACTIVATION_MAX",
    296: "WEIGHT_REGION",
    297: "SCALE_REGION",
    298: "RESIZE_X_SCALE_N_M1",
    299: "RESIZE_Y_SCALE_N_M1",
    300: "RESIZE_X_OFFSET",
    301: "RESIZE_Y_OFFSET|AB_START",
    302: "WEIGHT_FORMAT",
    303: "BLOCKDEP",
    304: "DMA0_SRC_REGION",
    305: "DMA0_DST_REGION",
    306: "DMA0_SIZE0",
    307: "DMA0_SIZE1",
    308: "DMA0_IDX_REGION",
    384: "IFM2_BROADCAST",
    385: "IFM2_SCALAR",
    389: "IFM2_PRECISION",
    393: "IFM2_ZERO_POINT",
    394: "IFM2_WIDTH0_M1",
    395: "IFM2_HEIGHT0_M1",
    396: "IFM2_HEIGHT1_M1",
    397: "IFM2_IB_START",
    399: "IFM2_REGION",
}
CMD1 = {
    0: "IFM_BASE0",
    1: "IFM_BASE1",
    2: "IFM_BASE2",
    3: "IFM_BASE3",
    4: "IFM_STRIDE_X",
    5: "IFM_STRIDE_Y",
    6: "IFM_STRIDE_C",
    16: "OFM_BASE0",
    17: "OFM_BASE1",
    18: "OFM_BASE2",
    19: "OFM_BASE3",
    20: "OFM_STRIDE_X",
    21: "OFM_STRIDE_Y",
    22: "OFM_STRIDE_C",
    32: "WEIGHT_BASE",
    33: "WEIGHT_LENGTH",
    34: "SCALE_BASE",
    35: "SCALE_LENGTH",
    36: "OFM_SCALE",
    37: "IFM_SCALE|OPA_SCALE",
    38: "IFM2_SCALE|OPB_SCALE",
    39: "OP_SCALAR",
    48: "DMA0_SRC",
    49: "DMA0_DST",
    50: "DMA0_LEN",
    51: "DMA0_SRC_STRIDE0|SKIP0",
    52: "DMA0_SRC_STRIDE1|SKIP1",
    53: "DMA0_DST_STRIDE0",
    54: "DMA0_DST_STRIDE1",
    55: "DMA0_IDX",
    56: "DMA0_IDX_MAX",
    57: "DMA0_IDX_SKIP1",
    128: "IFM2_BASE0",
    129: "IFM2_BASE1",
    130: "IFM2_BASE2",
    131: "IFM2_BASE3",
    132: "IFM2_STRIDE_X",
    133: "IFM2_STRIDE_Y",
    134: "IFM2_STRIDE_C",
    144: "WEIGHT1_BASE",
    145: "WEIGHT1_LENGTH",
    146: "WEIGHT2_BASE|SCALE1_BASE",
    147: "WEIGHT2_LENGTH|SCALE1_LENGTH",
    148: "WEIGHT3_BASE",
    149: "WEIGHT3_LENGTH",
    150: "RESIZE_X_STEP",
    151: "RESIZE_Y_STEP",
    256: "OP_BRANCH",
}
POOL = ["MAX", "AVERAGE", "REDUCE_SUM", "SUM", "NONE", "MIN", "ARGMAX_X", "ARGMAX_Y"]
EW = {
    0: "MUL",
    1: "ADD",
    2: "SUB",
    3: "MIN",
    4: "MAX",
    5: "LRELU",
    6: "ABS",
    7: "CLZ",
    8: "SHR",
    9: "SHL",
    10: "LSR",
    11: "DIV",
    16: "CMP_EQ",
    17: "CMP_NE",
    18: "CMP_GE",
    19: "CMP_GT",
    33: "AND",
    34: "OR",
    35: "XOR",
    36: "NOT",
    42: "AND_NOT",
}


def sx(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v
