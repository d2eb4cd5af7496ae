"""Running parts of the standard pipeline on a model, and seeing what each pass did."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.passmgr import Facts, load_pipeline, run_pipeline
from mpgraph.passmgr.pipelines import CONVERT
from mpgraph.policy import as_policy_map
from mpgraph.targets import get_target

POLICIES = ("mixed_float16", "float16", "mixed_bfloat16", "bfloat16", "float32")
DECIDE = "infer-dtypes,assign-policy,protect-numerics,legalize{allow-slow=true},place-casts"
APPLY = "insert-casts,convert-weights,fold"


def given(policy="mixed_float16", target="cuda"):
    """The facts that a conversion starts with."""
    return Facts(as_policy_map(policy), get_target(target))


def run(model, text, facts=None, **options):
    """Run a pipeline text in place; return whether it says that it changed the model."""
    return run_pipeline(model, load_pipeline(text), given(**options) if facts is None else facts)


def applied(model, **options):
    """Decide and rewrite a model in place; return the facts."""
    facts = given(**options)
    run(model, f"normalize,convert-opset,{DECIDE},{APPLY}", facts)
    return facts


def standard_passes(keep_io_types=True, allow_slow=True, storage="compute"):
    """The passes of the standard pipeline, to be run one by one."""
    text = CONVERT.format(
        keep_io_types=str(keep_io_types).lower(),
        allow_slow=str(allow_slow).lower(),
        storage=storage,
    )
    return load_pipeline(text)


def state(model):
    """Everything about a model that a pass could change, as text."""
    return ir.print_model(model), ir.fingerprint(model)


def casts(model):
    """Every Cast of a model: (operand, result, dtype), in graph order."""
    return [
        (node.inputs[0].name, node.outputs[0].name, ir.DataType(node.attributes["to"].as_int()))
        for node in ir.nodes(model)
        if node.op_type == "Cast"
    ]
