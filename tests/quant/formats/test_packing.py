"""Small integers in bytes, as onnx-ir packs them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import InputError
from mpgraph.quant.formats import CHUNK_ELEMENTS, pack, unpack

DTYPES = ("int2", "uint2", "int4", "uint4")


def random_values(dtype, shape):
    info = ml_dtypes.iinfo(getattr(ml_dtypes, dtype))
    whole = np.random.default_rng(1).integers(int(info.min), int(info.max) + 1, shape)
    return whole.astype(np.int8).astype(getattr(ml_dtypes, dtype))


@pytest.mark.parametrize(
    "shape", [(), (0,), (1,), (2,), (3,), (5,), (3, 5), (4, 6), (2, 0), (CHUNK_ELEMENTS + 3,)]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bytes_are_those_of_onnx_ir(dtype, shape):
    array = random_values(dtype, shape)
    packed = pack(array)
    assert packed.dtype == np.uint8
    assert packed.tobytes() == ir.Tensor(array).tobytes()
    back = unpack(packed, dtype, shape)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_onnx_ir_reads_packed_bytes(dtype):
    array = random_values(dtype, (3, 5))
    tensor = ir.PackedTensor(pack(array), ir.parse_dtype(dtype), shape=(3, 5))
    assert np.array_equal(tensor.numpy(), array)


def test_low_bits_come_first():
    array = np.array([1, -2, 7], np.int8).astype(ml_dtypes.int4)
    assert pack(array).tolist() == [0xE1, 0x07]
    assert pack(array[::-1]).tolist() == [0xE7, 0x01]


def test_what_is_refused():
    with pytest.raises(InputError, match="int8 is not packed"):
        pack(np.zeros(3, np.int8))
    with pytest.raises(InputError, match="2 bytes do not hold 5 of int4"):
        unpack(np.zeros(2, np.uint8), "int4", (5,))
