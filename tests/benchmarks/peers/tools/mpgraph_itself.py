"""mpgraph, from this checkout, in the running environment."""

from __future__ import annotations

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool

__all__ = ["TOOL"]

_STATIC = ", no data"
_NODE_TEST = "each operator mixed_float16"


def _prepare() -> None:
    from mpgraph.passmgr import load_class, pass_table
    from mpgraph.runtime.ort import onnxruntime

    onnxruntime()
    for name in pass_table():
        load_class(name)


def _convert(job: Job) -> str:
    import mpgraph

    if job.policy == _NODE_TEST:
        return _convert_node_test(job)
    name = job.policy.removesuffix(_STATIC)
    rules = {f"op:{operator}": "float32" for operator in job.high}
    with_data = bool(job.data) and not job.policy.endswith(_STATIC)
    converted = mpgraph.convert(
        job.source,
        mpgraph.PolicyMap(name, rules),
        target=job.target,
        data=job.feeds if with_data else None,
        verify="load" if job.data else "structure",
    )
    converted.save(job.output)
    planned = converted.quantization
    if planned is None:
        return ""
    return f"{planned.quantized} of {planned.quantizable} quantized"


def _convert_node_test(job: Job) -> str:
    """As the node suite of mpgraph does: a rule for each operator of the model."""
    import mpgraph
    from mpgraph import ir

    model = ir.load(job.source)
    rules = {f"op:{node.op_type}": "mixed_float16" for node in ir.nodes(model)}
    policy = mpgraph.PolicyMap("float32", rules)
    mpgraph.convert(model, policy, target="cpu", allow_slow=True, verify="load").save(job.output)
    return ""


TOOL = Tool(
    name="mpgraph",
    requirements=(),
    policies={
        "float16": ("mixed_float16", "float16", f"mixed_float16{_STATIC}"),
        "int8": ("int8_from_float32", "int8_dynamic_from_float32"),
        "int4": ("int4/32_from_float32", "uint4/32_from_float32"),
        "chain": ("float16", f"float16{_STATIC}"),
        "matmuls": ("int8_dynamic_from_float32", f"int8_dynamic_from_float32{_STATIC}"),
        "weights": ("mixed_float16",),
        "weights-int4": ("int4/32_from_float32",),
        "nodes": (_NODE_TEST,),
    },
    convert=_convert,
    modules=("mpgraph.conversion",),
    prepare=_prepare,
)
