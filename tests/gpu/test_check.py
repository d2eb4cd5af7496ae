from __future__ import annotations

import pytest

import models
from mpgraph import ir
from tests.gpu import check

pytest.importorskip("onnxruntime", reason="runs models on the CPU provider")


def test_without_a_gpu_it_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "nvidia_gpus", lambda: ())
    assert check.main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "no NVIDIA GPU on this machine: nothing to check on cuda\n"


def test_a_row_has_every_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = [case for case in map(shrunk, check.cases()) if "residual_cnn" in case.name]
    monkeypatch.setattr(check, "cases", lambda: iter(small))
    assert check.main(["--target", "cpu", "--seconds", "0.01"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head, row = lines[2], lines[4]
    assert row.startswith("| residual_cnn")
    assert row.count("|") == head.count("|") == len(check.COLUMNS) + 1
    assert all(cell.strip() for cell in row.strip("|").split("|"))


def test_an_error_above_the_limit_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = [case for case in map(shrunk, check.cases()) if "residual_cnn" in case.name]
    monkeypatch.setattr(check, "cases", lambda: iter(small))
    monkeypatch.setattr(check, "error_on", lambda *_: 0.5)
    assert check.main(["--target", "cpu", "--seconds", "0.01"]) == 1
    assert "off by 5.0e-01 of the range" in capsys.readouterr().out


def shrunk(case: check.Case) -> check.Case:
    """The case with a model that the CPU runs in no time."""
    return check.Case(
        case.name,
        lambda: ir.load(models.build("residual_cnn")),
        lambda: models.feeds("residual_cnn")[:1],
    )
