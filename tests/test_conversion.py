"""The main job on every builder, under every policy, for every kind of target."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.errors import NothingQuantizedError
from mpgraph.runtime import create_session
from mpgraph.runtime.compare import compare_models
from tests.pipelines import POLICIES, casts
from tests.runtime.builders import build

TARGETS = ("cpu", "cuda", "webgpu")
TOLERANCE = {"float32": 1e-6, "float16": 1e-2, "bfloat16": 5e-2}
"""Largest error over the range of an output, by the lowest dtype."""


def convert(source, **options):
    return mpgraph.convert(source, **{"verify": "structure", **options})


def runs_on_cpu(model):
    """Whether the CPU provider can be expected to load a model made for another target."""
    return not any(
        value.dtype == ir.DataType.BFLOAT16
        for scope in ir.graphs(model)
        for node in scope.graph
        for value in node.outputs
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", models.builders())
def test_converted_models_are_valid_load_compute_the_same_and_stay(name, policy):
    original = ir.load(models.build(name))
    runnable = name not in models.NOT_RUNNABLE
    tolerance = TOLERANCE["float16" if name == "float16" else policy.removeprefix("mixed_")]
    tolerance = max(tolerance, TOLERANCE[policy.removeprefix("mixed_")])
    seen = set()
    for target, allow_slow in itertools.product(TARGETS, (False, True)):
        options = {"policy": policy, "target": target, "allow_slow": allow_slow}
        converted = convert(original, **options).model
        text = ir.print_model(converted)
        assert ir.print_model(convert(converted, **options).model) == text, options
        if text in seen:
            continue
        seen.add(text)
        if runnable:
            ir.check_model(converted)
        if runnable and (target == "cpu" or runs_on_cpu(converted)):
            create_session(converted, target="cpu")
        if runnable:
            compared = compare_models(original, converted, models.feeds(name), emulate=True)
            assert not compared.errors
            assert compared.max_relative < tolerance, options


@pytest.mark.parametrize("name", models.builders())
def test_the_given_model_is_not_changed(name):
    proto = models.build(name)
    model = ir.load(models.build(name))
    before, bits = ir.print_model(model), proto.SerializeToString(deterministic=True)
    convert(model, policy="float16", target="cuda")
    convert(proto, policy="float16", target="cuda")
    assert ir.print_model(model) == before
    assert proto.SerializeToString(deterministic=True) == bits


@pytest.mark.parametrize("name", sorted(set(models.builders()) - {"float16"}))
def test_a_float32_policy_changes_no_node_and_no_weight(name):
    model = ir.load(models.build(name))
    converted = convert(model, policy="float32", target="cuda").model

    def outline(one):
        nodes = [(node.op_type, len(node.inputs)) for node in ir.nodes(one)]
        tensors = [(tensor.name, tensor.dtype) for tensor in ir.all_tensors(one)]
        return nodes, tensors

    assert outline(converted) == outline(model)


def test_a_second_conversion_leaves_the_cast_of_an_output_whose_extents_are_only_named():
    model = build("g (float[2,256] x) => (float[n,m] y) { y = MatMul (x, w) }",
                  w=np.ones((256, 256), np.float32))  # fmt: skip
    once = convert(model, policy="float16", target="cuda").model
    again = convert(once, policy="float16", target="cuda").model
    assert casts(once)[-1][1:] == ("y", ir.DataType.FLOAT)
    assert ir.print_model(again) == ir.print_model(once)


@pytest.mark.parametrize("name", ["mlp", "if_captures", "loop_state", "functions", "sequences"])
def test_saved_and_loaded_it_is_the_same_model(name, tmp_path):
    result = convert(models.build(name), policy="mixed_float16", target="cuda")
    path = tmp_path / "converted.onnx"
    assert result.save(path) == (path,)
    loaded = ir.load(path)
    assert ir.fingerprint(loaded) == ir.fingerprint(result.model)
    again = convert(loaded, policy="mixed_float16", target="cuda").model
    assert ir.fingerprint(again) == ir.fingerprint(result.model)
    comparison = compare_models(models.build(name), path, models.feeds(name), emulate=True)
    assert comparison.max_relative < TOLERANCE["float16"]


def test_what_was_not_checked_is_not_called_invalid():
    checked = convert(models.build("mlp"), target="cuda").report
    assert checked.checked.valid is None
    assert checked.to_dict()["checks"]["valid"] is None


@pytest.mark.parametrize("name", ["mlp", "decoder", "residual_cnn", "scan_state"])
def test_measured_evidence_and_the_full_check(name):
    result = mpgraph.convert(
        models.build(name),
        policy="mixed_float16",
        target="cpu",
        data=models.feeds(name),
        allow_slow=True,
    )
    checked = result.report.checked
    assert checked.valid is True and checked.loaded == "cpu"
    assert checked.comparison.max_relative < TOLERANCE["float16"]
    assert result.plan.evidence == "measured"


@pytest.mark.parametrize(
    "name", ["mlp", "loop_state", "lstm", "initializer_output", "tied_weights"]
)
def test_a_free_interface_becomes_low(name):
    result = convert(models.build(name), policy="float16", target="webgpu", keep_io_types=False)
    ir.check_model(result.model)
    compared = compare_models(models.build(name), result.model, models.feeds(name), emulate=True)
    assert compared.max_relative < TOLERANCE["float16"]
    floats = [value.dtype for value in result.model.graph.inputs if value.dtype in ir.FLOATS]
    assert set(floats) <= {ir.DataType.FLOAT16}


@pytest.mark.parametrize("name", ["mlp", "shared_weights", "decoder", "if_captures"])
def test_storage_variable_keeps_every_weight(name):
    source = ir.load(models.build(name))
    result = convert(source, policy="mixed_float16", target="cuda", storage="variable")
    before = {tensor.name: tensor.dtype for tensor in ir.all_tensors(source)}
    assert {tensor.name: tensor.dtype for tensor in ir.all_tensors(result.model)} == before
    compared = compare_models(source, result.model, models.feeds(name), emulate=True)
    assert compared.max_relative < TOLERANCE["float16"]


def test_rules_are_followed_node_by_node():
    rules = {
        "op:Softmax": "float32",
        "name:/fc1/*": "float32",
        "/fc2/Gemm": "mixed_bfloat16",
    }
    result = convert(models.build("mlp"), policy=mpgraph.PolicyMap("float16", rules), target="cuda")
    flow = infer_types(result.model)
    dtypes = {node.name: flow.dtype(node.inputs[0]) for node in result.model.graph}
    assert dtypes["/fc0/Gemm"] == ir.DataType.FLOAT16
    assert dtypes["/fc1/Gemm"] == dtypes["/fc1/Relu"] == dtypes["/Softmax"] == ir.DataType.FLOAT
    assert dtypes["/fc2/Gemm"] == ir.DataType.BFLOAT16


def test_scopes_of_exporters_select_nodes():
    source = ir.load(models.build("scopes"))
    policy = mpgraph.PolicyMap("float32", {"scope:encoder/layers/1/**": "float16"})
    result = convert(source, policy=policy, target="cuda")
    low = {one.scope for one in result.plan.assignments if one.dtype == "float16"}
    inside = {ir.module_scope(node) for node in source.graph if "1" in ir.module_scope(node)}
    assert low == inside


def test_a_float16_weight_that_a_float32_policy_needs_is_widened_exactly():
    result = convert(models.build("float16"), policy="float32", target="cpu")
    compared = compare_models(
        models.build("float16"), result.model, models.feeds("float16"), emulate=True
    )
    assert compared.max_relative < TOLERANCE["float16"]
    assert [value.dtype for value in result.model.graph.outputs] == [ir.DataType.FLOAT16]


def test_a_fully_masked_softmax_stays_finite():
    text = """g (float[2,4] x, bool[2,4] keep) => (float[2,4] y) {
        s = MatMul (x, w) m = Where (keep, s, lowest) y = Softmax (m) }"""
    model = build(text, w=np.eye(4, dtype=np.float32), lowest=np.array(np.finfo(np.float32).min))
    feed = {"x": np.ones((2, 4), np.float32), "keep": np.array([[True] * 4, [False] * 4])}
    result = mpgraph.convert(model, policy="float16", target="cpu", data=[feed], allow_slow=True)
    assert result.report.checked.comparison.max_relative < TOLERANCE["float16"]


def test_everything_low_needs_casts_at_the_interface_only():
    result = convert(models.build("mlp"), policy="float16", target="cuda")
    assert [one[2] for one in casts(result.model)] == [ir.DataType.FLOAT16, ir.DataType.FLOAT]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"policy": "float17"}, mpgraph.PolicyError),
        ({"policy": "int9_from_float32"}, mpgraph.PolicyError),
        ({"policy": mpgraph.PolicyMap("float16", {"op:Softmx": "float32"})}, mpgraph.PolicyError),
        ({"policy": "float16", "target": "cude"}, mpgraph.TargetError),
        ({"policy": "float16", "data": [{"y": np.ones(3)}]}, mpgraph.DataError),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(options, error):
    with pytest.raises(error) as caught:
        convert(models.build("mlp"), **options)
    assert "\n" not in str(caught.value)


def test_a_model_that_needs_a_custom_library_is_converted_all_the_same():
    """onnxruntime loads neither the original nor the result without the library; that is said."""
    result = mpgraph.convert(models.build("custom_domain"), "mixed_float16", allow_slow=True)
    assert result.report.checked.loaded == ""
    assert "the original does not load either" in result.report.checked.not_loaded


def test_without_a_policy_the_global_one_is_taken():
    model = models.build("mlp")
    assert convert(model).plan.policy == "mixed_float16"
    with mpgraph.mixed_precision.policy_scope("bfloat16"):
        assert convert(model).plan.policy == "bfloat16"
    assert convert(model, policy="float32").plan.policy == "float32"


def test_the_placement_of_a_result_is_found_when_asked_for():
    result = convert(models.build("mlp"), target="cpu")
    placement = result.placement
    assert len(placement.nodes) == len(list(ir.nodes(result.model)))
    assert set(placement.nodes_by_provider) <= {"CPUExecutionProvider", ""}
    assert not placement.unexpected
    assert result.placement is placement


@pytest.mark.parametrize("name", ["mlp", "detector", "decoder", "residual_cnn", "lstm"])
def test_data_fits_inputs_that_become_low(name):
    feeds = models.feeds(name)
    result = mpgraph.convert(
        models.build(name),
        "mixed_float16",
        target="webgpu",
        data=feeds,
        keep_io_types=False,
        verify="load",
    )
    compared = compare_models(models.build(name), result.model, feeds, emulate=True)
    assert compared.max_relative < TOLERANCE["float16"]


@pytest.mark.parametrize("name", ["mlp", "residual_cnn"])
def test_ranges_are_found_with_inputs_that_become_low(name):
    feeds = models.feeds(name)
    result = mpgraph.convert(
        models.build(name),
        "int8_from_mixed_float16",
        target="tensorrt",
        data=feeds,
        keep_io_types=False,
        verify="structure",
    )
    assert result.quantization.forms["static"]
    assert {value.dtype for value in result.model.graph.inputs} & {ir.DataType.FLOAT16}


NOTHING_TO_QUANTIZE = {"chain"}
HARD_TO_QUANTIZE = {"empty_inputs", "functions", "lstm"}
"""Their weights are those of recurrent nodes, or operands of a function."""

QUANTIZED = (
    *("int8_from_float32", "int8_dynamic_from_float32", "int8_weight_from_float32"),
    *("int8_a16_from_float32", "uint4/16_from_float32", "float8_from_float32"),
    "int8_from_mixed_float16",
)


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize("policy", QUANTIZED)
@pytest.mark.parametrize("name", [one for one in models.builders() if one != "custom_domain"])
def test_quantized_models_are_valid_and_run(name, policy, with_data):
    feeds = models.feeds(name)
    given = feeds if with_data else None
    if name in NOTHING_TO_QUANTIZE:
        with pytest.raises(NothingQuantizedError, match="no node that multiplies by a weight"):
            mpgraph.convert(models.build(name), policy, data=given, allow_slow=True)
        return
    try:
        result = mpgraph.convert(models.build(name), policy, data=given, allow_slow=True)
    except NothingQuantizedError as error:
        assert name in HARD_TO_QUANTIZE, error
        return
    checked = result.report.checked
    assert checked.valid is True and checked.loaded == "cpu"
    compared = compare_models(models.build(name), result.model, feeds)
    assert not compared.errors
