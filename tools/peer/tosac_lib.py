# SPDX-License-Identifier: Apache-2.0
"""tosac's library in this process: a file's bytes are read and run.  Just enough of it for tests, without the Python package."""
import ctypes
import os

import numpy as np

NUMPY = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_void_p), ("data", ctypes.c_void_p)]


def load(tosac):
    """The library beside a tosac that was built."""
    lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(tosac)), "libtosac.so"))
    p, size = ctypes.c_void_p, ctypes.c_size_t
    for name, returns, *takes in (("tc_ctx_new", p), ("tc_ctx_free", None, p), ("tc_diagnostics", ctypes.c_char_p, p),
                                  ("tc_ctx_set_threads", None, p, ctypes.c_int),
                                  ("tc_model_read", ctypes.c_int, p, ctypes.c_char_p, Bytes, p, ctypes.POINTER(p)),
                                  ("tc_program_new", ctypes.c_int, p, p, p, ctypes.POINTER(p)),
                                  ("tc_program_bind_input", ctypes.c_int, p, size, p), ("tc_program_run", ctypes.c_int, p),
                                  ("tc_program_result", Tensor, p, size), ("tc_program_input_count", size, p),
                                  ("tc_program_output_count", size, p), ("tc_type_bytes", size, p)):
        getattr(lib, name).restype, getattr(lib, name).argtypes = returns, takes
    return lib


def run(lib, name, data, feeds):
    """Every output's bytes, or why there are none."""
    ctx, model, program = lib.tc_ctx_new(), ctypes.c_void_p(), ctypes.c_void_p()
    try:
        lib.tc_ctx_set_threads(ctx, 1)
        held = ctypes.create_string_buffer(data, len(data))
        status = lib.tc_model_read(ctx, name.encode(), Bytes(ctypes.addressof(held), len(data)), None, ctypes.byref(model))
        status = status or lib.tc_program_new(ctx, model, None, ctypes.byref(program))
        if not status and lib.tc_program_input_count(program) != len(feeds):
            return f"{lib.tc_program_input_count(program)} inputs, expected {len(feeds)}"
        feeds = [np.ascontiguousarray(x) for x in feeds]
        for i, x in enumerate(feeds):
            status = status or lib.tc_program_bind_input(program, i, x.ctypes.data)
        status = status or lib.tc_program_run(program)
        if status:
            return (lib.tc_diagnostics(ctx) or b"").decode() or f"status {status}"
        out = [lib.tc_program_result(program, i) for i in range(lib.tc_program_output_count(program))]
        return [ctypes.string_at(t.data, lib.tc_type_bytes(t.type)) for t in out]
    finally:
        lib.tc_ctx_free(ctx)
