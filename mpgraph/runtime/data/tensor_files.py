"""Reader of the ONNX model zoo's test data: folders ``test_data_set_*`` of ``input_<i>.pb``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime.data.arrays import natural
from mpgraph.runtime.data.spec import InputSpec

__all__ = ["data_set_folders", "data_set_values", "expected_outputs", "tensor_file_feeds"]


def data_set_folders(folder: Path) -> list[Path]:
    """The ``test_data_set_*`` in ``folder``, or ``folder`` itself if it holds the files."""
    if any(folder.glob("input_*.pb")) or any(folder.glob("output_*.pb")):
        return [folder]
    return sorted((path for path in folder.glob("test_data_set_*") if path.is_dir()), key=natural)


def tensor_file_feeds(
    folder: Path, inputs: Sequence[InputSpec]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """One feed per data set; the i-th file is the i-th input, or the input it names.

    Raises:
        DataError: A file does not parse, or there are more files than inputs.
    """
    for data_set in data_set_folders(folder):
        yield str(data_set), data_set_values(data_set, "input", inputs)


def expected_outputs(folder: Path, outputs: Sequence[InputSpec]) -> Iterator[dict[str, Any]]:
    """The ``output_<i>.pb`` of each data set, in the order of ``tensor_file_feeds``.

    Raises:
        DataError: A file does not parse, or there are more files than outputs.
    """
    for data_set in data_set_folders(folder):
        yield data_set_values(data_set, "output", outputs)


def data_set_values(folder: Path, prefix: str, specs: Sequence[InputSpec]) -> dict[str, Any]:
    """The values of ``<prefix>_<i>.pb`` in one data set, by name.

    Raises:
        DataError: A file does not parse, or there are more files than ``specs``.
    """
    values: dict[str, Any] = {}
    known = {spec.name: spec for spec in specs}
    for path in sorted(folder.glob(f"{prefix}_*.pb"), key=natural):
        index = path.stem.removeprefix(f"{prefix}_")
        if not index.isdigit():
            raise DataError(str(path), f"is not named {prefix}_<number>.pb")
        if int(index) >= len(specs):
            raise DataError(str(path), f"the model has only {len(specs)} {prefix}s")
        spec = specs[int(index)]
        try:
            name, value = ir.read_value_file(path, spec.kind)
        except (OSError, ValueError) as error:
            raise DataError(str(path), f"is no {spec.kind} of ONNX: {error}") from error
        values[name if name in known else spec.name] = value
    return values
