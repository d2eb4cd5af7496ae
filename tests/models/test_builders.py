"""Every builder: valid, deterministic, and computed by onnxruntime on its feeds."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import models

RUNNABLE = [name for name in models.builders() if name not in models.NOT_RUNNABLE]
DECODERS = [
    {},
    {"norm": "layer"},
    {"rotary": False, "tied": True},
    {"norm": "layer", "rotary": False},
    {"opset": 21},
]


def run(model, feeds):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return [session.run(None, feed) for feed in feeds]


def check_finite(results):
    for result in results:
        for array in result:
            if isinstance(array, np.ndarray) and array.dtype.kind == "f":
                assert np.isfinite(array).all()
                assert array.size


@pytest.mark.parametrize("name", models.builders())
def test_model_is_valid_and_deterministic(name):
    model = models.build(name)
    onnx.checker.check_model(model, full_check=name not in models.NOT_RUNNABLE)
    assert model.SerializeToString(deterministic=True) == models.build(name).SerializeToString(
        deterministic=True
    )


@pytest.mark.parametrize("name", RUNNABLE)
def test_model_runs_on_its_feeds(name):
    feeds = models.feeds(name)
    assert feeds
    check_finite(run(models.build(name), feeds))


@pytest.mark.parametrize("name", models.builders())
def test_feeds_fit_the_inputs_and_are_deterministic(name):
    inputs = {value.name for value in models.build(name).graph.input}
    for first, second in zip(models.feeds(name), models.feeds(name), strict=True):
        assert set(first) == inputs
        assert all(np.array_equal(first[key], second[key]) for key in inputs)


@pytest.mark.parametrize("options", DECODERS, ids=str)
def test_decoder_variants(options):
    model = models.build("decoder", **options)
    onnx.checker.check_model(model, full_check=True)
    check_finite(run(model, models.feeds("decoder")))


def test_decoder_is_causal():
    model = models.build("decoder")
    ids = np.arange(8, dtype=np.int64)[None]
    whole, prefix = run(model, [{"input_ids": ids}, {"input_ids": ids[:, :5]}])
    np.testing.assert_allclose(whole[0][:, :5], prefix[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "options", [{"norm": "batch"}, {"hidden": 30}, {"opset": 13}, {"heads": 32}], ids=str
)
def test_decoder_options_that_do_not_fit(options):
    with pytest.raises(ValueError):
        models.build("decoder", **options)


@pytest.mark.parametrize("length", [1, 10, 250])
def test_chain_has_the_length_and_the_mix_asked_for(length):
    model = models.build("chain", length=length, pinned=0.2, matmuls=0.1, residual_every=25)
    onnx.checker.check_model(model, full_check=True)
    kinds = [node.op_type for node in model.graph.node]
    assert len(kinds) == length
    assert abs(kinds.count("Softmax") - length * 0.2) <= max(1, length * 0.02)
    check_finite(run(model, models.feeds("chain")))


def test_chain_without_pins():
    kinds = {node.op_type for node in models.build("chain", pinned=0.0).graph.node}
    assert "Softmax" not in kinds
    assert "MatMul" not in kinds


def test_long_chain_stays_finite():
    check_finite(run(models.build("chain", length=2000, pinned=0.0), models.feeds("chain")))


def test_names_that_the_name_builders_promise():
    assert not any(node.name for node in models.build("unnamed").graph.node)
    across = models.build("duplicate_names")
    branch = across.graph.node[3].attribute[0].g
    assert across.graph.node[1].name == branch.node[1].name == "node_1"
    assert across.graph.node[0].name == across.graph.node[0].output[0]
    within = models.build("duplicate_names", within_graph=True)
    onnx.checker.check_model(within, full_check=True)
    assert len({node.name for node in within.graph.node}) == 1


def test_structures_that_the_builders_promise():
    outputs = {value.name for value in models.build("initializer_output").graph.output}
    initializers = {t.name for t in models.build("initializer_output").graph.initializer}
    assert {"weight", "table", "count"} <= outputs & initializers
    consumed = models.build("output_consumed").graph
    read = {name for node in consumed.node for name in node.input}
    assert {"hidden", "scores"} <= read & {value.name for value in consumed.output}
    functions = models.build("functions")
    assert [f.name for f in functions.functions] == ["Normalize", "Block"]
    assert [node.op_type for node in functions.graph.node].count("Block") == 2


def test_casts_rounds_to_float16():
    (feed,) = models.feeds("casts")
    rounded = {**feed, "x": feed["x"].astype(np.float16).astype(np.float32)}
    assert not np.array_equal(rounded["x"], feed["x"])
    (given, also) = run(models.build("casts"), [feed, rounded])
    np.testing.assert_array_equal(given[0], also[0])


def test_unknown_builder_suggests_the_nearest():
    with pytest.raises(ValueError, match="residual_cnn"):
        models.build("residual_cn")
    with pytest.raises(ValueError, match="nearest"):
        models.feeds("nothing like it")
