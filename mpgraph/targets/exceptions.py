"""Where a kernel registry and what really runs differ, as data.

Found by running every ONNX backend node test on the provider with its float operands retyped, at
every version of its operator, optimised and not. Each entry is proven again by the test suite,
which says so when a newer onnxruntime no longer needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph.targets.support import Support

__all__ = ["GAPS", "Gap", "find_gap"]

FLOAT16 = "tensor(float16)"
FLOAT32 = "tensor(float)"
BFLOAT16 = "tensor(bfloat16)"
DOUBLE = "tensor(double)"

CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class Gap:
    """One case that the registry answers with more than the provider can do.

    Attributes:
        provider: The provider whose answer is corrected.
        op_type: The operator.
        since: First version of the operator's domain in which the gap was seen.
        corrects: The answers that do not hold; the node is Support.NONE instead.
        reason: What really happens.
        types: Type variables that must have one of the given types; empty for any types.
        attributes: Attributes that must have one of the given values; empty for any.
        domain: Domain of the operator.
    """

    provider: str
    op_type: str
    since: int
    corrects: frozenset[Support]
    reason: str
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    attributes: Mapping[str, frozenset[object]] = field(default_factory=dict)
    domain: str = ""

    def matches(
        self, opset: int, assignment: Mapping[str, str], attributes: Mapping[str, object]
    ) -> bool:
        """Whether a node of this operator is such a case."""
        return (
            opset >= self.since
            and all(assignment.get(name) in types for name, types in self.types.items())
            and all(attributes.get(name) in values for name, values in self.attributes.items())
        )


def _types(**types: str | tuple[str, ...]) -> dict[str, frozenset[str]]:
    return {
        name: frozenset((given,) if isinstance(given, str) else given)
        for name, given in types.items()
    }


NATIVE = frozenset({Support.NATIVE})
EXPANDED = frozenset({Support.EXPANDED})
CAST_AROUND = frozenset({Support.CAST_AROUND})

GAPS: tuple[Gap, ...] = (
    Gap(
        CPU,
        "ScatterND",
        16,
        NATIVE,
        "the kernel is registered for 16-bit floats, and with a reduction it throws when it runs",
        _types(T=(FLOAT16, BFLOAT16)),
        {"reduction": frozenset({"add", "mul", "min", "max"})},
    ),
    Gap(
        CPU,
        "ScatterElements",
        16,
        NATIVE,
        "the kernel is registered for float16, and with reduction add or mul it throws when it "
        "runs (min and max work)",
        _types(T=FLOAT16),
        {"reduction": frozenset({"add", "mul"})},
    ),
    Gap(
        CPU,
        "ScatterElements",
        16,
        NATIVE,
        "the kernel is registered for bfloat16, and with a reduction it throws when it runs",
        _types(T=BFLOAT16),
        {"reduction": frozenset({"add", "mul", "min", "max"})},
    ),
    Gap(
        CPU,
        "Transpose",
        1,
        NATIVE,
        "onnxruntime fuses it into a MatMul behind it, for which there is no float16 kernel then, "
        "and the process dies as it loads the model",
        _types(T=FLOAT16),
    ),
    Gap(
        CPU,
        "Resize",
        11,
        NATIVE,
        "the kernel constrains only the data: it reads a float16 roi as float32 and throws",
        _types(T2=FLOAT16),
        {"coordinate_transformation_mode": frozenset({"tf_crop_and_resize"})},
    ),
    Gap(
        CPU,
        "Resize",
        11,
        NATIVE | CAST_AROUND,
        "the kernel constrains only the data: it reads a double roi as float32 and throws",
        _types(T2=DOUBLE),
        {"coordinate_transformation_mode": frozenset({"tf_crop_and_resize"})},
    ),
    Gap(
        CPU,
        "Attention",
        23,
        EXPANDED,
        "with queries and values of different types there is no kernel, and the function body "
        "that takes its place multiplies matrices of different types",
        _types(T1=FLOAT16, T2=FLOAT32),
    ),
    Gap(
        CPU,
        "Attention",
        23,
        EXPANDED,
        "with queries and values of different types there is no kernel, and the function body "
        "that takes its place multiplies matrices of different types",
        _types(T1=FLOAT32, T2=FLOAT16),
    ),
    Gap(
        CPU,
        "MelWeightMatrix",
        17,
        CAST_AROUND,
        "casts are put around the float32 kernel, but the attribute output_datatype that sets "
        "its output type stays float16: the model does not load",
        _types(T3=FLOAT16),
    ),
    Gap(
        CPU,
        "Bernoulli",
        22,
        EXPANDED,
        "its function body uses RandomUniformLike, which has no kernel from opset 22 on",
    ),
    Gap(
        CPU,
        "SwiGLU",
        28,
        EXPANDED,
        "its function body uses Swish in a version that has neither kernel nor expansion",
    ),
)


def find_gap(
    provider: str,
    domain: str,
    op_type: str,
    opset: int,
    assignment: Mapping[str, str],
    attributes: Mapping[str, object],
    answer: Support,
) -> Gap | None:
    """The gap that makes an answer of the registry wrong for a node; None when it holds."""
    candidates = _BY_OPERATOR.get((provider, "" if domain == "ai.onnx" else domain, op_type), ())
    for gap in candidates:
        if answer in gap.corrects and gap.matches(opset, assignment, attributes):
            return gap
    return None


def _by_operator() -> dict[tuple[str, str, str], tuple[Gap, ...]]:
    index: dict[tuple[str, str, str], tuple[Gap, ...]] = {}
    for gap in GAPS:
        key = (gap.provider, gap.domain, gap.op_type)
        index[key] = (*index.get(key, ()), gap)
    return index


_BY_OPERATOR = _by_operator()
