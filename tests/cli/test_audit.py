from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest

import models
from mpgraph import ir
from mpgraph.auditing.rules import RULES
from tests.auditing.rule_cases import CASES
from tests.cli.conftest import Run, error_of
from tests.report.audit_pages import page_texts

SARIF = Path(__file__).parents[1] / "report" / "ci" / "sarif-schema-2.1.0.json"


@pytest.fixture
def casts_path(tmp_path: Path) -> Path:
    """A removable cast pair between unnamed nodes."""
    path = tmp_path / "casts.onnx"
    case = next(case for case in CASES if case.code == "MPG202")
    ir.save(case.broken(), path)
    return path


@pytest.fixture
def warned_path(tmp_path: Path) -> Path:
    """A lossy cast pair."""
    path = tmp_path / "lossy.onnx"
    case = next(case for case in CASES if case.code == "MPG201")
    ir.save(case.broken(), path)
    return path


def test_the_report_names_the_model_and_its_findings(mpgraph: Run, warned_path: Path) -> None:
    result = mpgraph("audit", warned_path)
    assert result.exit_code == 0, result.output
    assert "lossy.onnx" in result.stdout
    assert "static evidence only" in result.stdout
    assert "MPG201  warning  1  lossy cast pair" in result.stdout


def test_data_and_target_are_used(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    result = mpgraph("audit", model_path, "--data", data_path, "--target", "cpu")
    assert result.exit_code == 0, result.output
    assert "measured on 3 samples" in result.stdout
    assert "on cpu: CPUExecutionProvider: 4 nodes" in result.stdout


def test_json_holds_everything(mpgraph: Run, warned_path: Path) -> None:
    result = mpgraph("audit", warned_path, "--json")
    found = json.loads(result.stdout)
    assert next(iter(found)) == "format"
    assert found["format"] == 1
    assert found["hazards"][0]["code"] == "MPG201"
    assert len(found["nodes"]) == 2


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ("MPG201", 1),
        ("lossy-cast-pair", 1),
        ("MPG2", 1),
        ("warning", 1),
        ("note", 1),
        ("error,removable-cast-pair", 0),
        ("MPG202,MPG203", 0),
    ],
)
def test_fail_on(mpgraph: Run, warned_path: Path, names: str, status: int) -> None:
    assert mpgraph("audit", warned_path, "--fail-on", names).exit_code == status


def test_only_selected_rules_run(mpgraph: Run, warned_path: Path) -> None:
    for options in (("--select", "MPG1,MPG202"), ("--ignore", "MPG2,MPG502", "--ignore", "MPG1")):
        result = mpgraph("audit", warned_path, *options, "--fail-on", "note")
        assert result.exit_code == 0, result.output
        assert "no findings" in result.stdout


def test_a_fix_is_written_and_the_model_is_left_alone(
    mpgraph: Run, casts_path: Path, tmp_path: Path
) -> None:
    before = casts_path.read_bytes()
    out = tmp_path / "out.onnx"
    result = mpgraph("audit", casts_path, "--fix", "-o", out, "--fail-on", "note")
    assert result.exit_code == 0, result.output
    assert "repaired by remove-cast-pairs, name-nodes, written to" in result.stderr
    fixed = onnx.load(out)
    assert [node.op_type for node in fixed.graph.node] == ["Identity"]
    assert all(node.name for node in fixed.graph.node)
    assert casts_path.read_bytes() == before
    assert mpgraph("audit", casts_path, "--fix").exit_code == 0
    assert (tmp_path / "casts_fixed.onnx").is_file()


def test_a_diff_writes_nothing(mpgraph: Run, casts_path: Path, tmp_path: Path) -> None:
    files = set(tmp_path.iterdir())
    result = mpgraph("audit", casts_path, "--fix", "--diff")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any(line.startswith("-") and "Cast" in line for line in lines)
    assert any(line.startswith("+") and "Identity" in line for line in lines)
    assert set(tmp_path.iterdir()) == files
    assert mpgraph("audit", casts_path, "--diff", "--select", "MPG1").stdout == ""


def test_nothing_to_repair_writes_nothing(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    result = mpgraph("audit", model_path, "--fix", "-o", tmp_path / "out.onnx")
    assert result.exit_code == 0, result.output
    assert "nothing to repair" in result.stderr
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_explained(mpgraph: Run, code: str) -> None:
    result = mpgraph("audit", "--explain", code.lower())
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{code} {RULES[code].kind} ")
    assert RULES[code].explanation.strip() in result.stdout
    assert mpgraph("audit", "--explain", RULES[code].kind).stdout == result.stdout


def test_all_rules_are_listed(mpgraph: Run) -> None:
    result = mpgraph("audit", "--explain", "all")
    assert result.exit_code == 0, result.output
    assert all(code in result.stdout for code in RULES)


def test_without_weights(mpgraph: Run, tmp_path: Path) -> None:
    path = models.save_decoder(
        tmp_path / "decoder.onnx", layers=1, hidden=32, ffn=64, vocabulary=64, heads=2
    )
    result = mpgraph("audit", path, "--no-weights", "--json")
    weights = json.loads(result.stdout)["weights"]
    assert {one["range"] is None for one in weights if one["nbytes"] > 1024} == {True}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "cupa"), "did you mean"),
        (("--select", "MPG9"), "none of that code"),
        (("--fail-on", "everything"), "none of that code"),
        (("-o", "out.onnx"), "--fix"),
        (("--data", "missing.npz"), "missing.npz"),
        (("--format", "xml"), "sarif"),
        (("--annotate", "no/folder/out.onnx"), "no/folder"),
        (("--model-explorer", "no/folder/out.json"), "no/folder"),
        (("--annotate", "same", "--html", "same"), "two outputs"),
        (("--model-explorer", "a.json", "--html", "a_bytes.json"), "two outputs"),
        (("--fix", "-o", "a.onnx", "--annotate", "a.onnx"), "two outputs"),
    ],
)
def test_wrong_options_are_one_line(
    mpgraph: Run, model_path: Path, options: tuple[str, ...], said: str
) -> None:
    assert said in error_of(mpgraph("audit", model_path, *options))


def test_bad_input_is_one_line(mpgraph: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"nonsense")
    assert "not an ONNX file" in error_of(mpgraph("audit", path))
    assert "missing argument MODEL" in error_of(mpgraph("audit"))
    assert "none of that code" in error_of(mpgraph("audit", "--explain", "MPG0"))


def test_the_input_is_never_the_output(mpgraph: Run, casts_path: Path) -> None:
    error_of(mpgraph("audit", casts_path, "--fix", "-o", casts_path))
    for option in ("--annotate", "--model-explorer", "--html"):
        error_of(mpgraph("audit", casts_path, option, casts_path))
    assert np.any(np.frombuffer(casts_path.read_bytes(), np.uint8))


def test_a_plan_tells_what_was_decided(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    done = mpgraph("convert", model_path, "--dump-plan", plan, "-o", tmp_path / "low.onnx")
    assert done.exit_code == 0, done.output
    result = mpgraph("audit", model_path, "--plan", plan, "--json", "--html", page)
    assert result.exit_code == 0, result.output
    told = [node["decision"] for node in json.loads(result.stdout)["nodes"]]
    assert told
    assert all(" by " in text for text in told)
    shown = page_texts(page)
    assert all(text in shown for text in told)
    assert "cannot be read" in error_of(mpgraph("audit", model_path, "--plan", tmp_path / "no"))


def test_sarif_is_one_valid_log(mpgraph: Run, warned_path: Path) -> None:
    result = mpgraph("audit", warned_path, "--format", "sarif", "--fail-on", "warning")
    assert result.exit_code == 1
    schema = json.loads(SARIF.read_text(encoding="utf-8"))
    log = json.loads(result.stdout)
    jsonschema.Draft4Validator(schema).validate(log)
    (run,) = log["runs"]
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("MPG201", "warning")
    uri = first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == warned_path.as_uri()


def test_sarif_of_two_runs_is_the_same(
    mpgraph: Run, warned_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(warned_path.parent)
    runs = [mpgraph("audit", path, "--format", "sarif") for path in (warned_path, "lossy.onnx")]
    assert runs[0].stdout == runs[1].stdout
    assert '"uri": "lossy.onnx"' in runs[0].stdout


def test_annotations_of_github(
    mpgraph: Run, warned_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(warned_path.parent)
    result = mpgraph("audit", "lossy.onnx", "--format", "github", "--select", "MPG201")
    assert result.exit_code == 0, result.output
    (line,) = result.stdout.splitlines()
    assert line.startswith("::warning file=lossy.onnx,title=MPG201::lossy cast pair at ")
    clean = mpgraph("audit", "lossy.onnx", "--format", "github", "--select", "MPG1")
    assert clean.stdout == ""


def test_the_schema_needs_no_model_and_fits_what_is_printed(mpgraph: Run, casts_path: Path) -> None:
    result = mpgraph("audit", "--schema")
    assert result.exit_code == 0, result.output
    schema = json.loads(result.stdout)
    document = json.loads(mpgraph("audit", casts_path, "--json", "--target", "cpu").stdout)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_node_data_for_model_explorer(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    result = mpgraph("audit", model_path, "--model-explorer", path)
    assert result.exit_code == 0, result.output
    assert "net.onnx" in result.stdout
    assert "nodes_bytes.json" in result.stderr
    files = {
        metric: json.loads((tmp_path / name).read_text(encoding="utf-8"))
        for metric, name in (
            ("dtype", "nodes.json"),
            ("bytes", "nodes_bytes.json"),
            ("findings", "nodes_findings.json"),
        )
    }
    nodes = files["dtype"]["net"]["results"]
    assert nodes["soft"] == {"value": "float32", "bgColor": "#0072b2"}
    assert nodes["[value] w1"]["value"] == "float32"
    assert {key: one["value"] for key, one in files["bytes"]["net"]["results"].items()} == {
        "first": 1024,
        "last": 1024,
    }
    assert files["findings"] == {}


def test_an_annotated_model(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    before = model_path.read_bytes()
    out = tmp_path / "annotated.onnx"
    result = mpgraph("audit", model_path, "--annotate", out)
    assert result.exit_code == 0, result.output
    assert f"annotated model written to {out}" in result.stderr
    assert model_path.read_bytes() == before
    written = ir.load(out)
    assert {ir.annotation(node)[0] for node in ir.nodes(written)} == {"float32"}
    assert ir.fingerprint(written) == ir.fingerprint(ir.load(model_path))
    assert mpgraph("diff", model_path, out).exit_code == 0


def test_external_data_is_beside_the_annotated_model(mpgraph: Run, tmp_path: Path) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    path = models.save_decoder(
        tmp_path / "in" / "decoder.onnx", layers=1, hidden=32, ffn=64, vocabulary=64, heads=2
    )
    out = tmp_path / "out" / "annotated.onnx"
    assert mpgraph("audit", path, "--annotate", out).exit_code == 0
    assert {one.name for one in out.parent.iterdir()} == {
        "annotated.onnx",
        "annotated.onnx.data",
    }
    assert mpgraph("diff", path, out).exit_code == 0


def test_a_model_whose_data_lies_outside_cannot_be_annotated(mpgraph: Run, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "model.onnx"
    onnx.save(models.build("mlp"), path, save_as_external_data=True, location="w", size_threshold=0)
    proto = onnx.load(path, load_external_data=False)
    for tensor in proto.graph.initializer:
        tensor.external_data[0].value = "../w"
    path.write_bytes(proto.SerializeToString())
    assert mpgraph("audit", path).exit_code == 0
    error_of(mpgraph("audit", path, "--annotate", tmp_path / "out.onnx"))
    assert not (tmp_path / "out.onnx").exists()
