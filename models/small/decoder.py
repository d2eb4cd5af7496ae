"""A decoder-only language model held in memory; `models.save_decoder` writes large ones."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.decoder_graph import DecoderOptions, draft_decoder
from models.decoder_weights import weight_values


def build(
    layers: int = 2,
    hidden: int = 32,
    ffn: int = 64,
    vocabulary: int = 100,
    heads: int = 4,
    positions: int = 32,
    norm: str = "rms",
    rotary: bool = True,
    tied: bool = False,
    opset: int = 17,
) -> onnx.ModelProto:
    """input_ids [batch, length] int64 -> logits [batch, length, vocabulary] float32.

    See `DecoderOptions` for the options.
    """
    options = DecoderOptions(
        layers, hidden, ffn, vocabulary, heads, positions, norm, rotary, tied, opset
    )
    draft, weights = draft_decoder(options)
    for spec in weights:
        draft.constant(spec.name, weight_values(spec))
    return draft.model(opset)


def feeds(
    vocabulary: int = 100, positions: int = 32, **_: object
) -> list[dict[str, NDArray[np.int64]]]:
    """Two batches of token ids, of different length."""
    random = np.random.default_rng(24)
    lengths = (min(5, positions), min(12, positions))
    return [{"input_ids": random.integers(0, vocabulary, (2, length))} for length in lengths]
