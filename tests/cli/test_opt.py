from __future__ import annotations

from pathlib import Path

import onnx

from tests.cli.conftest import Run, error_of


def test_the_ir_is_printed_without_an_output(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("opt", model_path, "--passes", "normalize")
    assert result.exit_code == 0, result.output
    assert "MatMul" in result.stdout


def test_a_pipeline_converts(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    passes = (
        "normalize,infer-dtypes,assign-policy{policy=mixed_float16},protect-numerics,"
        "legalize{target=cuda},place-casts{target=cuda},insert-casts,convert-weights,fold"
    )
    out = tmp_path / "out.onnx"
    dumps = tmp_path / "dumps"
    result = mpgraph(
        *("opt", model_path, "--passes", passes, "-o", out, "--dump-dir", dumps),
        *("--verify-each", "--print-after", "insert-casts", "--timing"),
    )
    assert result.exit_code == 0, result.output
    onnx.checker.check_model(out, full_check=True)
    assert result.stdout.startswith("after insert-casts:")
    assert "fold" in result.stderr
    assert len(list(dumps.iterdir())) == 10


def test_the_bisect_limit_stops_early(mpgraph: Run, model_path: Path) -> None:
    options = ("--passes", "normalize,infer-dtypes", "--bisect-limit", "1", "--timing")
    result = mpgraph("opt", model_path, *options)
    assert result.exit_code == 0, result.output
    assert "normalize" in result.stderr
    assert "infer-dtypes" not in result.stderr


def test_bad_pipelines_are_one_line(mpgraph: Run, model_path: Path) -> None:
    for passes, said in (
        ("normalise", "normalize"),
        ("normalize{", "position 11"),
        ("fold{depth=1}", "no option 'depth'"),
        ("insert-casts", "run place-casts first"),
    ):
        assert said in error_of(mpgraph("opt", model_path, "--passes", passes))


def test_a_failing_pass_leaves_a_reproducer(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    passes = "normalize,tests.passmgr.sample_passes:Explode"
    result = mpgraph("opt", model_path, "--passes", passes, "--dump-dir", dumps)
    line = error_of(result, status=1)
    assert "pass 'explode': ZeroDivisionError" in line
    assert str(dumps / "reproducer") in line
    onnx.checker.check_model(dumps / "reproducer" / "before.onnx")
    rest = (dumps / "reproducer" / "rest.txt").read_text()
    assert rest == "explode\n"
