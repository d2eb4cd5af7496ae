from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import (
    MissingDependencyError,
    ModelFileError,
    TargetError,
    VerificationError,
)
from mpgraph.ir.files import read_proto
from mpgraph.runtime import ort, sessions, source
from mpgraph.runtime.assignment import AssignedNode
from mpgraph.runtime.providers import provider_arguments
from mpgraph.runtime.sessions import create_session, run, session
from mpgraph.targets import Provider, find_provider
from tests.runtime.builders import build


def test_runs_paths_bytes_protos_and_models(tmp_path: Path) -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Mul (x, x) }")
    path = tmp_path / "m.onnx"
    path.write_bytes(ir.to_bytes(model))
    x = np.array([3], np.float32)
    for given in (model, path, str(path), ir.to_bytes(model), ir.to_proto(model)):
        assert session(given).run(None, {"x": x})[0] == [9]
        assert run(session(given, "CPUExecutionProvider"), {"x": x})["y"] == [9]


def test_bfloat16_inputs_and_outputs() -> None:
    model = build(
        "g (bfloat16[n] x, float[n] f) => (float[n] y, bfloat16[n] z, bfloat16[m] e)"
        "{ y = Cast<to = 1> (x) z = Cast<to = 16> (f) e = Slice (x, zero, zero) }",
        zero=np.array([0]),
    )
    x = np.array([1.5, np.inf, -0.0], ml_dtypes.bfloat16)
    f = np.array([0.1, 3e38, 1e-40], np.float32)
    got = run(create_session(model), {"x": x, "f": f})
    np.testing.assert_array_equal(got["y"], x.astype(np.float32))
    np.testing.assert_array_equal(got["z"], f.astype(ml_dtypes.bfloat16))
    assert got["z"].dtype == ml_dtypes.bfloat16
    assert got["e"].shape == (0,)
    assert list(run(create_session(model), {"x": x, "f": f}, ["y"])) == ["y"]


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
)
def test_float8_inputs_and_outputs_bit_for_bit(name: str) -> None:
    kind = np.dtype(name)
    short = name.replace("_", "")
    number = ir.DataType.from_numpy(kind).value
    model = build(
        f"g ({short}[n] x, float[n] f, {short}[n] e) => (float[n] y, {short}[n] z, {short}[n] e2)"
        f"{{ y = Cast<to = 1> (x) z = Cast<to = {number}> (f) e2 = Identity (e) }}",
        opset=21,
    )
    x = np.arange(256, dtype=np.uint8).view(kind)
    finite = x.astype(np.float32)[np.isfinite(x.astype(np.float32))]
    f = np.resize(finite, 256)
    got = run(create_session(model), {"x": x, "f": f, "e": x})
    np.testing.assert_array_equal(got["y"], x.astype(np.float32))
    assert got["z"].dtype == kind
    np.testing.assert_array_equal(got["z"].view(np.uint8), f.astype(kind).view(np.uint8))
    np.testing.assert_array_equal(got["e2"].view(np.uint8), x.view(np.uint8))


def test_scalars_beside_bfloat16_stay_scalars() -> None:
    model = build(
        "g (bfloat16[n] x, float s) => (bfloat16[n] y, float t){ y = Identity (x) t = Neg (s) }"
    )
    x = np.array([1, 2], ml_dtypes.bfloat16)
    got = run(create_session(model), {"x": x, "s": np.array(2, np.float32)})
    assert got["t"].shape == ()
    np.testing.assert_array_equal(got["y"], x)


def test_float16_strings_and_sequences() -> None:
    model = build(
        "g (float16[n] x, string[k] s) => (float16[n] y, string[k] t, seq(float16[n]) q)"
        "{ y = Identity (x) t = Identity (s) q = SequenceConstruct (x, x) }"
    )
    x = np.array([1, 2], np.float16)
    got = run(create_session(model), {"x": x, "s": np.array(["a"], object)})
    assert got["y"].dtype == np.float16
    assert list(got["t"]) == ["a"]
    assert len(got["q"]) == 2


def test_large_models_go_through_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_LARGEST_MESSAGE", 16)
    weight = np.arange(5000, dtype=np.float32)
    model = build("g (float[n] x) => (float[n] y) { y = Add (x, w) }", w=weight)
    got = run(create_session(model), {"x": weight})
    np.testing.assert_array_equal(got["y"], weight * 2)


def test_optimised_graph_is_written(tmp_path: Path) -> None:
    model = build("g (float[n] x) => (float[n] y) { a = Identity (x) y = Neg (a) }")
    for optimize, ops in ((True, ["Neg"]), (False, ["Identity", "Neg"])):
        path = tmp_path / f"{optimize}.onnx"
        create_session(model, optimize=optimize, optimized_path=path)
        assert [node.op_type for node in ir.load(path).graph] == ops


def test_weights_of_the_optimised_graph_are_not_kept(tmp_path: Path) -> None:
    weight = np.arange(5000, dtype=np.float32)
    model = build("g (float[n] x) => (float[n] y) { y = Add (x, w) }", w=weight)
    path = tmp_path / "optimized.onnx"
    create_session(model, optimized_path=path)
    (kept,) = read_proto(path).graph.initializer
    assert list(kept.dims) == [5000]
    assert sum(file.stat().st_size for file in tmp_path.iterdir() if file.is_file()) < 1000


def test_unknown_and_unavailable_targets() -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    with pytest.raises(TargetError, match="it is unknown"):
        create_session(model, target="abacus")
    if "CUDAExecutionProvider" not in ort.onnxruntime().get_available_providers():
        with pytest.raises(TargetError, match=r"no CUDAExecutionProvider.*mpgraph\[cuda\]"):
            create_session(model, target="cuda")
    if importlib.util.find_spec("onnxruntime_ep_webgpu") is None:
        with pytest.raises(MissingDependencyError, match=r"mpgraph\[webgpu\]"):
            create_session(model, target="webgpu")


def test_the_session_itself_takes_and_gives_bfloat16() -> None:
    model = build("g (bfloat16[n] x) => (bfloat16[n] y) { y = Identity (x) }")
    x = np.array([1.5, -2], ml_dtypes.bfloat16)
    (got,) = session(model).run(None, {"x": x})
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, x)


ON_CPU = AssignedNode("conv", "Conv", "CPUExecutionProvider", 0)
ON_TARGET = AssignedNode("mul", "Mul", "AzureExecutionProvider", 1)


@pytest.fixture
def assigned(monkeypatch: pytest.MonkeyPatch) -> list[AssignedNode]:
    """The record that sessions give, and a target whose provider takes what the record says."""
    record: list[AssignedNode] = []
    other = Provider("cpu", "AzureExecutionProvider", "cpu", ())
    monkeypatch.setattr(sessions, "read_assignment", lambda created: tuple(record))
    monkeypatch.setattr(sessions, "create_session", lambda model, **options: None)
    monkeypatch.setattr(sessions, "find_provider", lambda name: other)
    return record


def test_strict_names_the_nodes_on_another_provider(assigned: list[AssignedNode]) -> None:
    assigned.extend([ON_CPU, ON_TARGET])
    with pytest.raises(
        VerificationError, match=r"1 of 2 nodes .* CPUExecutionProvider: conv \(Conv\)"
    ):
        session("model.onnx", strict=True)
    session("model.onnx")
    assigned[:] = [ON_TARGET]
    session("model.onnx", strict=True)


def test_many_nodes_are_counted(assigned: list[AssignedNode]) -> None:
    assigned.extend([AssignedNode("", "Add", "CPUExecutionProvider", 0)] * 40)
    with pytest.raises(VerificationError, match=r"unnamed \(Add\) and 34 more"):
        session("model.onnx", strict=True)


def test_a_target_that_takes_nothing_is_warned_of(assigned: list[AssignedNode]) -> None:
    assigned.append(ON_CPU)
    with pytest.warns(RuntimeWarning, match="AzureExecutionProvider takes none of its 1 nodes"):
        session("model.onnx")


def test_the_cpu_is_never_another_provider() -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    assert session(model, strict=True).run(None, {"x": np.ones(1, np.float32)})[0] == [-1]


def test_int4_weights_do_not_quantize_the_activations() -> None:
    rng = np.random.default_rng(0)
    q = rng.integers(-8, 8, (256, 16)).astype(ml_dtypes.int4)
    scales = rng.random((8, 16), np.float32)
    model = build(
        "g (float[m,256] x) => (float[m,16] y)"
        "{ w = DequantizeLinear <axis = 0, block_size = 32> (q, s) y = MatMul (x, w) }",
        opset=21,
        q=q,
        s=scales,
    )
    x = rng.standard_normal((4, 256)).astype(np.float32)
    exact = x.astype(np.float64) @ (q.astype(np.float64) * np.repeat(scales, 32, 0))
    level = "session.qdq_matmulnbits_accuracy_level"
    errors = [
        np.abs(session(model, settings=given).run(None, {"x": x})[0] - exact).max() / np.ptp(exact)
        for given in (None, {level: "4"})
    ]
    assert errors[0] < 1e-5 < 1e-3 < errors[1], errors


def test_quantized_products_do_not_saturate() -> None:
    model = build(
        """g (float[4,64] x) => (float[4,8] y) {
        xq = QuantizeLinear (x, s, z) xd = DequantizeLinear (xq, s, z)
        wd = DequantizeLinear (w, ws, wz) m = MatMul (xd, wd)
        mq = QuantizeLinear (m, ms, z) y = DequantizeLinear (mq, ms, z) }""",
        s=np.array(1 / 255, np.float32),
        z=np.array(0, np.uint8),
        w=np.full((64, 8), 127, np.int8),
        ws=np.array(1 / 127, np.float32),
        wz=np.array(0, np.int8),
        ms=np.array(0.5, np.float32),
    )
    (got,) = session(model).run(None, {"x": np.ones((4, 64), np.float32)})
    np.testing.assert_allclose(got, 64, atol=0.5)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(TargetError, match="no setting 'speed'"):
        create_session(b"", settings={"speed": "11"})


def test_a_session_never_falls_back_by_itself() -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    created: Any = create_session(model)
    assert created._enable_fallback is False


def test_models_that_do_not_load_or_run(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a file"):
        create_session(tmp_path / "none.onnx")
    with pytest.raises(VerificationError, match="onnxruntime does not load it"):
        create_session(b"nothing")
    model = build("g (float[n] x, int64[k] s) => (float[m] y) { y = Reshape (x, s) }")
    with pytest.raises(VerificationError, match="onnxruntime fails at run time"):
        run(create_session(model), {"x": np.ones(3, np.float32), "s": np.array([7])})


def test_without_onnxruntime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def missing(name: str, *rest: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError("No module named 'onnxruntime'")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    ort.onnxruntime.cache_clear()
    try:
        with pytest.raises(MissingDependencyError, match=r"install mpgraph\[cpu\]"):
            ort.onnxruntime()
    finally:
        ort.onnxruntime.cache_clear()


def test_two_wheels_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ort, "clashing_wheels", lambda: ("onnxruntime", "onnxruntime-gpu"))
    ort.onnxruntime.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="share one module"):
            ort.onnxruntime()
    finally:
        ort.onnxruntime.cache_clear()


def test_importing_the_room_does_not_import_onnxruntime() -> None:
    source = Path(ort.__file__).parent
    for path in source.rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.startswith(("import onnx", "from onnx")), path


def test_a_provider_built_into_onnxruntime_needs_no_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    provider = find_provider("openvino")
    there = [provider.name, "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    arguments = provider_arguments(provider, provider.settings, onnxruntime.SessionOptions())
    assert [name for name, _ in arguments["providers"]] == there
