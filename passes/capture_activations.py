"""Keep rows of the activations of products, for the passes that measure errors on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.calibration import capture_rows
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant.tuning import ActivationRows, find_products
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.targets import Target, get_target, quantization_rules

__all__ = ["CaptureActivations"]


@dataclass(frozen=True)
class CaptureActivations(Pass):
    """Run the model on data and put ``ActivationRows`` into the facts.

    Kept are rows of what each MatMul or Gemm with a constant matrix reads, where a policy quantizes
    activations to 8 bits. Without data nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        data: A file, folder or script as for ``--data``; empty takes the ``DataSet`` that the facts
            hold, if they do.
        rows: Rows to keep of each activation.
        samples: Samples to run at most.
        memory: Bound of the arrays that leave the model in one run, such as 512MB.
    """

    policy: str = ""
    target: str = ""
    data: str = ""
    rows: int = 128
    samples: int = 16
    memory: str = "512MB"

    name: ClassVar[str] = "capture-activations"
    provides: ClassVar[tuple[type, ...]] = (ActivationRows,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Keep the rows; the model is not changed."""
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        feeds = load_data(self.data, input_specs(model)) if self.data else facts.find(DataSet)
        if feeds is None:
            return False
        resolutions = resolve_nodes(model, policy)
        rules = quantization_rules(target)
        products = find_products(model.graph, infer_types(model), resolutions, rules)
        names = [product.activation.name for product in products if product.activation.name]
        if names:
            rows, samples, memory = self.rows, self.samples, self.memory
            facts.put(capture_rows(model, feeds, names, rows=rows, samples=samples, memory=memory))
        return False
