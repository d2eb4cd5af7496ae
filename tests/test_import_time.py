"""`import mpgraph` and `mpgraph --help` stay light: what they must not import, by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"ml_dtypes", "networkx", "numpy", "onnx", "onnx_ir", "onnxruntime", "rich", "sympy"}

REPORT = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def modules_after(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{REPORT}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_mpgraph() -> None:
    loaded = modules_after("import mpgraph")
    assert "mpgraph" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "--help"]])
def test_help(arguments: list[str]) -> None:
    loaded = modules_after(
        "import sys\n"
        "from mpgraph.cli import main\n"
        f"sys.argv = ['mpgraph', *{arguments!r}]\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as exit:\n"
        "    assert not exit.code, exit.code\n"
    )
    assert "click" in loaded
    assert not loaded & HEAVY


def test_a_lazy_name_is_what_loads_the_engine() -> None:
    assert {"onnx", "onnx_ir"} <= modules_after("import mpgraph; mpgraph.convert")
