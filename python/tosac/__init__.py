# SPDX-License-Identifier: Apache-2.0
"""tosac: a quantizing ahead-of-time compiler for Arm machine-learning targets.

    import tosac
    result = tosac.compile(model, "ethos-u85-256", calibration=loader)
    result.save("model.pte")
    print(result.report())

A model is a path (.pt2, .tosa, .ir ...), a torch.nn.Module or a torch.export.ExportedProgram.  Torch is not needed unless
one of its objects is passed.
"""
from ._about import Board, Operator, Target, boards, ops, targets
from ._advise import Advice, AdviceFigures, AdviceItem, advise
from ._compile import Accuracy, Alternative, BoardMemory, Compiled, CpuNode, Explanation, Region, Verdict, compile, explain
from ._errors import (BugError, CancelledError, Diagnostic, ExportError, ModelError, OutOfMemoryError, ToolError, TosacError, TosacWarning,
                      UnsupportedError, UsageError)
from ._generate import Generated, Tokenizer, generate
from ._host import CPort, Emulated, EmulatedJob, HostProgram, emulate
from ._library import version as _version
from ._look import ComparedValue, Comparison, compare, describe, disassemble, inspect, verify
from ._model import Model, Node, Program, QuantizeReport, TypedModel, load, observe, quantize, run
from ._tensor import Port, Quantization

__version__ = _version()

__all__ = [
    "compile", "quantize", "observe", "run", "compare", "explain", "advise", "inspect", "describe", "disassemble", "verify", "load", "generate", "emulate", "targets", "boards", "ops",
    "Accuracy", "Advice", "AdviceFigures", "AdviceItem", "Compiled", "Explanation", "Region", "CpuNode", "Model", "TypedModel", "QuantizeReport", "Program", "Node", "Port", "Quantization",
    "Tokenizer", "Generated", "HostProgram", "CPort", "Emulated", "EmulatedJob", "Comparison", "ComparedValue", "Target", "Board", "BoardMemory", "Verdict", "Alternative", "Operator", "Diagnostic", "TosacError", "TosacWarning", "ModelError", "UsageError", "UnsupportedError", "ToolError",
    "OutOfMemoryError", "CancelledError", "BugError", "ExportError", "__version__",
]
