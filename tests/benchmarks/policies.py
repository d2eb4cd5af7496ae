"""How long it takes to find the policy of every node of a large model.

``python -m tests.benchmarks.policies [--nodes 100000] [--rules 200] [--repeat 3]``

The nodes are those of a transformer, a third each named as TorchScript, torch.export and tf2onnx
name them; each MatMul has a weight. The rules are globs, expressions, modules, names and weights in
equal parts, and operators. Printed for each step is the least processor time of the runs: other
work on the machine is not counted. Exit status 1 if all steps together need over 2 s.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from mpgraph import ir
from mpgraph.policy import NodeFacts, PolicyMap, Resolver, node_facts

LIMIT_S = 2.0
MODULES = ("attention.query", "attention.key", "attention.out", "ffn.0", "ffn.2.0", "norm")
OPERATORS = ("MatMul", "Add", "Softmax", "Mul", "Relu", "Transpose", "Exp", "ReduceMean")


def torchscript(layer: int, module: str, op_type: str, number: int) -> ir.Node:
    """A node with its module in its name, Sequentials doubled."""
    first, *rest = module.split(".")
    inner = [first, *(f"{first}.{'.'.join(rest[:end])}" for end in range(1, len(rest) + 1))]
    path = "/".join(inner if first == "ffn" else module.split("."))
    return named(f"/encoder/layers.{layer}/{path}/{op_type}_{number}", op_type)


def torch_export(layer: int, module: str, op_type: str, number: int) -> ir.Node:
    """A node with a flat name and its module in the metadata."""
    node = named(f"node_{op_type}_{layer}_{module}_{number}", op_type)
    scopes = ["", "decoder", f"decoder.layers.{layer}", f"decoder.layers.{layer}.{module}", "op"]
    node.metadata_props["pkg.torch.onnx.name_scopes"] = repr(scopes)
    return node


def tf2onnx(layer: int, module: str, op_type: str, number: int) -> ir.Node:
    """A node with `_1` behind each level of its name."""
    path = "/".join(f"{level}_1" for level in module.split("."))
    return named(f"model_1/block_{layer}_1/{path}/{op_type}_{number}", op_type)


def named(name: str, op_type: str) -> ir.Node:
    """A node without operands but for the weight of a MatMul."""
    weights = [ir.Value(name=f"{name}.weight")] if op_type == "MatMul" else []
    return ir.node(op_type, weights, name=name)


def build_model(count: int) -> ir.Model:
    """A model of so many nodes; only names, operators and metadata are filled in."""
    nodes = list(itertools.islice(_nodes(), count))
    weights = [value for node in nodes for value in node.inputs if value is not None]
    graph = ir.Graph([], [], nodes=nodes, initializers=weights, opset_imports={"": 21})
    return ir.Model(graph, ir_version=10)


def _nodes() -> Iterator[ir.Node]:
    for layer in itertools.count():
        for exporter, module in itertools.product((torchscript, torch_export, tf2onnx), MODULES):
            for number, op_type in enumerate(OPERATORS):
                yield exporter(layer, module, op_type, number)


def build_policy(count: int) -> PolicyMap:
    """A map of so many rules of every kind, each of which selects something."""
    rules: dict[str, str] = {}
    for number in range(count):
        rules |= {
            f"/encoder/layers.{number}/attention/*/MatMul_*": "float32",
            f"re:.*layers.{number}/ffn/.*Exp.*": "float32",
            f"scope:decoder.layers.{number}.attention.**": "float32",
            f"scope:model/block_{number}/**/query": "float32",
            f"node_MatMul_{number}_norm_0": "float16",
            f"model_1/block_{number}_1/norm_1/Add_1": "float16",
            f"initializer:*block_{number}_1/ffn_1/*": "float32",
        }
        if number < len(OPERATORS):
            rules[f"op:{OPERATORS[number]}"] = "mixed_float16"
    return PolicyMap("mixed_float16", dict(itertools.islice(rules.items(), count)))


def main(arguments: list[str]) -> int:
    """Print the steps, their sum, and how many nodes a rule selected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--rules", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args(arguments)
    model, policy = build_model(options.nodes), build_policy(options.rules)

    def read_facts() -> list[NodeFacts]:
        return list(node_facts(model, policy).values())

    def resolve_all() -> int:
        resolver = Resolver(policy)
        return sum(resolver.resolve(facts).explicit for facts in known)

    def check_all() -> None:
        Resolver(policy).check_all_matched(known)

    # As in a conversion, which pauses the collector over its whole pipeline.
    with ir.paused_gc():
        read_s, known = best(read_facts, options.repeat)
        resolve_s, explicit = best(resolve_all, options.repeat)
        check_s, _ = best(check_all, options.repeat)
    total = read_s + resolve_s + check_s
    print(f"{options.nodes} nodes, {len(policy.rules)} rules, {explicit} nodes by a rule")
    print(f"read names and modules {read_s:6.2f} s")
    print(f"find each policy       {resolve_s:6.2f} s")
    print(f"check every rule       {check_s:6.2f} s")
    print(f"together               {total:6.2f} s, at most {LIMIT_S:.0f} s")
    return 1 if total > LIMIT_S else 0


def best(step: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The least processor time of some runs of a step, in seconds, and what it returned."""
    times = []
    for _ in range(repeat):
        start = process_time()
        result = step()
        times.append(process_time() - start)
    return min(times), result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
