"""Products of small integers by onnxruntime, which uses the instructions that processors have for them; numpy has none.

The model is one node, spelled in protobuf by hand: importing `onnx` for it takes a quarter of a second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_UINT8, _INT8, _INT32 = 2, 3, 6  # as ONNX numbers types
LARGEST = 127
LARGEST_ASKED = 63
"""Of a question: processors without such instructions add two products in sixteen bits, and 2 · 127 · 127 is the most that fits."""
_ZERO = LARGEST_ASKED + 1  # what onnxruntime is to take for 0 in a question, which it wants without signs


class IntegerProduct:
    """(d, n) codes, kept as onnxruntime likes them: n · d bytes. Threads may share it."""

    def __init__(self, codes: NDArray[np.int8]) -> None:
        """`codes`: (d, n), -127 to 127."""
        import onnxruntime  # a tenth of a second that only an index which is asked again needs

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it would hold twice as much
        options.log_severity_level = 3
        # Beside the model, which the session keeps a copy of.
        options.add_external_initializers(["codes"], [onnxruntime.OrtValue.ortvalue_from_numpy(codes)])
        self._session = onnxruntime.InferenceSession(_model(*codes.shape), options, providers=["CPUExecutionProvider"])

    def __call__(self, questions: NDArray[np.int8]) -> NDArray[np.int32]:
        """(k, n). `questions`: (k, d), -63 to 63."""
        product: NDArray[np.int32] = self._session.run(None, {"questions": (questions + np.int8(_ZERO)).astype(np.uint8)})[0]
        return product


def _model(size: int, count: int) -> bytes:
    node = _field(1, "questions") + _field(1, "codes") + _field(1, "zero") + _field(2, "product") + _field(4, "MatMulInteger")
    elsewhere = _field(13, _field(1, "location") + _field(2, "elsewhere")) + _field(14, 1)
    codes = _field(1, size) + _field(1, count) + _field(2, _INT8) + _field(8, "codes") + elsewhere
    zero = _field(2, _UINT8) + _field(8, "zero") + _field(9, bytes([_ZERO]))
    graph = _field(1, node) + _field(2, "product") + _field(5, codes) + _field(5, zero)
    graph += _field(11, _value("questions", _UINT8, ("k", size))) + _field(12, _value("product", _INT32, ("k", count)))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = b"".join(_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, sizes)))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    encoded = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(encoded)) + encoded


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > LARGEST:
        digits.append(value & LARGEST | 128)
        value >>= 7
    return bytes([*digits, value])
