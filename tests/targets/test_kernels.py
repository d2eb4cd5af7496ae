"""Kernel tables: matching within one registration, version edges, the JSON form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mpgraph.errors import TargetError
from mpgraph.targets import KernelTable, live_table, load_table, snapshot
from mpgraph.targets.kernels import SHIPPED, table_from_json, table_to_json

FLOAT16 = "tensor(float16)"
FLOAT32 = "tensor(float)"
CPU = "CPUExecutionProvider"


def table(*registrations: list[object]) -> KernelTable:
    return table_from_json({"ort": "0", "kernels": {"test::Op": list(registrations)}}, "Test")


def test_registrations_are_never_united() -> None:
    adversary = table(
        [1, None, {"T": [FLOAT16], "U": [FLOAT32]}],
        [1, None, {"T": [FLOAT32], "U": [FLOAT16]}],
        [2, 5, {"T": [FLOAT32], "U": [FLOAT32]}],
    )
    assert adversary.supports("test", "Op", 1, {"T": FLOAT16, "U": FLOAT32})
    assert adversary.supports("test", "Op", 1, {"T": FLOAT32, "U": FLOAT16})
    assert not adversary.supports("test", "Op", 1, {"T": FLOAT16, "U": FLOAT16})
    assert not adversary.supports("test", "Op", 1, {"T": FLOAT32, "U": FLOAT32})
    assert adversary.supports("test", "Op", 3, {"T": FLOAT32, "U": FLOAT32})


def test_unconstrained_and_unbound_variables_are_no_obstacle() -> None:
    loose = table([1, None, {"T": [FLOAT16], "U": [FLOAT32]}])
    assert loose.supports("test", "Op", 1, {"T": FLOAT16, "V": "tensor(string)"})
    assert loose.supports("test", "Op", 1, {"U": FLOAT32})
    assert not loose.supports("test", "Op", 1, {"U": FLOAT16})


@pytest.mark.parametrize(
    ("opset", "expected"), [(6, False), (7, True), (9, True), (10, False), (12, False), (13, True)]
)
def test_version_edges(opset: int, expected: bool) -> None:
    edges = table([7, 9, {"T": [FLOAT16]}], [13, None, {"T": [FLOAT16]}])
    assert edges.supports("test", "Op", opset, {"T": FLOAT16}) is expected
    assert edges.has("test", "Op", opset) is expected


def test_open_ended_registration_does_not_reach_a_later_version_of_the_schema() -> None:
    cpu = load_table(CPU)
    assert cpu.supports("", "RoiAlign", 21, {"T1": FLOAT32})
    assert not cpu.supports("", "RoiAlign", 22, {"T1": FLOAT32})


def test_opset_between_two_versions_means_the_earlier_version() -> None:
    cpu = load_table(CPU)
    assert cpu.has("", "MatMul", 13) and cpu.has("", "MatMul", 26)
    assert cpu.has("ai.onnx", "MatMul", 21) and not cpu.has("other", "MatMul", 21)


@pytest.mark.parametrize("provider", SHIPPED)
def test_shipped_tables_load_and_round_trip(provider: str) -> None:
    shipped = load_table(provider)
    assert shipped.kernels and not shipped.live
    assert table_from_json(table_to_json(shipped), provider) == shipped


def test_unknown_provider_has_no_table() -> None:
    with pytest.raises(TargetError, match="no kernel table is shipped"):
        load_table("NoSuchProvider")


@pytest.mark.parametrize("data", [{}, {"ort": "1", "kernels": {"Op": [[1, 2]]}}, {"kernels": 3}])
def test_malformed_table_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(TargetError, match="malformed"):
        table_from_json(data, "Test")


def test_live_cpu_table_equals_the_shipped_one() -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="asks the installed onnxruntime")
    shipped, live = load_table(CPU), live_table(CPU)
    if onnxruntime.__version__ != shipped.version:
        pytest.skip(f"onnxruntime {onnxruntime.__version__} is not the table's {shipped.version}")
    assert live.live
    for name in sorted({*shipped.kernels, *live.kernels}):
        expected = sorted(map(repr, map(_plain, shipped.kernels.get(name, ()))))
        assert sorted(map(repr, map(_plain, live.kernels.get(name, ())))) == expected, name


def _plain(kernel: object) -> object:
    since, until, types = kernel.since, kernel.until, kernel.types  # type: ignore[attr-defined]
    return since, until, {name: sorted(types[name]) for name in sorted(types)}


def test_snapshot_writes_a_table_that_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime", reason="asks the installed onnxruntime")
    first, second = tmp_path / "a.json.gz", tmp_path / "b.json.gz"
    assert snapshot.main([CPU, "-o", str(first)]) == 0
    assert snapshot.main([CPU, "-o", str(second)]) == 0
    assert "operators" in capsys.readouterr().out
    assert first.read_bytes() == second.read_bytes()
    assert table_from_json(json.loads(gzip.decompress(first.read_bytes())), CPU) == live_table(CPU)


def test_snapshot_of_a_provider_that_is_not_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.json"
    assert snapshot.main(["NoSuchProvider", "-o", str(target)]) == 2
    assert "NoSuchProvider" in capsys.readouterr().err
    assert not target.exists()
