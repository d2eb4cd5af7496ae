"""Golden IR: what each pass makes of a few models, as text under ``tests/golden/<pass>/``.

A pass that rewrites is shown by the model after it, a pass that decides by what it decided. After
an intended change write the files anew, read the difference, and commit both::

    MPGRAPH_UPDATE_GOLDEN=1 python -m pytest tests/passes/test_golden.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.passmgr import pass_table
from mpgraph.plan import Draft, Plan
from mpgraph.policy import PolicyMap
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.form_errors import BiasErrors, QuantizationErrors
from mpgraph.quant.tuning import ActivationRows
from mpgraph.runtime import DataSet, Measurements, input_specs, load_data
from passes.optimize_weights import RoundedWeights
from tests.limiting.cases import convolutions as harmful_convolutions
from tests.limiting.cases import feeds
from tests.pipelines import given, run
from tests.runtime.builders import build

GOLDEN = Path(__file__).parents[1] / "golden"
UPDATE = "MPGRAPH_UPDATE_GOLDEN" in os.environ
PREPARED = "normalize,convert-opset,infer-dtypes"
ASSIGNED = f"{PREPARED},assign-policy"
MEASURED = "normalize,convert-opset,measure,infer-dtypes"
LEGAL = f"{ASSIGNED},protect-numerics,legalize{{allow-slow=true}}"
PLACED = f"{LEGAL},place-casts"
CAST = f"{PLACED},insert-casts"

MASKED = """g (float[2,4] x, bool[2,4] keep) => (float[2,4] y) {
    scores = MatMul (x, w)
    masked = Where (keep, scores, lowest)
    shifted = Add (masked, epsilon)
    y = Softmax (shifted)
}"""


def masked():
    return build(
        MASKED,
        w=np.eye(4, dtype=np.float32),
        lowest=np.array(-np.finfo(np.float32).max),
        epsilon=np.array(1e-8, np.float32),
    )


LARGE = """g (float[2,4] x) => (float[2,4] y, float[2,4] p) {
    a = Gemm (x, wide, bias)
    r = Relu (a)
    h = Add (x, r)
    n = LayerNormalization (h, gain)
    y = MatMul (n, wide)
    s = MatMul (h, w)
    p = Softmax (s)
}"""


def large():
    """Activations of some 1e6, which meet a small residual, a normalisation and a Softmax."""
    return build(
        LARGE,
        wide=np.linspace(1e5, 2e5, 16, dtype=np.float32).reshape(4, 4),
        bias=np.array([1e5, 2e5, 3e5, 4e5], np.float32),
        gain=np.ones(4, np.float32),
        w=np.linspace(1e-4, 2e-4, 16, dtype=np.float32).reshape(4, 4),
    )


def builder(name, **options):
    return lambda: ir.load(models.build(name, **options))


def old_style():
    """Before IR version 4 every initializer was a graph input as well."""
    model = build("g (float[2] x) => (float[2] y) { y = Mul (x, w) }", w=np.ones(2, np.float32))
    model.graph.inputs.append(model.graph.initializers["w"])
    model.ir_version = 3
    return model


def polymorphic():
    import onnx
    import onnx_ir

    proto = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 18, "l": 1]>
        g (float16[2] a, float[2] b) => (float16[2] x, float[2] y) { x = l.f (a) y = l.f (b) }
        <domain: "l", opset_import: ["": 18]> f (p) => (q) { q = Relu (p) }"""
    )
    return onnx_ir.serde.deserialize_model(proto)


def cast_pairs():
    """Casts there and back: without loss, with loss, through an Identity, of bool, of an output."""
    return build(
        """g (float[2] x, bool[2] b) => (float[2] y, float[2] z, bool[2] c) {
            wide = Cast <to = 11> (x)
            back = Cast <to = 1> (wide)
            low = Cast <to = 10> (back)
            rounded = Cast <to = 1> (low)
            number = Cast <to = 6> (b)
            same = Identity (number)
            c = Cast <to = 9> (same)
            z = Cast <to = 1> (x)
            y = Add (rounded, back)
        }"""
    )


def unnamed_nodes():
    model = build(
        "g (float[2] x) => (float[2] y) { a = Relu (x) b = Relu (a) c = Neg (b) y = Neg (c) }"
    )
    for node, name in zip(model.graph, ("", "twice", "twice", ""), strict=True):
        node.name = name
    return model


def listed_weights():
    """From IR version 4 on, weights that are inputs as well are defaults."""
    model = old_style()
    model.ir_version = 10
    return model


def wrong_types():
    model = build(
        "g (float[2] x) => (float[2] y) { a = Cast <to = 10> (x) b = Relu (a) y = Cast <to = 1> (b) }"
    )
    first, second, _ = model.graph
    first.outputs[0].type, first.outputs[0].shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape([3])
    second.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    return model


CONVOLUTIONS = """g (float[1,16,4,4] x) => (float[1,16,4,4] y) {
    c = Conv <kernel_shape = [1, 1]> (x, w, b)
    r = Relu (c)
    d = Conv <kernel_shape = [1, 1]> (r, w)
    s = Add (d, r)
    t = Transpose <perm = [0, 1, 3, 2]> (s)
    y = Conv <kernel_shape = [1, 1]> (t, w)
}"""


def convolutions():
    """A residual block between two convolutions: all of it can stay quantized."""
    weight = (np.arange(256, dtype=np.float32).reshape(16, 16, 1, 1) % 7 - 3) / 8
    return build(CONVOLUTIONS, w=weight, b=np.arange(16, dtype=np.float32) / 16)


NORMALIZED = """g (float[1,2,3,3] x) => (float[1,2,3,3] y) {
    c = Conv <kernel_shape = [1, 1]> (x, w)
    n = BatchNormalization (c, gamma, beta, mean, var)
    y = Mul (n, two)
}"""


def normalized():
    """A BatchNormalization and a Mul behind a convolution."""
    return build(
        NORMALIZED,
        w=np.ones((2, 2, 1, 1), np.float32),
        gamma=np.array([1, 2], np.float32),
        beta=np.array([0.5, -0.5], np.float32),
        mean=np.array([1, 0], np.float32),
        var=np.array([4, 1], np.float32),
        two=np.array(2, np.float32),
    )


def hard_gate():
    """A HardSigmoid behind a convolution."""
    return build(
        """g (float[1,2,3,3] x) => (float[1,2,3,3] y) {
            c = Conv (x, w, b)
            y = HardSigmoid <alpha = 0.25, beta = 0.5> (c)
        }""",
        w=np.array([[8, 4], [0.25, -0.125]], np.float32).reshape(2, 2, 1, 1),
        b=np.array([1, 0.5], np.float32),
    )


GATED = """g (float[1,2,3,3] x) => (float[1,2,3,3] y) {
    c = Conv (x, w, b)
    shifted = Add (c, three)
    clipped = Clip (shifted, zero, six)
    gated = Mul (c, clipped)
    swish = Div (gated, six)
    y = Conv <group = 2> (swish, v)
}"""


def gated():
    """A HardSwish of uneven channels between two convolutions, with its division by 6."""
    return build(
        GATED,
        w=np.array([[8, 4], [0.25, -0.125]], np.float32).reshape(2, 2, 1, 1),
        b=np.array([1, 0.5], np.float32),
        v=np.array([0.125, 4], np.float32).reshape(2, 1, 1, 1),
        three=np.array(3, np.float32),
        zero=np.array(0, np.float32),
        six=np.array(6, np.float32),
    )


PRODUCTS = """g (float[2,32] x, int64[3] rows) => (float[2,24] y, float[3,32] e) {
    h = MatMul (x, w)
    y = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (h, v, b)
    e = Gather (table, rows)
}"""


def products():
    """A MatMul, a Gemm with factors, and rows of an embedding table."""
    numbers = (np.arange(1024, dtype=np.float32) % 13 - 6) / 8
    return build(
        PRODUCTS,
        21,
        w=numbers.reshape(32, 32),
        v=numbers[:768].reshape(24, 32),
        b=np.ones(24, np.float32),
        table=np.tile(numbers, 64).reshape(2048, 32),
    )


def halved():
    """The offset of a Slice comes from an extent that is known, beside one that is not."""
    return build(
        """g (float[n,6] x) => (float[n,3] y) {
            shape = Shape (x)
            width = Gather (shape, one)
            half = Div (width, two)
            y = Slice (x, zero, half, one)
        }""",
        one=np.array([1], np.int64),
        two=np.array([2], np.int64),
        zero=np.array([0], np.int64),
    )


def biased_products():
    """Products with a bias, with what was computed added, and with three axes."""
    weight = (np.arange(16, dtype=np.float32).reshape(4, 4) % 7 - 3) / 8
    return build(
        """g (float[2,4] x, float[1,2,4] v) => (float[2,4] y, float[1,2,4] z) {
            first = MatMul (x, w)
            a = Add (b, first)
            second = MatMul (a, w)
            y = Add (second, x)
            third = MatMul (v, w)
            z = Add (third, b)
        }""",
        w=weight,
        b=np.arange(4, dtype=np.float32),
    )


def outliers():
    """A normalisation that makes one channel large, before products; and another such product."""
    rng = np.random.default_rng(0)
    return build(
        """g (float[8,32] x) => (float[8,24] y, float[8,24] z, float[8,32] t) {
            n = LayerNormalization (x, gain, shift)
            y = MatMul (n, w)
            s = MatMul (x, u)
            h = Add (x, s)
            t = Tanh (h)
            z = MatMul (h, v)
        }""",
        gain=np.where(np.arange(32) == 3, 64, 1).astype(np.float32),
        shift=np.zeros(32, np.float32),
        w=rng.normal(size=(32, 24)).astype(np.float32),
        u=(rng.normal(size=(32, 32)) * np.where(np.arange(32) == 5, 64, 1)).astype(np.float32),
        v=rng.normal(size=(32, 24)).astype(np.float32),
    )


def uneven_rows():
    """A product whose rows have very different magnitudes."""
    weight = np.random.default_rng(0).normal(size=(32, 24)).astype(np.float32)
    return build("g (float[8,32] x) => (float[8,24] y) { y = MatMul (x, w) }", w=weight)


def shared_product():
    return build(
        "g (float[2,32] x) => (float[2,32] y) { h = MatMul (x, w) y = MatMul (h, w) }",
        21,
        w=(np.arange(1024, dtype=np.float32).reshape(32, 32) % 13 - 6) / 8,
    )


def uneven_channels():
    return build(
        "g (float[8,32] x) => (float[8,24] y) { y = Gemm <transB = 1> (x, v) }",
        21,
        v=np.random.default_rng(0).normal(size=(24, 32)).astype(np.float32),
    )


def show_bias_errors(model, facts):
    found = facts.get(BiasErrors)
    lines = [f"{key}: {errors.size} channels" for key, errors in found.channels.items()]
    return "\n".join(lines) + f"\nthe outputs gain: {found.after < found.before}\n"


def show_rounded(model, facts):
    return "".join(
        f"{reader}: {one.parameters.format.dtype} {list(one.values.shape)} by scales"
        f" {list(one.parameters.scale.shape)}\n"
        for reader, one in facts.get(RoundedWeights).by_reader.items()
    )


def show_quantization(model, facts):
    plan = facts.get(QuantizationPlan)
    lines = [f"{one.key} {one.op_type}: {one.form} ({one.reason})" for one in plan.nodes]
    lines += [
        f"value {one.value}: {one.dtype} scale {one.scale:.5g} zero point {one.zero_point}"
        f" read by {', '.join(one.readers)}"
        for one in plan.activations
    ]
    lines += [
        f"constant {one.constant} at {one.reader}: {one.dtype} axis {one.axis} block {one.block_size}"
        for one in plan.weights
    ]
    lines += [f"warning {text}" for text in plan.warnings]
    return "\n".join(lines) + "\n"


def show_rows(model, facts):
    known = facts.get(ActivationRows)
    return "".join(
        f"{name}: {one.values.shape[0]} rows of {one.values.shape[1]} channels,"
        f" {one.low.shape[0]} samples, {one.low.min():.4g}..{one.high.max():.4g}\n"
        for name, one in known.values.items()
    )


def show_errors(model, facts):
    return "".join(
        f"{node.outputs[0].name}: static {one.static:.2g} dynamic {one.dynamic:.2g}"
        f" rows {one.dynamic_rows:.2g}\n"
        for node, one in facts.get(QuantizationErrors).products.items()
    )


def show_calibration(model, facts):
    calibration = facts.get(Calibration)
    ranges = ((name, calibration.range(name)) for name in calibration.names)
    return "".join(f"{name}: {one.low:.4g}..{one.high:.4g}\n" for name, one in ranges)


def show_model(model, facts):
    return ir.print_model(model)


def show_named(model, facts):
    return ir.print_model(model, node_names=True)


def show_notes(model, facts):
    """What is noted at each value and node."""
    lines = []
    for scope in ir.graphs(model):
        lines += [
            f"{scope.path} {value.name}: {ir.annotation(value)[0]}" for value in scope.graph.inputs
        ]
        for node in scope.graph:
            dtype, reason = ir.annotation(node)
            lines.append(f"{scope.path} {node.op_type} {dtype}  {reason}".rstrip())
            lines += [f"    {value.name}: {ir.annotation(value)[0]}" for value in node.outputs]
    return "\n".join(lines) + "\n"


def show_types(model, facts):
    flow = facts.get(TypeFlow)
    lines = [f"{value.name}: {known}" for value, known in flow.types.items()]
    lines += [f"polymorphic {domain}::{name}" for domain, name, _ in sorted(flow.polymorphic)]
    return "\n".join(lines) + "\n"


def show_draft(model, facts):
    draft = facts.get(Draft)
    lines = []
    for cell, choice in zip(draft.graph.cells, draft.choices, strict=True):
        if cell.sites:
            allowed = "|".join(sorted(ir.dtype_name(dtype) for dtype in choice.allowed))
            stored = f" stored {ir.dtype_name(choice.storage)}" if choice.storage else ""
            node = next(iter(cell.nodes), None)
            op = f" {node.op_type}" if node else ""
            reason = f"{choice.reason.stage}: {choice.reason.text}"
            lines.append(f"{cell.key}{op}: {allowed}{stored}  ({reason})")
    lines += [f"hazard {one.kind} at {one.value}: {one.evidence}" for one in draft.hazards]
    lines += [f"warning {text}" for text in draft.warnings]
    return "\n".join(lines) + "\n"


def show_allowed(model, facts):
    """The choices without reasons, which hold measured errors."""
    draft = facts.get(Draft)
    lines = [
        f"{cell.key}: {'|'.join(sorted(ir.dtype_name(dtype) for dtype in choice.allowed))}"
        for cell, choice in zip(draft.graph.cells, draft.choices, strict=True)
        if cell.sites
    ]
    return "\n".join(lines) + "\n"


def show_plan(model, facts):
    plan = facts.get(Plan)
    lines = [
        f"{one.key} {one.op_type or '-'}: {one.before} -> {one.dtype} ({one.stage}: {one.reason})"
        for one in plan.assignments
    ]
    lines += [
        f"cast {one.graph} {one.value}: {one.source} -> {one.target} x{one.consumers}"
        for one in plan.casts
    ]
    lines += [
        f"constant {one.graph} {one.constant}: {one.before} -> {'+'.join(one.stored)}"
        f" used as {'+'.join(one.used)}"
        for one in plan.storage
    ]
    lines += [f"cost {name}: {cost}" for name, cost in plan.costs.items()]
    return "\n".join(lines) + "\n"


def show_scaling(model, facts):
    scaling = facts.get(Draft).scaling
    lines = [
        f"value {one.name}: 2^-{k} ({scaling.reasons[one]})" for one, k in scaling.values.items()
    ]
    for kind, taken in (("operand", scaling.operands), ("constant", scaling.constants)):
        lines += [
            f"{kind} {index} of {node.op_type} {node.inputs[index].name}: 2^{-k}"
            for (node, index), k in taken.items()
        ]
    lines += [f"epsilon of {node.op_type}: 2^{-2 * k}" for node, k in scaling.epsilons.items()]
    lines += [f"not {one.name}: {reason}" for one, reason in scaling.refused.items()]
    return "\n".join(lines) + "\n"


def show_measurements(model, facts):
    values = facts.get(Measurements).values
    return "".join(
        f"{name}: count {seen.count} amax {seen.amax:.3g} amin {seen.amin_nonzero:.3g}"
        f" integers {seen.integer_valued}\n"
        for name, seen in values.items()
    )


@dataclass(frozen=True)
class Case:
    """One golden file: ``model`` after ``before`` and then the pass ``text``."""

    text: str
    name: str
    model: Callable[[], ir.Model]
    before: str = ""
    show: Callable = show_model
    policy: object = "mixed_float16"
    target: str = "cuda"
    data: list = field(default_factory=list)

    @property
    def path(self):
        return GOLDEN / self.text.partition("{")[0] / f"{self.name}.txt"


RULED = PolicyMap("mixed_float16", {"op:Softmax": "float32", "name:/first/*": "float16"})
BY_BLOCK = PolicyMap("float32", {"scope:blocks.1/**": "float16"})
SCALED = PolicyMap("mixed_float16", range_scaling=True)
BY_RANGE = f"{MEASURED},assign-policy"
FEEDS = [{"x": np.array([[0.5, -1.5, 2.25, 3.125], [0.25, 1.75, -0.375, 1.0]], np.float32)}]
INTEGERS = [{"x": np.array([[1, 2, 3, 4]] * 2, np.float32), "keep": np.ones((2, 4), bool)}]
INT8 = "int8_from_float32"
SIZES = np.logspace(-2, 2, 32)
UNEVEN = [{"x": (np.random.default_rng(1).normal(size=(8, 32)) * SIZES).astype(np.float32)}]
ROWS = [
    {
        "x": UNEVEN[0]["x"]
        / SIZES.astype(np.float32)
        * np.logspace(-2, 2, 8, dtype=np.float32)[:, np.newaxis]
    }
]
NORMAL = [{"x": np.random.default_rng(2).normal(size=(8, 32)).astype(np.float32)}]
UNEVEN_IMAGES = [{"x": np.geomspace(1e-3, 1, 256, dtype=np.float32).reshape(1, 16, 4, 4)}]
"""Most elements are below half a step of their range: rounding adds to the mean of channels."""

IMAGES = [{"x": (np.arange(256, dtype=np.float32).reshape(1, 16, 4, 4) % 11 - 5) / 4}]
PIXELS = [{"x": (np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3) % 7 - 3) / 2}]
NOT_INTEGERS = models.feeds("mlp")[:1]

CASES = [
    Case("normalize", "initializer_inputs", old_style),
    Case("normalize", "polymorphic_function", polymorphic),
    Case("specialize-functions", "scopes", builder("functions"), policy=BY_BLOCK),
    Case("convert-opset", "old_opset", builder("old_opset"), policy="bfloat16"),
    Case("annotate-dtypes", "converted", masked, f"{CAST},convert-weights,fold", show_notes),
    Case("annotate-dtypes", "if_captures", builder("if_captures"), show=show_notes),
    Case("infer-dtypes", "functions", builder("functions"), show=show_types),
    Case("infer-dtypes", "optionals", builder("optionals"), show=show_types),
    Case("infer-dtypes", "loop_state", builder("loop_state"), show=show_types),
    Case("measure", "masked", masked, PREPARED, show_measurements, data=INTEGERS),
    Case("assign-policy", "rules", builder("shared_weights"), PREPARED, show_draft, RULED),
    Case("assign-policy", "scan_state", builder("scan_state"), PREPARED, show_draft),
    Case("assign-policy", "casts", builder("casts"), PREPARED, show_draft, "float16"),
    Case("protect-numerics", "masked", masked, ASSIGNED, show_draft, "float16"),
    Case("protect-numerics", "casts", builder("casts"), ASSIGNED, show_draft),
    Case("protect-numerics", "masked_bfloat16", masked, ASSIGNED, show_draft, "bfloat16"),
    Case("plan-scaling", "large", large, BY_RANGE, show_scaling, SCALED, data=FEEDS),
    Case(
        "scale-ranges",
        "large",
        large,
        f"{BY_RANGE},plan-scaling,protect-numerics,legalize,place-casts",
        policy=SCALED,
        data=FEEDS,
    ),
    Case("legalize", "old_opset", builder("old_opset"), ASSIGNED, show_draft, "float16", "webgpu"),
    Case("legalize", "slow_on_cpu", builder("mlp"), ASSIGNED, show_draft, "float16", "cpu"),
    Case(
        "legalize{allow-slow=true}",
        "bfloat16_on_cpu",
        builder("lstm"),
        ASSIGNED,
        show_draft,
        "bfloat16",
        "cpu",
    ),
    Case(
        "refine-accuracy{tolerance=1e-5}",
        "mlp",
        builder("mlp"),
        LEGAL,
        show_allowed,
        data=NOT_INTEGERS,
    ),
    Case("check-policy", "mlp", builder("mlp")),
    Case("place-casts", "fan_out", builder("fan_out", consumers=4), LEGAL, show_plan),
    Case("place-casts", "if_captures", builder("if_captures"), LEGAL, show_plan),
    Case("insert-casts", "fan_out", builder("fan_out", consumers=4), PLACED),
    Case("insert-casts", "if_captures", builder("if_captures"), PLACED, policy="float16"),
    Case("insert-casts", "scan_state", builder("scan_state"), PLACED, target="webgpu"),
    Case("insert-casts", "output_consumed", builder("output_consumed"), PLACED, policy="float16"),
    Case("insert-casts", "sequences", builder("sequences"), PLACED, policy="float16"),
    Case("insert-casts", "optionals", builder("optionals"), PLACED, policy="float16"),
    Case("insert-casts", "functions", builder("functions"), PLACED, policy="bfloat16"),
    Case("convert-weights", "shared_weights", builder("shared_weights"), CAST),
    Case("convert-weights", "initializer_output", builder("initializer_output"), CAST),
    Case("convert-weights", "functions", builder("functions"), CAST, policy="bfloat16"),
    Case("convert-weights{storage=variable}", "variable", builder("shared_weights"), CAST),
    Case("remove-cast-pairs", "pairs", cast_pairs),
    Case("name-nodes", "unnamed", unnamed_nodes, show=show_named),
    Case("drop-initializer-inputs", "listed", listed_weights),
    Case("drop-initializer-inputs", "old_ir_version", old_style),
    Case("correct-types", "wrong", wrong_types),
    Case("fold-batch-norm", "normalized", normalized, policy=INT8, target="cpu"),
    Case("clip-hard-sigmoids", "gate", hard_gate, policy=INT8, target="cpu", data=PIXELS),
    Case("equalize-channels", "gated", gated, policy=INT8, target="cpu", data=PIXELS),
    Case("calibrate", "convolutions", convolutions, "", show_calibration, INT8, "cpu", IMAGES),
    Case("calibrate", "without_data", convolutions, policy=INT8),
    Case(
        "plan-quantization",
        "convolutions",
        convolutions,
        "calibrate",
        show_quantization,
        INT8,
        "cpu",
        IMAGES,
    ),
    Case("plan-quantization", "dynamic", products, "", show_quantization, INT8, "cpu"),
    Case("plan-quantization", "cuda", products, "", show_quantization, INT8, "cuda"),
    Case(
        "limit-error{max-error=0.06 seconds=0}",
        "convolutions",
        harmful_convolutions,
        "calibrate,plan-quantization",
        show_quantization,
        INT8,
        "cpu",
        feeds(harmful_convolutions()),
    ),
    Case(
        "optimize-weights",
        "awq",
        uneven_channels,
        "plan-quantization",
        policy="awq/4/16_from_float32",
        target="cpu",
        data=UNEVEN,
    ),
    Case(
        "optimize-weights",
        "gptq",
        uneven_channels,
        "plan-quantization",
        show_rounded,
        "gptq/4/16_from_float32",
        "cpu",
        UNEVEN,
    ),
    Case(
        "optimize-weights",
        "without_data",
        uneven_channels,
        "plan-quantization",
        show_quantization,
        "gptq/4/16_from_float32",
        "cpu",
    ),
    Case("fold-batch-norm", "residual_cnn", builder("residual_cnn"), policy=INT8),
    Case(
        "insert-quantizers",
        "convolutions",
        convolutions,
        "calibrate,plan-quantization",
        policy=INT8,
        target="cpu",
        data=IMAGES,
    ),
    Case(
        "quantize-dynamically",
        "products",
        products,
        "plan-quantization",
        policy=INT8,
        target="cpu",
    ),
    Case(
        "quantize-weights",
        "products",
        products,
        "plan-quantization",
        policy="int8_weight_from_float32",
        target="cpu",
    ),
    Case(
        "quantize-weights",
        "blocks",
        products,
        "plan-quantization",
        policy="uint4/16_from_float32",
        target="cpu",
    ),
    Case(
        "pack-weights",
        "shared",
        shared_product,
        "plan-quantization",
        policy="uint4/16_from_float32",
        target="cpu",
    ),
    Case(
        "pack-weights",
        "columns",
        shared_product,
        "plan-quantization",
        policy="int8_weight_from_float32",
        target="cpu",
    ),
    Case("fold-extents", "halved", halved),
    Case("merge-biases", "products", biased_products, policy=INT8, target="cpu"),
    Case(
        "capture-activations",
        "products",
        products,
        "",
        show_rows,
        INT8,
        "cpu",
        [{"x": np.ones((2, 32), np.float32), "rows": np.zeros(3, np.int64)}],
    ),
    Case(
        "smooth-activations",
        "outliers",
        outliers,
        "capture-activations",
        policy=INT8,
        target="cpu",
        data=NORMAL,
    ),
    Case(
        "measure-quantization",
        "rows",
        uneven_rows,
        "capture-activations",
        show_errors,
        INT8,
        "cpu",
        ROWS,
    ),
    Case(
        "quantize-dynamically",
        "rows",
        uneven_rows,
        "capture-activations,measure-quantization,calibrate,plan-quantization",
        policy=INT8,
        target="cpu",
        data=ROWS,
    ),
    Case(
        "protect-outputs{limit=1e-5}",
        "convolutions",
        convolutions,
        "calibrate,plan-quantization",
        show_quantization,
        INT8,
        "cpu",
        IMAGES,
    ),
    Case(
        "measure-biases{fine=1e-9}",
        "convolutions",
        convolutions,
        "calibrate,plan-quantization",
        show_bias_errors,
        INT8,
        "cpu",
        UNEVEN_IMAGES,
    ),
    Case(
        "correct-biases",
        "convolutions",
        convolutions,
        "calibrate,plan-quantization,measure-biases{fine=1e-9}",
        policy=INT8,
        target="cpu",
        data=UNEVEN_IMAGES,
    ),
    Case(
        "quantize-recurrent",
        "lstm",
        builder("lstm"),
        "plan-quantization",
        policy=INT8,
        target="cpu",
    ),
    Case("fold", "casts", builder("casts"), f"{CAST},convert-weights", policy="float16"),
    Case("fold", "float16", builder("float16"), f"{CAST},convert-weights", policy="float16"),
    Case("fold", "tied_weights", builder("tied_weights"), f"{CAST},convert-weights"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.parent.name}-{case.name}")
def test_golden(case):
    model = case.model()
    facts = given(case.policy, case.target)
    if case.data:
        facts.put(load_data(case.data, input_specs(model)))
        assert facts.find(DataSet)
    if case.before:
        run(model, case.before, facts)
    run(model, case.text, facts)
    text = case.show(model, facts)
    if UPDATE:
        case.path.parent.mkdir(parents=True, exist_ok=True)
        case.path.write_text(text, encoding="utf-8")
    assert text == case.path.read_text(encoding="utf-8")


def test_every_pass_has_golden_files_and_every_file_a_case():
    names = {case.path.parent.name for case in CASES}
    assert names == {name for name, where in pass_table().items() if "passes." in str(where)}
    assert {case.path for case in CASES} == set(GOLDEN.glob("*/*.txt"))
