"""Faults planted into correct conversions: each must be caught, by the check that is meant for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.errors import PassFailedError, VerificationError
from mpgraph.passmgr import Facts, Pass, VerifyEach, run_pipeline
from mpgraph.runtime.checks import Original, check_converted
from mpgraph.runtime.compare import compare_models
from mpgraph.runtime.data import input_specs, load_data
from mpgraph.runtime.quantizers import take_account
from mpgraph.targets import get_target

F32, F16 = ir.DataType.FLOAT, ir.DataType.FLOAT16
TOLERANCE = 1e-2


def converted(name="mlp", **options):
    given = {"policy": "mixed_float16", "target": "cuda", "verify": "structure", **options}
    return mpgraph.convert(models.build(name), **given).model


def first(model, op_type):
    return next(node for node in ir.nodes(model) if node.op_type == op_type)


def drop_the_first_cast(model):
    cast = first(model, "Cast")
    cast.outputs[0].replace_all_uses_with(cast.inputs[0])
    cast.graph.remove(cast, safe=True)


def cast_to_another_dtype(model):
    first(model, "Cast").attributes["to"] = ir.AttrInt64("to", int(ir.DataType.DOUBLE))


def declare_an_output_wrongly(model):
    model.graph.outputs[0].type = ir.TensorType(F16)


def keep_a_stale_value_info(model):
    first(model, "Gemm").outputs[0].type = ir.TensorType(F32)


def leave_a_weight_wide(model):
    gemm = first(model, "Gemm")
    ir.set_constant(gemm.inputs[1], ir.tensor(gemm.inputs[1].const_value.numpy().astype("f4")))


def give_a_low_node_a_wide_operand(model):
    first(model, "Gemm").replace_input_with(0, model.graph.inputs[0])


INVALID = [
    drop_the_first_cast,
    cast_to_another_dtype,
    declare_an_output_wrongly,
    keep_a_stale_value_info,
    leave_a_weight_wide,
    give_a_low_node_a_wide_operand,
]


@pytest.mark.parametrize("fault", INVALID, ids=lambda fault: fault.__name__)
def test_a_type_error_is_caught_by_the_full_check(fault):
    model = converted()
    ir.check_model(model)
    fault(model)
    with pytest.raises(VerificationError):
        ir.check_model(model)


def forget_an_import(model):
    del model.opset_imports[""]


def put_a_cast_behind_its_consumer(model):
    cast = first(model, "Cast")
    graph = cast.graph
    consumer = cast.outputs[0].uses()[0].node
    graph.remove(cast)
    graph.insert_after(consumer, cast)


def declare_a_weight_wrongly(model):
    first(model, "Gemm").inputs[1].type = ir.TensorType(F32)


def name_two_values_alike(model):
    first(model, "Gemm").outputs[0].name = model.graph.inputs[0].name


def remove_a_producer(model):
    cast = first(model, "Cast")
    cast.graph.remove(cast)


def take_away_a_tensor(model):
    first(model, "Gemm").inputs[1].const_value = None


UNSOUND = [
    forget_an_import,
    put_a_cast_behind_its_consumer,
    declare_a_weight_wrongly,
    name_two_values_alike,
    remove_a_producer,
    take_away_a_tensor,
]


@pytest.mark.parametrize("fault", UNSOUND, ids=lambda fault: fault.__name__)
def test_a_broken_graph_is_caught_by_the_structural_check(fault):
    model = converted()
    ir.verify_structure(model)
    fault(model)
    with pytest.raises(VerificationError) as caught:
        ir.verify_structure(model)
    assert caught.value.where and caught.value.rule


def test_a_function_without_its_import_is_caught():
    model = converted("functions")
    next(iter(model.functions.values())).opset_imports.clear()
    with pytest.raises(VerificationError, match="import"):
        ir.verify_structure(model)


def test_an_inner_value_used_outside_its_branch_is_caught():
    model = converted("if_captures")
    inner = next(node for node in ir.nodes(model) if node.name == "/If/else/Softmax")
    outer = next(node for node in model.graph if node.name == "/Add")
    outer.replace_input_with(1, inner.outputs[0])
    with pytest.raises(VerificationError, match=r"scope|visible|defined"):
        ir.verify_structure(model)


def test_branches_that_disagree_are_caught():
    model = converted("if_captures", policy="float16")
    branch = next(node for node in model.graph if node.op_type == "If")
    graph = branch.attributes["else_branch"].as_graph()
    result = graph.outputs[0]
    graph.outputs[0] = ir.insert_cast(result, F32, ir.Namer(model), "test", "planted")
    with pytest.raises(VerificationError):
        check_converted(
            Original.of(ir.load(models.build("if_captures"))), model, get_target("cpu"), None
        )


def hand_a_consumer_another_value(model):
    """The types fit, the meaning does not."""
    relu = [node for node in model.graph if node.op_type == "Relu"]
    relu[1].replace_input_with(0, relu[0].outputs[0])


def swap_two_weights(model):
    gemms = [node for node in model.graph if node.op_type == "Gemm"]
    bias, other = gemms[0].inputs[2], gemms[1].inputs[2]
    gemms[0].replace_input_with(2, other)
    gemms[1].replace_input_with(2, bias)


def scale_a_weight(model):
    weight = first(model, "Gemm").inputs[1]
    values = weight.const_value.numpy() * np.float16(1.5)
    weight.const_value = ir.tensor(values, F16, name=weight.name)


def round_to_integers(model):
    """A rounding that nobody asked for."""
    cast = first(model, "Cast")
    namer = ir.Namer(model)
    uses = list(cast.outputs[0].uses())
    low = ir.insert_cast(cast.outputs[0], ir.DataType.INT8, namer, "test", "planted")
    ir.redirect(uses, ir.insert_cast(low, F16, namer, "test", "planted"))


MEANING = [
    hand_a_consumer_another_value,
    swap_two_weights,
    scale_a_weight,
    round_to_integers,
]


@pytest.mark.parametrize("fault", MEANING, ids=lambda fault: fault.__name__)
def test_another_meaning_is_caught_by_the_comparison(fault):
    original, model = ir.load(models.build("mlp")), converted()
    feeds = models.feeds("mlp")
    assert compare_models(original, model, feeds, emulate=True).max_relative < TOLERANCE
    fault(model)
    ir.verify_structure(model)
    ir.check_model(model)
    assert compare_models(original, model, feeds, emulate=True).max_relative > TOLERANCE


def quantized(name="mlp"):
    return mpgraph.convert(
        models.build(name), "int8_from_float32", data=models.feeds(name), verify="structure"
    ).model


def dequantizer_of(model, operand, op_type="Gemm"):
    return first(model, op_type).inputs[operand].producer()


def lose_a_zero_point(model):
    dequantizer_of(model, 0).replace_input_with(2, None)


def take_another_scale(model):
    gemms = [node for node in model.graph if node.op_type == "Gemm"]
    one, other = gemms[0].inputs[0].producer(), gemms[1].inputs[0].producer()
    one.replace_input_with(1, other.inputs[1])


def turn_scales_around(model):
    dequantizer = dequantizer_of(model, 1)
    scale = dequantizer.inputs[1]
    ir.set_constant(scale, ir.tensor(scale.const_value.numpy()[::-1].copy()))


def shift_a_bias(model):
    bias = dequantizer_of(model, 2).inputs[0]
    ir.set_constant(bias, ir.tensor(bias.const_value.numpy() * 2))


WRONG_NUMBERS = [lose_a_zero_point, take_another_scale, turn_scales_around, shift_a_bias]


@pytest.mark.parametrize("fault", WRONG_NUMBERS, ids=lambda fault: fault.__name__)
def test_wrong_quantized_numbers_are_caught_by_the_comparison(fault):
    original, model = ir.load(models.build("mlp")), quantized()
    feeds = models.feeds("mlp")
    assert compare_models(original, model, feeds).max_relative < TOLERANCE
    fault(model)
    ir.verify_structure(model)
    assert compare_models(original, model, feeds).max_relative > TOLERANCE


def forget_an_axis(model):
    dequantizer_of(model, 1).attributes["axis"] = ir.AttrInt64("axis", 0)


def spoil_the_scale_of_a_bias(model):
    scale = dequantizer_of(model, 2).inputs[1]
    ir.set_constant(scale, ir.tensor(scale.const_value.numpy() * np.float32(1.01)))


@pytest.mark.parametrize(
    ("fault", "code"), [(forget_an_axis, "MPG306"), (spoil_the_scale_of_a_bias, "MPG302")]
)
def test_bad_quantizers_are_caught_by_the_audit(fault, code):
    model = quantized()
    assert code not in {one.code for one in mpgraph.audit(model).hazards}
    fault(model)
    assert code in {one.code for one in mpgraph.audit(model).hazards}


def test_a_quantizer_that_nothing_fuses_is_caught_by_the_account():
    model = quantized()
    gemm = first(model, "Gemm")
    weight = dequantizer_of(model, 1)
    relu = ir.node("Abs", [weight.outputs[0]], name="planted")
    relu.outputs[0].name, relu.outputs[0].type = "planted_out", ir.TensorType(F32)
    gemm.graph.insert_before(gemm, relu)
    gemm.replace_input_with(1, relu.outputs[0])
    assert take_account(quantized(), get_target("cpu")).left == ()
    assert take_account(model, get_target("cpu")).left


def test_an_overflow_is_refused():
    original = ir.load(models.build("mlp"))
    data = load_data([{"x": np.full((3, 16), 1e5, np.float32)}], input_specs(original))
    with pytest.raises(VerificationError, match=r"NaN|infinite"):
        check_converted(Original.of(original), converted(), get_target("cpu"), data)


@dataclass(frozen=True)
class Careless(Pass):
    """A pass that leaves a broken graph behind."""

    name = "careless"

    def run(self, model, facts):
        put_a_cast_behind_its_consumer(model)
        return True


@dataclass(frozen=True)
class Crashing(Pass):
    """A pass that fails on its own."""

    name = "crashing"

    def run(self, model, facts):
        raise KeyError("nothing")


@pytest.mark.parametrize("fault", [Careless(), Crashing()], ids=lambda one: one.name)
def test_a_faulty_pass_is_named(fault):
    with pytest.raises(PassFailedError, match=fault.name):
        run_pipeline(converted(), [fault], Facts(), (VerifyEach(),))
