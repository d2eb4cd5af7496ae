"""Converted models on WebGPU: where their nodes run, and how far the outputs are off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.runtime import create_session, node_placement, run
from tests.providers.attention import attention, attention_feed
from tests.providers.device import Array, both, emulate, of_range
from tests.runtime.builders import build

pytestmark = pytest.mark.webgpu

Measured = Callable[[str], None]
WEBGPU = "WebGpuExecutionProvider"


def check(
    original: ir.Model,
    converted: ir.Model,
    feed: Mapping[str, Array],
    label: str,
    measured: Measured,
    *,
    limit: float,
) -> None:
    """Run on WebGPU; compare with the original on the CPU, and say what the emulation gives."""
    wanted = run(create_session(original), feed)
    real = run(mpgraph.session(converted, target="webgpu"), feed)
    ideal = emulate(converted, feed, "webgpu")
    for name, exact in wanted.items():
        assert np.isfinite(real[name]).all()
        if exact.size > 1:
            off, foretold = of_range(real[name], exact), of_range(ideal[name], exact)
            measured(
                f"webgpu {label}, {name}: {off:.1e} of the range from the original, "
                f"{foretold:.1e} by the emulation"
            )
            assert off <= limit


def require_on_gpu(converted: ir.Model, feed: Mapping[str, Any], operators: Iterable[str]) -> None:
    """Every node of these operators runs on WebGPU, or was folded before the run."""
    placed = node_placement(converted, "webgpu", feed=dict(feed))
    there = [node for node in placed.nodes if node.op_type in operators and node.providers]
    assert there
    assert [node for node in there if node.providers != (WEBGPU,)] == []


def float16_nodes(converted: ir.Model, op_type: str) -> int:
    return sum(
        node.op_type == op_type and node.outputs[0].dtype == ir.DataType.FLOAT16
        for node in ir.nodes(converted)
    )


def test_attention_block(measured: Measured) -> None:
    model = attention("float16")
    off = of_range(*both(model, "webgpu", None, **attention_feed(np.dtype(np.float16))))
    measured(f"webgpu float16 attention block: {off:.1e} of the range from the emulation")
    assert off <= 4e-3


def test_transformer_block(measured: Measured) -> None:
    original = ir.load(models.build("decoder", layers=1))
    feed = models.feeds("decoder")[0]
    converted = mpgraph.convert(original, "mixed_float16", target="webgpu", data=[feed]).model
    assert float16_nodes(converted, "MatMul")
    check(original, converted, feed, "decoder block, mixed_float16", measured, limit=5e-3)
    require_on_gpu(converted, feed, ("MatMul", "Softmax", "Mul", "Add"))


def real_model(name: str) -> tuple[ir.Model, dict[str, Any]]:
    path = models.find(name)
    if path is None:
        pytest.skip(f"{name} is not installed: python -m models install {name}")
    return ir.load(path), models.real_feeds(name)[0]


def test_rapidocr_cls(measured: Measured) -> None:
    original, feed = real_model("rapidocr_cls")
    feed = {name: array[:1] for name, array in feed.items()}
    # The probabilities are 0 and 1 to the last digit; what goes into the softmax says more.
    softmax = next(node for node in original.graph if node.op_type == "Softmax")
    logits = softmax.inputs[0]
    assert logits is not None
    original.graph.outputs.append(logits)
    converted = mpgraph.convert(original, "mixed_float16", target="webgpu", data=[feed]).model
    assert float16_nodes(converted, "Conv") > 40
    check(original, converted, feed, "rapidocr_cls, mixed_float16", measured, limit=5e-3)
    require_on_gpu(converted, feed, ("Conv", "MatMul", "Softmax"))


def test_silero_vad_op18_ifless(measured: Measured) -> None:
    original, feed = real_model("silero_vad_op18_ifless")
    converted = mpgraph.convert(original, "mixed_float16", target="webgpu", data=[feed]).model
    assert float16_nodes(converted, "Conv")
    check(original, converted, feed, "silero_vad_op18_ifless, mixed_float16", measured, limit=5e-3)


def test_a_constant_read_on_the_cpu_and_in_a_branch_on_the_gpu() -> None:
    model = build(
        "g (float[3, 4] x, bool c, int64[1] k) => (float[a, b] y, bool[1] q) {"
        " q = Equal (k, i) y = If (c) <"
        " then_branch = t () => (float[a, b] p) { p = Gather<axis = 0> (x, i) },"
        " else_branch = e () => (float[a, b] r) { r = Relu (x) }> }",
        i=np.array([1]),
    )
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    feed = {"x": x, "c": np.array(True), "k": np.array([1])}
    got = run(mpgraph.session(model, target="webgpu"), feed)
    np.testing.assert_array_equal(got["y"], x[1:2])
    assert got["q"].all()
