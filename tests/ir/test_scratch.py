"""Tensors that wait in a temporary file."""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
import weakref

import ml_dtypes
import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import OutputError


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.uint8, np.bool_])
def test_the_content_is_the_same_each_time(dtype):
    scratch = ir.Scratch()
    arrays = [np.arange(size).reshape(2, -1).astype(dtype) for size in (40_000, 20_000, 60_000)]
    held = [scratch.hold(ir.tensor(array, name="w")) for array in arrays]
    for _ in range(2):
        for array, tensor in zip(arrays, held, strict=True):
            assert isinstance(tensor, ir.LazyTensor)
            assert tensor.name == "w"
            np.testing.assert_array_equal(tensor.numpy(), array)
            assert tensor.tobytes() == array.tobytes()


def test_packed_integers_stay_packed():
    array = (np.arange(65_537) % 16 - 8).astype(ml_dtypes.int4)
    tensor = ir.Tensor(array, dtype=ir.DataType.INT4)
    held = ir.Scratch().hold(tensor)
    assert held.dtype == ir.DataType.INT4
    assert held.tobytes() == tensor.tobytes()
    np.testing.assert_array_equal(held.numpy().astype(np.int8), array.astype(np.int8))


def test_small_tensors_and_strings_are_left_in_memory():
    small = ir.tensor(np.ones(8, np.float32))
    strings = ir.StringTensor(["a" * 20_000], shape=ir.Shape([1]))
    scratch = ir.Scratch()
    assert scratch.hold(small) is small
    assert scratch.hold(strings) is strings


def test_memory_and_file_are_free_again():
    scratch = ir.Scratch()
    tracemalloc.start()
    try:
        held = [scratch.hold(ir.tensor(np.ones(1 << 20, np.float32))) for _ in range(4)]
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()
    assert held[3].numpy()[-1] == 1
    gone = weakref.ref(scratch)
    file = scratch._file
    del scratch, held
    gc.collect()
    assert gone() is None
    assert file.closed


def test_a_folder_that_cannot_be_written_is_named(monkeypatch):
    def refuse(**options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(OutputError, match=r"No space left on device \(free some space"):
        ir.Scratch().hold(ir.tensor(np.ones(1 << 16, np.float32)))
