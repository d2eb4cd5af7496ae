from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import mpgraph
from mpgraph.errors import PipelineError
from mpgraph.passmgr import Pass, load_class, load_pipeline, pass_table, pipelines
from mpgraph.passmgr.registry import _merge
from passes import PASSES


@pytest.mark.parametrize("name", sorted(PASSES))
def test_file_key_and_class_agree(name: str) -> None:
    module, _, class_name = PASSES[name].partition(":")
    assert module == "passes." + name.replace("-", "_")
    assert class_name == "".join(part.capitalize() for part in name.split("-"))
    cls = load_class(name)
    assert issubclass(cls, Pass)
    assert cls.name == name
    assert cls.__module__ == module
    assert (import_module(module).__doc__ or "").strip()


def test_every_pass_file_is_in_the_table() -> None:
    folder = Path(import_module("passes").__path__[0])
    defined = {
        path.stem
        for path in folder.glob("*.py")
        if "(Pass):" in path.read_text(encoding="utf-8") and not path.stem.startswith("_")
    }
    assert defined == {name.replace("-", "_") for name in PASSES}


def test_the_installed_table_holds_the_builtin_passes() -> None:
    assert PASSES.items() <= pass_table().items()


@pytest.mark.parametrize("name", pipelines.__all__)
def test_the_standard_pipelines_name_builtin_passes(name: str) -> None:
    options = {
        "keep_io_types": "true",
        "allow_slow": "false",
        "storage": "compute",
        "tolerance": "0.01",
        "max_error": "0.03",
    }
    loaded = load_pipeline(getattr(pipelines, name).format(**options))
    assert loaded
    assert {each.label for each in loaded} <= set(PASSES)


def test_an_unknown_pass_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(PipelineError, match=r"unknown pass 'normalise'.*normalize"):
        load_pipeline("normalise")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("no_such_package:Pass", "cannot be loaded"),
        ("mpgraph.passmgr:NoSuch", "cannot be loaded"),
        ("pathlib:Path", "neither a Pass nor an onnx-ir PassBase"),
    ],
)
def test_a_bad_class_path_is_refused(path: str, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        load_class(path)


def test_two_owners_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tables_for_test.py").write_text("A = {'p': 'a:P'}\nB = {'p': 'b:P'}\nC = [1]\n")
    monkeypatch.syspath_prepend(tmp_path)
    first, second, bad = (
        EntryPoint(name, f"tables_for_test:{name}", "mpgraph.passes") for name in "ABC"
    )
    assert _merge([first]) == {"p": "a:P"}
    with pytest.raises(PipelineError, match="pass 'p': is registered by"):
        _merge([first, second])
    with pytest.raises(PipelineError, match="is no table"):
        _merge([bad])
    with pytest.raises(PipelineError, match="no passes are registered"):
        _merge([])


@pytest.mark.parametrize("content", ["", "PASSES = {'x': 'passes.x:X'}\n"], ids=["bare", "alike"])
def test_a_shadowing_package_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "passes").mkdir()
    (tmp_path / "passes" / "__init__.py").write_text(content)
    root = Path(mpgraph.__file__).parents[1]
    program = (
        "import sys\n"
        f"sys.path[:0] = [{str(tmp_path)!r}, {str(root)!r}]\n"
        "from importlib.metadata import EntryPoint\n"
        "from mpgraph.errors import PipelineError\n"
        "from mpgraph.passmgr.registry import _merge\n"
        "try:\n"
        "    _merge([EntryPoint('builtin', 'passes:PASSES', 'mpgraph.passes')])\n"
        "except PipelineError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert f"{tmp_path / 'passes'} shadows it" in done.stdout
