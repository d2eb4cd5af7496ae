"""Writes a decoder of any size to disk, with its weights as external data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx

from models.decoder_graph import DecoderOptions, WeightSpec, draft_decoder
from models.decoder_weights import weight_pieces

__all__ = ["save_decoder"]

_ALIGNMENT = 4096


def save_decoder(
    path: str | os.PathLike[str],
    layers: int = 12,
    hidden: int = 2048,
    ffn: int = 5504,
    vocabulary: int = 32000,
    *,
    heads: int = 16,
    positions: int = 512,
    norm: str = "rms",
    rotary: bool = True,
    tied: bool = False,
    opset: int = 17,
) -> Path:
    """Write a decoder as `path` and its weights as `path` + ".data"; return the path.

    The defaults make 2.95 GB of float32 weights. Memory stays at a few dozen megabytes whatever
    the size. See `DecoderOptions` for the options.

    Raises:
        ValueError: The options do not fit together.
        OSError: The files cannot be written.
    """
    options = DecoderOptions(
        layers, hidden, ffn, vocabulary, heads, positions, norm, rotary, tied, opset
    )
    draft, weights = draft_decoder(options)
    target = Path(path)
    data = target.with_name(f"{target.name}.data")
    with data.open("wb") as file:
        for spec in weights:
            offset = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
            file.seek(offset)
            for piece in weight_pieces(spec):
                file.write(piece.data)
            draft.initializers.append(_external(spec, data.name, offset))
    target.write_bytes(draft.model(opset).SerializeToString())
    return target


def _external(spec: WeightSpec, location: str, offset: int) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=spec.name, dims=spec.shape, data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    length = 4 * int(np.prod(spec.shape))
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor
