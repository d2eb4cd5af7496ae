"""Reading one value from a file, as the test data of ONNX models comes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

__all__ = ["read_value_file"]


def read_value_file(path: str | os.PathLike[str], kind: str) -> tuple[str, Any]:
    """Reads a serialized TensorProto, SequenceProto or OptionalProto.

    Args:
        path: The file.
        kind: "tensor", "sequence" or "optional".

    Returns:
        The name in the file and its value: an array, a list, or None for an empty optional.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds something else, or `kind` is none of the three.
    """
    data = Path(path).read_bytes()
    try:
        if kind == "tensor":
            tensor = onnx.TensorProto.FromString(data)
            return tensor.name, numpy_helper.to_array(tensor)
        if kind == "sequence":
            sequence = onnx.SequenceProto.FromString(data)
            return sequence.name, numpy_helper.to_list(sequence)
        if kind == "optional":
            optional = onnx.OptionalProto.FromString(data)
            return optional.name, numpy_helper.to_optional(optional)
    except (DecodeError, TypeError) as error:
        raise ValueError(str(error)) from error
    raise ValueError(f"{kind!r} is no kind of value")
