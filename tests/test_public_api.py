"""The public surface of mpgraph is a list, and every name on it leads somewhere."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import mpgraph

EXPECTED = {
    "CheckError",
    "ConversionError",
    "DTypePolicy",
    "DataError",
    "InputError",
    "InvalidModelError",
    "MissingDependencyError",
    "ModelFileError",
    "MpgraphError",
    "OutputError",
    "PassFailedError",
    "PipelineError",
    "PlanError",
    "PolicyError",
    "PolicyMap",
    "TargetError",
    "VerificationError",
    "__version__",
    "convert",
    "session",
    "verify",
}


def test_the_surface_is_the_list() -> None:
    assert set(mpgraph.__all__) == EXPECTED
    assert list(mpgraph.__all__) == sorted(mpgraph.__all__)
    assert set(dir(mpgraph)) >= EXPECTED


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_name_resolves_and_stays(name: str) -> None:
    value = getattr(mpgraph, name)
    assert value is getattr(mpgraph, name)
    assert name == "__version__" or callable(value)
    assert name == "__version__" or value.__doc__


def test_the_version_is_the_installed_one() -> None:
    assert mpgraph.__version__ == version("mpgraph")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'konvert'"):
        mpgraph.konvert  # noqa: B018


def test_no_public_name_is_a_submodule() -> None:
    submodules = {module.name for module in pkgutil.iter_modules(mpgraph.__path__)}
    assert not submodules & EXPECTED


@pytest.mark.parametrize(
    "first", ["mpgraph.conversion", "mpgraph.cli.convert", "mpgraph.cli.verify"]
)
def test_convert_is_the_function_whatever_was_imported_before(first: str) -> None:
    program = f"import {first}, mpgraph; print(callable(mpgraph.convert), callable(mpgraph.verify))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(Path(mpgraph.__file__).read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {
        alias.asname or alias.name
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == EXPECTED - {"__version__"}


def test_the_package_is_typed() -> None:
    assert (Path(mpgraph.__file__).parent / "py.typed").is_file()
