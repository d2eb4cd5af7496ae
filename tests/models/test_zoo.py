"""The catalogue of real models, their feeds and how they are found; nothing is downloaded."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnxruntime as ort
import pytest

import models
from models import zoo
from models.__main__ import main

DTYPES = {"float": np.float32, "int64": np.int64, "bool": np.bool_}


def fake_distribution(folder, requirement, path, content):
    name, _, version = requirement.partition("==")
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def with_catalogue(monkeypatch, *entries):
    table = {entry.name: entry for entry in entries}
    monkeypatch.setattr(zoo, "catalogue", lambda: table)


def fake_entry(files, content):
    return replace(
        models.catalogue()["surfaces_gbr_mlp"],
        name="fake",
        files=tuple(files),
        sha256=hashlib.sha256(content).hexdigest(),
    )


@pytest.mark.parametrize("name", models.catalogue())
def test_feeds_fit_the_declared_inputs(name):
    model = models.catalogue()[name]
    samples = models.real_feeds(name)
    assert samples
    for sample in samples:
        assert set(sample) == {item.name for item in model.inputs}
        for item in model.inputs:
            array = sample[item.name]
            assert array.dtype == DTYPES[item.dtype]
            assert array.ndim == len(item.shape)
            fixed = [(a, b) for a, b in zip(array.shape, item.shape, strict=True) if b != -1]
            assert all(a == b for a, b in fixed if isinstance(b, int))


def test_requirements_are_pinned_and_leave_out_the_large():
    default = models.requirements()
    assert all("==" in requirement for requirement in default)
    assert not any("kokoro" in requirement for requirement in default)
    assert len(models.requirements(["kokoro_int8"])) == 4
    assert models.requirements(["silero_vad", "silero_vad_op18_ifless"]) == ["silero-vad==6.2.3"]


def test_find_in_a_folder(tmp_path, monkeypatch):
    requirement = "fake-model==1.0"
    with_catalogue(monkeypatch, fake_entry([(requirement, "fake_model/m.onnx")], b"model"))
    assert zoo.find("fake", [tmp_path]) is None
    file = fake_distribution(tmp_path, requirement, "fake_model/m.onnx", b"model")
    assert zoo.find("fake", [tmp_path]) == file
    assert zoo.install(["fake"], tmp_path) == []
    file.unlink()
    assert zoo.find("fake", [tmp_path]) is None


def test_find_in_the_running_environment(tmp_path, monkeypatch):
    requirement = "fake-model==1.0"
    with_catalogue(monkeypatch, fake_entry([(requirement, "fake_model/m.onnx")], b"model"))
    file = fake_distribution(tmp_path, requirement, "fake_model/m.onnx", b"model")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert zoo.find("fake", [tmp_path / "empty"]) == file


def test_find_refuses_another_file(tmp_path, monkeypatch):
    requirement = "fake-model==1.0"
    with_catalogue(monkeypatch, fake_entry([(requirement, "m.onnx")], b"model"))
    fake_distribution(tmp_path, requirement, "m.onnx", b"something else")
    with pytest.raises(ValueError, match="hash differs"):
        zoo.find("fake", [tmp_path])


def test_another_version_is_not_taken(tmp_path, monkeypatch):
    with_catalogue(monkeypatch, fake_entry([("fake-model==1.0", "m.onnx")], b"model"))
    fake_distribution(tmp_path, "fake-model==2.0", "m.onnx", b"model")
    assert zoo.find("fake", [tmp_path]) is None


def test_parts_are_put_together_once(tmp_path, monkeypatch):
    files = [(f"fake-part-{i}==1.0", f"part_{i}/part.bin") for i in range(3)]
    with_catalogue(monkeypatch, fake_entry(files, b"p0p1p2"))
    for index, (requirement, path) in enumerate(files):
        assert zoo.find("fake", [tmp_path]) is None
        fake_distribution(tmp_path, requirement, path, f"p{index}".encode())
    found = zoo.find("fake", [tmp_path])
    assert found.read_bytes() == b"p0p1p2"
    assert zoo.find("fake", [tmp_path]) == found
    assert [p.name for p in found.parent.iterdir()] == ["fake.onnx"]


def test_wrong_parts_leave_nothing(tmp_path, monkeypatch):
    files = [(f"fake-part-{i}==1.0", f"part_{i}/part.bin") for i in range(2)]
    with_catalogue(monkeypatch, fake_entry(files, b"p0p1"))
    for requirement, path in files:
        fake_distribution(tmp_path, requirement, path, b"x")
    with pytest.raises(ValueError, match="hash differs"):
        zoo.find("fake", [tmp_path])
    assert list((tmp_path / "assembled").iterdir()) == []


def test_install_calls_pip_for_what_is_missing(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: calls.append((command, check)))
    assert models.install(["silero_vad", "basic_pitch_nmp"], tmp_path) == [
        "silero-vad==6.2.3",
        "basic-pitch==0.4.0",
    ]
    ((command, check),) = calls
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert "--no-deps" in command
    assert command[command.index("--target") + 1] == str(tmp_path)
    assert check


def test_unknown_name_suggests_the_nearest():
    for function in (models.find, models.real_feeds):
        with pytest.raises(ValueError, match="silero_vad"):
            function("silero_vat")
    with pytest.raises(ValueError, match="nearest"):
        models.requirements(["nothing like it"])


def test_command_line(tmp_path, capsys):
    folder = ["--folder", str(tmp_path)]
    assert main(["list", *folder]) == 0
    listed = capsys.readouterr().out
    assert "decoder" in listed
    assert main(["path", "kokoro_int8", *folder]) == 1
    assert "python -m models install kokoro_int8" in capsys.readouterr().err
    assert main(["path", "nothing", *folder]) == 2
    assert main(["build", "mlp", "-o", str(tmp_path / "mlp.onnx")]) == 0
    assert (tmp_path / "mlp.onnx").stat().st_size
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2


@pytest.mark.parametrize("name", models.catalogue())
def test_installed_models_run_on_their_feeds(name):
    path = models.find(name)
    if path is None:
        pytest.skip(f"{name} is not installed: python -m models install {name}")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    assert {item.name for item in session.get_inputs()} == {
        item.name for item in models.catalogue()[name].inputs
    }
    results = session.run(None, models.real_feeds(name)[0])
    assert len(results) == len(session.get_outputs())
