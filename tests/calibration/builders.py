"""Models and oracles for the tests of calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime

from mpgraph import ir
from tests.runtime.builders import build

NET = """g (float[N, S, 8] x) => (float[N, S, 4] y) {
    h = MatMul (x, w1)
    b = Add (h, bias)
    r = Relu (b)
    t = Transpose <perm = [1, 0, 2]> (r)
    y = MatMul (r, w2)
    unused = Shape (t)
}"""


def net() -> ir.Model:
    """MatMul, Add, Relu, MatMul over samples of any batch and length."""
    random = np.random.default_rng(0)
    return build(
        NET,
        w1=random.standard_normal((8, 16)).astype(np.float32),
        bias=random.standard_normal(16).astype(np.float32),
        w2=random.standard_normal((16, 4)).astype(np.float32),
    )


def feeds(count: int = 12, seed: int = 0, **larger: int) -> list[dict[str, np.ndarray[Any, Any]]]:
    """Samples of many shapes and magnitudes, the first one empty of rows where there are several."""
    random = np.random.default_rng(seed)
    found = []
    for index in range(count):
        rows, steps = int(random.integers(1, 5)), int(random.integers(1, 30))
        if index == 3:
            rows = 0
        array = random.standard_normal((rows, steps, 8)) * 2.0 ** random.integers(-3, 4)
        found.append({"x": array.astype(np.float32)})
    return found


def all_values(model: ir.Model, samples: list[dict[str, Any]]) -> dict[str, list[np.ndarray]]:
    """What onnxruntime computes for every value of the main graph, without optimisations."""
    proto = ir.to_proto(model)
    names = [name for node in proto.graph.node for name in node.output if name]
    del proto.graph.output[:]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for sample in samples:
        for name, array in zip(names, session.run(names, sample), strict=True):
            found[name].append(array)
        for name, array in sample.items():
            found.setdefault(name, []).append(array)
    return found
