"""What the rewriting passes do to a graph, case by case."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir
import pytest

import models
from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts
from mpgraph.plan import Plan
from mpgraph.policy import PolicyMap
from mpgraph.schema import is_tensor
from tests.pipelines import APPLY, DECIDE, applied, casts, given, run
from tests.runtime.builders import build

F32, F16, BF16 = ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16


def graph_of(model, op_type):
    """The graph in which the only node of a type stands."""
    (found,) = [node for node in ir.nodes(model) if node.op_type == op_type]
    return found.graph


def rules(**by_op):
    return PolicyMap("float32", {f"op:{op}": policy for op, policy in by_op.items()})


def initializers(model):
    return {
        name: value.const_value.dtype
        for scope in ir.graphs(model)
        for name, value in scope.graph.initializers.items()
    }


class TestInsertCasts:
    def test_a_fan_out_shares_one_cast_per_dtype(self):
        model = ir.load(models.build("fan_out", consumers=64))
        applied(model, policy=rules(MatMul="float16", Exp="bfloat16"))
        source = next(node for node in model.graph if node.name == "/source/MatMul").outputs[0]
        made = [node for node in model.graph if node.op_type == "Cast"]
        behind = [node for node in made if node.inputs[0] is source]
        assert len(behind) == 2
        assert {node.attributes["to"].as_int() for node in behind} == {int(F32), int(BF16)}

    def test_a_cast_stands_right_behind_what_it_casts(self):
        model = build(
            "g (float[4] x) => (float[4] y) { a = Relu (x) b = Neg (x) c = Abs (b) y = Add (a, c) }"
        )
        applied(model, policy=rules(Relu="float16"))
        assert [node.op_type for node in model.graph] == [
            "Cast", "Relu", "Cast", "Neg", "Abs", "Add",
        ]  # fmt: skip

    def test_public_names_stay_where_they_were(self):
        model = ir.load(models.build("output_consumed"))
        facts = applied(model, policy="float16")
        assert [value.name for value in model.graph.outputs] == ["hidden", "scores", "copy", "y"]
        assert {value.dtype for value in model.graph.outputs} == {F32}
        assert len({id(value) for value in model.graph.outputs}) == 4
        assert facts.get(Plan).casts

    def test_one_value_that_is_two_outputs_and_an_operand(self):
        model = build("g (float[2] x) => (float[2] y, float[2] z) { y = Relu (x) z = Neg (y) }")
        model.graph.outputs.append(model.graph.outputs[0])
        applied(model, policy="float16")
        first, _, last = model.graph.outputs
        assert first is last and first.name == "y" and first.dtype == F32
        ir.verify_structure(model)

    def test_an_input_that_is_an_output_is_left_alone(self):
        model = build("g (float[2] x) => (float[2] y) { y = Relu (x) }")
        model.graph.outputs.append(model.graph.inputs[0])
        applied(model, policy="float16")
        assert model.graph.outputs[1] is model.graph.inputs[0]

    def test_casts_of_a_captured_value_stand_in_its_own_graph(self):
        model = ir.load(models.build("if_captures"))
        applied(model, policy="mixed_float16")
        for node in ir.nodes(model):
            if node.op_type == "Cast":
                assert node.inputs[0].graph is node.graph

    def test_a_carried_value_stays_one_dtype(self):
        model = ir.load(models.build("loop_state"))
        applied(model, policy="float16", target="webgpu")
        loop = next(node for node in model.graph if node.op_type == "Loop")
        body = loop.attributes["body"].as_graph()
        carried = {loop.inputs[2].dtype, body.inputs[2].dtype, body.outputs[1].dtype}
        assert len(carried) == 1

    def test_a_function_is_cast_inside(self):
        model = ir.load(models.build("functions"))
        applied(model, policy="mixed_float16")
        for function in model.functions.values():
            for node in function:
                if node.op_type == "Cast":
                    assert node.graph is function.graph
                    assert ir.origin(node)[0] == "insert-casts"

    @pytest.mark.parametrize("name", ["sequences", "optionals"])
    def test_nothing_casts_a_sequence_or_an_optional(self, name):
        model = ir.load(models.build(name))
        applied(model, policy="float16")
        flow = infer_types(model)
        for node in ir.nodes(model):
            if node.op_type == "Cast":
                assert is_tensor(flow.type(node.inputs[0]))

    def test_free_interface(self):
        model = ir.load(models.build("mlp"))
        facts = given("float16", "cuda")
        run(
            model,
            f"infer-dtypes,assign-policy{{keep-io-types=false}},{DECIDE.split(',', 2)[2]}",
            facts,
        )
        run(model, APPLY, facts)
        assert {value.dtype for value in (*model.graph.inputs, *model.graph.outputs)} == {F16}
        assert not casts(model)

    @pytest.mark.parametrize(
        ("text", "name", "expected"),
        [
            ("y = RandomNormal <shape = [2]> ()", "dtype", int(F16)),
            ("y = RandomUniformLike <dtype = 1> (x)", "dtype", int(F16)),
        ],
    )
    def test_the_attribute_that_names_a_dtype_follows(self, text, name, expected):
        model = build(f"g (float[2] x, float[2,2] m) => (float y) {{ r = Relu (x) {text} }}")
        op_type = model.graph[1].op_type
        applied(model, policy=rules(**{op_type: "float16"}), target="cuda")
        node = next(one for one in model.graph if one.op_type == op_type)
        assert node.attributes[name].as_int() == expected
        assert node.outputs[0].dtype == F16

    def test_the_fill_of_a_constant_of_shape_follows(self):
        model = build(
            "g (int64[1] s, float[2] x) => (float[2] y) "
            "{ f = ConstantOfShape <value = float[1] {0.1}> (s) y = Mul (f, x) }"
        )
        applied(model, policy=rules(ConstantOfShape="float16", Mul="float16"))
        node = next(one for one in model.graph if one.op_type == "ConstantOfShape")
        fill = node.attributes["value"].as_tensor()
        assert fill.dtype == F16
        assert fill.numpy() == np.float16(0.1)

    def test_an_explicit_rule_wins_over_numerics_and_is_warned_about(self):
        model = build(
            "g (float[2] x) => (float[2] y) { v = Neg (x) y = Exp (v) }",
        )
        facts = applied(model, policy=PolicyMap("float16", {"op:Exp": "float16"}))
        assert next(node for node in model.graph if node.op_type == "Exp").inputs[0].dtype == F16
        assert any("Exp" in text for text in facts.get(Plan).warnings)


class TestLegalize:
    def test_an_interface_that_the_target_cannot_cast_stays_wide(self):
        """WebGPU has no bfloat16 at all: an input of that dtype could not be used there."""
        model = build("g (float[2] x) => (float[2] y) { y = Relu (x) }")
        facts = given("bfloat16", "webgpu")
        text = DECIDE.replace("assign-policy", "assign-policy{keep-io-types=false}")
        run(model, f"{text},{APPLY}", facts)
        assert model.graph.inputs[0].dtype == F32
        assert not casts(model)


class TestConvertWeights:
    def test_consumers_that_agree_share_one_copy(self):
        model = ir.load(models.build("shared_weights"))
        applied(model, policy=rules(MatMul="float16"))
        stored = initializers(model)
        assert stored["shared.weight"] == F16
        assert stored["shared.bias"] == F32
        assert len(stored) == 2

    def test_consumers_that_disagree_get_a_copy_each(self):
        model = build(
            "g (float[4] x) => (float[4] y) { a = Mul (x, w) y = Add (a, w) }",
            w=np.linspace(0, 1, 4, dtype=np.float32),
        )
        applied(model, policy=rules(Mul="float16"))
        stored = initializers(model)
        assert stored == {"w": F32, "w_float16": F16}
        low = model.graph.initializers["w_float16"].const_value.numpy()
        assert np.array_equal(low, np.linspace(0, 1, 4, dtype=np.float32).astype(np.float16))

    def test_an_initializer_that_is_an_output_keeps_its_value(self):
        model = ir.load(models.build("initializer_output"))
        before = {
            value.name: value.const_value.numpy().copy()
            for value in model.graph.outputs
            if value.const_value is not None
        }
        applied(model, policy="float16")
        for value in model.graph.outputs:
            if value.name in before:
                assert np.array_equal(value.const_value.numpy(), before[value.name])
        multiply = next(node for node in model.graph if node.op_type == "MatMul")
        assert multiply.inputs[1].dtype == F16
        assert multiply.inputs[1].name != "weight"

    def test_an_initializer_of_an_outer_graph_used_in_branches(self):
        model = ir.load(models.build("if_captures"))
        applied(model, policy=rules(MatMul="float16"))
        (shared,) = [name for name in initializers(model) if name.startswith("shared")]
        assert initializers(model)[shared] == F16
        assert model.graph.initializers[shared].graph is model.graph

    def test_constants_in_functions_are_copied_there(self):
        model = ir.load(models.build("functions"))
        applied(model, policy=rules(Add="float16"))
        normalize = next(one for one in model.functions.values() if one.name == "Normalize")
        (constant,) = [node for node in normalize if node.op_type == "Constant"]
        assert constant.attributes["value"].as_tensor().dtype == F16
        assert ir.origin(constant) == ("convert-weights", "stored in float16")

    def test_a_constant_that_a_call_gives_is_cast_not_converted(self):
        """Its number is an attribute of the call, so the body can only cast it."""
        proto = onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["": 18, "l": 1]>
            g (float[2] x) => (float[2] y) { y = l.scaled <factor = 2.5> (x) }
            <domain: "l", opset_import: ["": 18]>
            scaled <factor> (a) => (b) { k = Constant <value_float: float = @factor> ()
                b = Mul (a, k) }"""
        )
        model = ir.load(proto)
        applied(model, policy="float16")
        (function,) = model.functions.values()
        multiply = next(node for node in function if node.op_type == "Mul")
        assert multiply.inputs[1].producer().op_type == "Cast"
        ir.check_model(model)

    def test_variable_storage_keeps_weights_and_casts_them(self):
        model = ir.load(models.build("mlp"))
        before = initializers(model)
        facts = given("mixed_float16", "cuda")
        run(model, f"{DECIDE},insert-casts,convert-weights{{storage=variable}},fold", facts)
        assert initializers(model) == before
        made = [node for node in model.graph if (ir.origin(node) or ("",))[0] == "convert-weights"]
        assert {node.inputs[0].name for node in made} == set(before)
        assert {node.op_type for node in made} == {"Cast"}

    def test_what_the_target_computes_wider_is_stored_low(self):
        model = build(
            "g (float[4,64] x) => (float[4,64] y) { y = MatMul (x, w) }",
            w=np.ones((64, 64), np.float32),
        )
        facts = given("mixed_float16", "cpu")
        run(model, DECIDE.replace("{allow-slow=true}", ""), facts)
        run(model, APPLY, facts)
        assert initializers(model) == {"w": F16}
        assert [one[2] for one in casts(model)] == [F32]

    def test_small_constants_are_not_worth_a_cast(self):
        model = build(
            "g (float[4,4] x) => (float[4,4] y) { y = MatMul (x, w) }",
            w=np.ones((4, 4), np.float32),
        )
        facts = given("mixed_float16", "cpu")
        run(model, DECIDE.replace("{allow-slow=true}", ""), facts)
        run(model, APPLY, facts)
        assert initializers(model) == {"w": F32}
        assert not casts(model)

    def test_a_mask_stays_finite_where_a_rule_forces_it_low(self):
        model = build(
            "g (float[2] x) => (float[2] y) { y = Add (x, m) }",
            m=np.array([0, np.finfo(np.float32).min], np.float32),
        )
        applied(model, policy=rules(Add="float16"))
        (low,) = model.graph.initializers.values()
        assert low.const_value.numpy().tolist() == [0, -65504]

    def test_conversion_is_lazy(self):
        model = ir.load(models.build("mlp"))
        applied(model, policy="mixed_float16")
        assert all(
            isinstance(value.const_value, ir.LazyTensor)
            for value in model.graph.initializers.values()
            if value.dtype == F16
        )


def folded(text, **initial):
    model = build(text, **initial)
    facts = Facts()
    changed = run(model, "fold", facts)
    ir.verify_structure(model)
    return model, changed


class TestFold:
    @pytest.mark.parametrize("name", models.builders())
    def test_the_types_of_what_is_left_stay(self, name):
        model = ir.load(models.build(name))
        kept = applied(model, policy="float16").get(TypeFlow)
        anew = infer_types(model)
        assert {value: kept.type(value) for value in anew.types} == anew.types

    def test_a_cast_to_the_same_dtype_goes(self):
        model = build("g (float[2] x) => (float[2] y) { c = Cast <to = 1> (x) y = Relu (c) }")
        model.graph[0].outputs[0].type = ir.TensorType(F32)
        assert run(model, "fold", Facts())
        assert [node.op_type for node in model.graph] == ["Relu"]

    @pytest.mark.parametrize(
        ("there", "back", "kept"),
        [
            ("float16", "float16", 0),
            ("bfloat16", "bfloat16", 0),
        ],
    )
    def test_an_exact_round_trip_goes(self, there, back, kept):
        dtype = int(ir.parse_dtype(there))
        model, changed = folded(
            f"""g ({there}[2] x) => ({back}[2] y) {{
                w = Cast <to = 1> (x) n = Cast <to = {dtype}> (w) y = Relu (n)
            }}"""
        )
        assert changed
        assert len(casts(model)) == kept

    @pytest.mark.parametrize("low", [F16, BF16])
    def test_an_intended_rounding_stays(self, low):
        model, changed = folded(
            f"""g (float[2] x) => (float[2] y) {{
                n = Cast <to = {int(low)}> (x) w = Cast <to = 1> (n) y = Relu (w)
            }}"""
        )
        assert not changed
        assert len(casts(model)) == 2

    def test_a_round_trip_through_another_low_dtype_stays(self):
        model, changed = folded(
            """g (float16[2] x) => (float16[2] y) {
                n = Cast <to = 16> (x) w = Cast <to = 10> (n) y = Relu (w)
            }"""
        )
        assert not changed
        assert len(casts(model)) == 2

    def test_integers_are_no_exact_round_trip(self):
        _, changed = folded(
            """g (float[2] x) => (float[2] y) {
                n = Cast <to = 7> (x) w = Cast <to = 1> (n) y = Relu (w)
            }"""
        )
        assert not changed

    def test_the_middle_of_a_round_trip_stays_for_others(self):
        model, changed = folded(
            """g (float16[2] x) => (float16[2] y, float[2] z) {
                w = Cast <to = 1> (x) n = Cast <to = 10> (w) y = Relu (n) z = Relu (w)
            }"""
        )
        assert changed
        assert [one[2] for one in casts(model)] == [F32]

    def test_a_public_name_is_kept(self):
        model, changed = folded(
            """g (float16[2] x) => (float16[2] y) {
                r = Relu (x) w = Cast <to = 1> (r) y = Cast <to = 10> (w)
            }"""
        )
        assert changed
        assert [node.op_type for node in model.graph] == ["Relu"]
        assert model.graph.outputs[0].name == "y"
        assert model.graph.outputs[0].dtype == F16
        ir.check_model(model)

    def test_an_output_that_only_repeats_an_input_stays(self):
        model, _ = folded(
            "g (float16[2] x) => (float16[2] y) { w = Cast <to = 1> (x) y = Cast <to = 10> (w) }"
        )
        assert [value.name for value in model.graph.outputs] == ["y"]
        assert [value.name for value in model.graph.inputs] == ["x"]
        ir.check_model(model)

    def test_two_outputs_that_repeat_one_value_keep_both_names(self):
        model, _ = folded(
            """g (float16[2] x) => (float16[2] y, float16[2] z) {
                y = Relu (x) w = Cast <to = 1> (y) z = Cast <to = 10> (w)
            }"""
        )
        assert [value.name for value in model.graph.outputs] == ["y", "z"]
        ir.check_model(model)

    def test_repeated_casts_become_one(self):
        model, changed = folded(
            """g (float[2] x) => (float16[2] y, float16[2] z) {
                a = Cast <to = 10> (x) y = Relu (a) b = Cast <to = 10> (x) z = Neg (b)
            }"""
        )
        assert changed
        assert len(casts(model)) == 1

    def test_a_repeated_cast_that_is_an_output_stays_one(self):
        model, _ = folded(
            """g (float[2] x) => (float16[2] y, float16[2] z) {
                y = Cast <to = 10> (x) z = Cast <to = 10> (x) u = Neg (z)
            }"""
        )
        assert [value.name for value in model.graph.outputs] == ["y", "z"]
        ir.check_model(model)

    def test_a_stale_declaration_removes_no_cast(self):
        model = build("g (float[2] x) => (float16[2] y) { r = Relu (x) y = Cast <to = 10> (r) }")
        model.graph[0].outputs[0].type = ir.TensorType(F16)
        assert not run(model, "fold", Facts())

    def test_dead_constants_go_in_every_graph(self):
        model = ir.load(models.build("if_captures"))
        branch = next(node for node in model.graph if node.op_type == "If")
        inner = branch.attributes["else_branch"].as_graph()
        for graph in (model.graph, inner):
            name = f"dead_{graph.name}"
            value = ir.Value(
                name=name,
                type=ir.TensorType(F32),
                shape=ir.Shape([2]),
                const_value=ir.tensor(np.ones(2, np.float32), name=name),
            )
            graph.register_initializer(value)
        assert run(model, "fold", Facts())
        assert not any(name.startswith("dead") for name in initializers(model))
        assert not run(model, "fold", Facts())


class TestNormalize:
    def test_initializers_that_had_to_be_inputs_become_constants(self):
        model = build("g (float[2] x) => (float[2] y) { y = Mul (x, w) }", w=np.ones(2, np.float32))
        model.graph.inputs.append(model.graph.initializers["w"])
        model.ir_version = 3
        assert run(model, "normalize", Facts())
        assert [value.name for value in model.graph.inputs] == ["x"]
        assert model.ir_version >= 4
        assert not run(model, "normalize", Facts())

    def test_defaults_of_inputs_are_kept(self):
        model = build("g (float[2] x) => (float[2] y) { y = Mul (x, w) }", w=np.ones(2, np.float32))
        model.graph.inputs.append(model.graph.initializers["w"])
        assert not run(model, "normalize", Facts())
        assert len(model.graph.inputs) == 2

    def test_an_old_model_without_such_inputs_is_modified_all_the_same(self):
        model = build("g (float[2] x) => (float[2] y) { y = Relu (x) }")
        model.ir_version = 3
        assert run(model, "normalize", Facts())

    def test_polymorphic_functions_are_specialised_once_per_list_of_types(self):
        proto = onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["": 18, "l": 1]>
            g (float16[2] a, float[2] b, float[2] c) => (float16[2] x, float[2] y, float[2] z) {
                x = l.outer (a) y = l.outer (b) z = l.outer (c)
            }
            <domain: "l", opset_import: ["": 18, "l": 1]> outer (p) => (q) { q = l.inner (p) }
            <domain: "l", opset_import: ["": 18]> inner (p) => (q) { q = Relu (p) }"""
        )
        model = onnx_ir.serde.deserialize_model(proto)
        assert run(model, "normalize", Facts())
        ir.verify_structure(model)
        called = [node.op_type for node in model.graph]
        assert called[0] != called[1] == called[2]
        assert len(model.functions) == 4
        assert not run(model, "normalize", Facts())
