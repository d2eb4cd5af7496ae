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
    "AWQ",
    "Calibration",
    "CheckError",
    "ConversionError",
    "DTypePolicy",
    "DTypePolicyMap",
    "DataError",
    "Float8",
    "GPTQ",
    "InputError",
    "Int4",
    "Int8",
    "InvalidModelError",
    "MissingDependencyError",
    "ModelFileError",
    "MpgraphError",
    "NothingQuantizedError",
    "Observer",
    "OutputError",
    "PassFailedError",
    "PipelineError",
    "PlanError",
    "PolicyError",
    "PolicyMap",
    "QuantizationMode",
    "QuantizedDTypePolicy",
    "TargetError",
    "UInt4",
    "VerificationError",
    "__version__",
    "audit",
    "bench",
    "calibrate",
    "convert",
    "diff",
    "session",
    "verify",
}
SUBMODULES = {"config", "dtype_policies", "mixed_precision"}


def test_the_surface_is_the_list() -> None:
    assert set(mpgraph.__all__) == EXPECTED
    assert len(mpgraph.__all__) == len(EXPECTED)
    assert set(dir(mpgraph)) >= EXPECTED


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_name_resolves_and_stays(name: str) -> None:
    value = getattr(mpgraph, name)
    assert value is getattr(mpgraph, name)
    assert name == "__version__" or callable(value)
    assert name == "__version__" or value.__doc__


@pytest.mark.parametrize("name", sorted(SUBMODULES))
def test_submodules_are_there_without_an_import_of_their_own(name: str) -> None:
    program = f"import mpgraph; m = mpgraph.{name}; print(all(hasattr(m, n) for n in m.__all__))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True"]
    assert name in dir(mpgraph)


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
    assert seen == (EXPECTED | SUBMODULES) - {"__version__"}


def test_the_package_is_typed() -> None:
    assert (Path(mpgraph.__file__).parent / "py.typed").is_file()
