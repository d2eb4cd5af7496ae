"""Audit reports of made-up models, of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mpgraph.auditing import (
    AuditReport,
    CastFact,
    Finding,
    LayerFact,
    NodeFact,
    NotAudited,
    Totals,
    ValueFact,
    WeightFact,
)
from mpgraph.auditing.facts import Range

BLOCK = (
    ("attention", "MatMul"),
    ("attention", "Softmax"),
    ("attention", "MatMul"),
    ("", "Add"),
    ("", "Cast"),
    ("norm", "LayerNormalization"),
    ("norm", "Cast"),
    ("mlp", "Gemm"),
    ("mlp", "Relu"),
    ("", "Add"),
)
NORMAL = Range(-3.5, 4.25, 2.5e-7, 0, {e: 1 << max(0, 12 + e) for e in range(-22, 3)}, zeros=3)
HUGE = Range(-9e4, 1.2e6, 1e-9, 2, {e: 40 + e for e in range(-30, 21)})


def transformer(
    nodes: int, *, scoped: bool = True, low: str = "float16", provider: str = ""
) -> AuditReport:
    """A stack of blocks, each with a norm in float32 between two casts.

    Args:
        nodes: About how many nodes.
        scoped: Whether nodes have a module path.
        low: The dtype of all but the norms.
        provider: Where the nodes run; empty for unknown.
    """
    made: list[NodeFact] = []
    values = [ValueFact("x", "main", "input", f"tensor({low})", low, ("batch", 128, 64))]
    weights: list[WeightFact] = []
    casts: list[CastFact] = []
    current = residual = "x"
    for at in range(max(nodes, len(BLOCK))):
        block, step = divmod(at, len(BLOCK))
        part, op_type = BLOCK[step]
        path = f"encoder/layers.{block}" + (f"/{part}" if part else "")
        name = f"/{path}/{op_type}_{step}" if scoped else f"{op_type}_{at}"
        dtype = "float32" if part == "norm" else low
        key, output = f"main#{at}", f"{name}_output_0"
        inputs = [current]
        if op_type in ("MatMul", "Gemm"):
            weight = f"encoder.layers.{block}.{step}.weight"
            inputs.append(weight)
            values.append(ValueFact(weight, "main", "initializer", "", low, (64, 64)))
            weights.append(WeightFact(weight, "main", low, (low,), (64, 64), 4096, 8192, 1, NORMAL))
        if op_type == "Add":
            inputs.append(residual)
            residual = output
        written = "float32" if step == 4 else low if step == 6 else dtype
        if op_type == "Cast":
            source = low if step == 4 else "float32"
            effect = "widening" if step == 4 else "narrowing"
            casts.append(
                CastFact(
                    key,
                    name,
                    path,
                    current,
                    output,
                    source,
                    written,
                    effect,
                    1,
                    "insert-casts: norm in float32",
                )
            )
        made.append(
            NodeFact(
                key,
                "main",
                name,
                op_type,
                "",
                path if scoped else "",
                dtype,
                tuple(inputs),
                (output,),
                4096 * (len(inputs) > 1),
                8192 * (len(inputs) > 1),
                64 * 64 * 128 if op_type in ("MatMul", "Gemm") else None,
                "insert-casts: norm in float32" if op_type == "Cast" else "",
                provider,
                "kept" if provider else "",
            )
        )
        kind = "output" if at == max(nodes, len(BLOCK)) - 1 else "intermediate"
        measured = HUGE if at % 50 == 3 else NORMAL
        values.append(
            ValueFact(
                output, "main", kind, f"tensor({written})", written, ("batch", 128, 64), measured
            )
        )
        current = output
    hazards = tuple(finding(made[at]) for at in range(3, len(made), 50))
    return AuditReport(
        "folder/transformer.onnx",
        "made up 1.0",
        10,
        {"": 20},
        "cpu" if provider else "",
        "feeds.npz",
        2,
        tuple(made),
        tuple(values),
        tuple(weights),
        tuple(casts),
        (),
        layers_of(made, weights),
        hazards,
        (NotAudited("Custom_1", "unknown operator"),),
    )


def finding(node: NodeFact) -> Finding:
    return Finding(
        "MPG103",
        "activation-overflow",
        "activation outside fp16 range",
        "warning",
        node.outputs[0],
        f"{node.name} ({node.op_type})",
        node.key,
        node.scope,
        "1.2e+06 > 65504",
        "Keep the node in float32.",
        measured=True,
    )


def layers_of(nodes: Sequence[NodeFact], weights: Sequence[WeightFact] = ()) -> LayerFact:
    """The layer tree of nodes, by their scopes."""
    return _layer(
        "", "", [(node, tuple(filter(None, node.scope.split("/")))) for node in nodes], weights
    )


def _layer(
    name: str,
    path: str,
    members: Sequence[tuple[NodeFact, tuple[str, ...]]],
    weights: Sequence[WeightFact],
) -> LayerFact:
    below: dict[str, list[tuple[NodeFact, tuple[str, ...]]]] = {}
    for node, rest in members:
        if rest:
            below.setdefault(rest[0], []).append((node, rest[1:]))
    children = tuple(
        _layer(part, f"{path}/{part}".lstrip("/"), inside, weights)
        for part, inside in below.items()
    )
    nodes = [node for node, _ in members]
    read = {name for node in nodes for name in node.inputs}
    stored: Counter[str] = Counter()
    for weight in weights:
        if weight.name in read:
            stored[weight.stored] += weight.elements
    work: Counter[str] = Counter()
    for node in nodes:
        work[node.dtype] += node.multiply_accumulates or 0
    totals = Totals(
        Counter(node.dtype for node in nodes),
        dict(stored),
        {dtype: 2 * elements for dtype, elements in stored.items()},
        {dtype: amount for dtype, amount in work.items() if amount},
        sum(node.op_type == "Cast" for node in nodes),
    )
    own = tuple(node.key for node, rest in members if not rest)
    return LayerFact(name, path, totals, own, children)


def renamed(report: AuditReport, old: str, new: str) -> AuditReport:
    """The report with a node of another name."""
    nodes = tuple(replace(node, name=new) if node.name == old else node for node in report.nodes)
    return replace(report, nodes=nodes)


def node(
    key: str,
    op_type: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    graph: str = "main",
    name: str | None = None,
    scope: str = "",
) -> NodeFact:
    """A float32 node; its name is made of its key unless one is given."""
    own = f"{op_type}_{key}" if name is None else name
    return NodeFact(key, graph, own, op_type, "", scope, "float32", tuple(inputs), tuple(outputs))


def report_of(nodes: Sequence[NodeFact]) -> AuditReport:
    """A report about nodes alone."""
    return AuditReport(
        "", "", 10, {"": 20}, "", "", 0, tuple(nodes), (), (), (), (), layers_of(nodes), ()
    )


def inserted(report: AuditReport, place: int) -> AuditReport:
    """The report with a Cast before the node at a place; the keys behind it move by one."""
    reader = report.nodes[place]
    value = reader.inputs[0]
    cast = replace(
        reader,
        name=f"{value}_cast",
        op_type="Cast",
        inputs=(value,),
        outputs=(f"{value}_cast",),
        parameters=0,
        parameter_bytes=0,
        multiply_accumulates=None,
        origin="insert-casts: asked for",
    )
    moved = replace(reader, inputs=(f"{value}_cast", *reader.inputs[1:]))
    nodes = [*report.nodes[:place], cast, moved, *report.nodes[place + 1 :]]
    numbered = [replace(each, key=f"main#{at}") for at, each in enumerate(nodes)]
    return replace(
        report,
        nodes=tuple(numbered),
        layers=layers_of(numbered, report.weights),
        casts=(),
        hazards=(),
    )


HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>\u2028 & 'quoted' \"twice\"",
    "\ud800 lone",
)


def hostile() -> AuditReport:
    """A report whose names, values and findings try to be markup."""
    report = transformer(30)
    nodes = [
        replace(each, name=HOSTILE[at], origin=HOSTILE[0], outputs=(HOSTILE[at],))
        if at < len(HOSTILE)
        else each
        for at, each in enumerate(report.nodes)
    ]
    hazards = tuple(
        replace(each, node=HOSTILE[0], value=HOSTILE[1], evidence=HOSTILE[2], suggestion=HOSTILE[0])
        for each in report.hazards
    )
    layers = replace(layers_of(nodes), name=HOSTILE[0])
    return replace(
        report,
        model=HOSTILE[1],
        producer=HOSTILE[0],
        nodes=tuple(nodes),
        hazards=hazards,
        layers=layers,
        not_audited=(NotAudited(HOSTILE[0], HOSTILE[1]),),
    )
