"""The weights of a decoder, made a piece at a time from one pool of normal values."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.decoder_graph import WeightSpec

__all__ = ["weight_pieces", "weight_values"]

_POOL_SIZE = 4_194_301
"""A prime, so that the repeats of the pool never line up with the rows of a weight."""

_PIECE = 1 << 20


def weight_pieces(spec: WeightSpec) -> Iterator[NDArray[np.float32]]:
    """Yield a weight's values in order, about 4 MiB at a time.

    The yielded array is reused: take what is needed before the next step. Values depend on the
    weight's name alone.
    """
    pool = _pool()
    position = zlib.crc32(spec.name.encode()) % _POOL_SIZE
    remaining = int(np.prod(spec.shape))
    buffer = np.empty(_PIECE, np.float32)
    while remaining:
        count = min(_PIECE, remaining, _POOL_SIZE - position)
        piece = buffer[:count]
        np.multiply(pool[position : position + count], np.float32(spec.scale), out=piece)
        if spec.offset:
            piece += np.float32(spec.offset)
        yield piece
        remaining -= count
        position = (position + count) % _POOL_SIZE


def weight_values(spec: WeightSpec) -> NDArray[np.float32]:
    """Return a weight as one array of `spec.shape`."""
    values = np.concatenate([piece.copy() for piece in weight_pieces(spec)])
    return values.reshape(spec.shape)


@lru_cache(maxsize=1)
def _pool() -> NDArray[np.float32]:
    return np.random.default_rng(29).standard_normal(_POOL_SIZE, dtype=np.float32)
