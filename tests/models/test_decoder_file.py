"""Decoders written to disk hold the same weights as those in memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import onnx
import onnxruntime as ort

import models

SMALL = {"layers": 2, "hidden": 32, "ffn": 64, "vocabulary": 100, "heads": 4, "positions": 32}


def test_file_equals_the_model_in_memory(tmp_path):
    path = models.save_decoder(tmp_path / "decoder.onnx", **SMALL)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["decoder.onnx", "decoder.onnx.data"]
    onnx.checker.check_model(str(path), full_check=True)
    loaded = onnx.load(path)
    built = {t.name: t for t in models.build("decoder", **SMALL).graph.initializer}
    assert {t.name for t in loaded.graph.initializer} == set(built)
    for tensor in loaded.graph.initializer:
        np.testing.assert_array_equal(
            onnx.numpy_helper.to_array(tensor), onnx.numpy_helper.to_array(built[tensor.name])
        )


def test_file_runs(tmp_path):
    path = models.save_decoder(tmp_path / "decoder.onnx", **SMALL, norm="layer", tied=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for feed in models.feeds("decoder"):
        (logits,) = session.run(None, feed)
        assert np.isfinite(logits).all()


def test_external_offsets_are_aligned_and_within_the_file(tmp_path):
    path = models.save_decoder(tmp_path / "decoder.onnx", **SMALL)
    size = (tmp_path / "decoder.onnx.data").stat().st_size
    for tensor in onnx.load(path, load_external_data=False).graph.initializer:
        fields = {entry.key: entry.value for entry in tensor.external_data}
        if fields:
            assert int(fields["offset"]) % 4096 == 0
            assert int(fields["offset"]) + int(fields["length"]) <= size


def test_memory_does_not_grow_with_the_weights(tmp_path):
    models.save_decoder(tmp_path / "warm.onnx", **SMALL)
    tracemalloc.start()
    try:
        path = models.save_decoder(
            tmp_path / "wide.onnx", layers=1, hidden=512, ffn=2048, vocabulary=20000
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.with_name("wide.onnx.data").stat().st_size > 90_000_000
    assert peak < 24_000_000
