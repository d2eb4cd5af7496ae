"""MPG505: weights in files outside of the model's folder."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    refused = context.subject.refused
    for value, tensor in context.weights.tensors.items():
        if isinstance(tensor, ir.ExternalTensor) and str(tensor.location) in refused:
            yield Found(
                finding="external data outside the folder",
                evidence=refused[str(tensor.location)],
                suggestion="save the model again with its data file beside it",
                value=value,
            )


RULE = Rule(
    code="MPG505",
    kind="outside-data",
    title="external data outside the folder",
    severity="error",
    explanation="""
A weight lies in a file that is not below the folder of the model: its location is an absolute path,
leads upwards, or goes through a symbolic link. Such a model breaks when it is moved, and a model
from elsewhere could have any file of the machine read as a weight: onnxruntime and mpgraph refuse
to load it. The audit looks at the graph and leaves such weights, and numeric hazards, alone.

Example: location "../weights/model.data".

Save the model again with its data beside it (onnx.save with save_as_external_data and a bare file
name as location).
""",
    search=_search,
)
