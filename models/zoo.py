"""Real exported models that ordinary packages ship, with realistic inputs.

The packages are installed without their dependencies and never imported: only the model file in
them is read.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ZOO_FOLDER",
    "ModelInput",
    "RealModel",
    "catalogue",
    "find",
    "install",
    "real_feeds",
    "requirements",
]

_HERE = Path(__file__).resolve().parent
ZOO_FOLDER = _HERE.parent / "build" / "zoo"
"""Where `install` puts packages unless told otherwise, and where `find` looks first."""

_LARGE = 50_000_000
_ASSEMBLED = "assembled"


@dataclass(frozen=True)
class ModelInput:
    """An input of a real model: dtype in ONNX's spelling, dynamic axes as text or -1."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class RealModel:
    """A real model and where it comes from.

    Attributes:
        name: Its name in the catalogue.
        files: (requirement, path in the distribution) of the model file, or of the parts whose
            concatenation it is.
        kind: `float32` or `quantized`.
        licence: Licence of the model.
        producer: The exporter.
        opsets: Domain to version.
        nodes: Number of nodes, subgraphs included.
        bytes: Size of the model file.
        sha256: Hash of the model file.
        inputs: Its inputs.
        feed: How its feeds were made.
    """

    name: str
    files: tuple[tuple[str, str], ...]
    kind: str
    licence: str
    producer: str
    opsets: tuple[tuple[str, int], ...]
    nodes: int
    bytes: int
    sha256: str
    inputs: tuple[ModelInput, ...]
    feed: str

    @property
    def is_large(self) -> bool:
        """Whether the model file has more than 50 MB."""
        return self.bytes > _LARGE


@lru_cache(maxsize=1)
def catalogue() -> dict[str, RealModel]:
    """Return the real models by name. The dict is shared: do not change it."""
    entries = json.loads((_HERE / "catalogue.json").read_text(encoding="utf-8"))
    return {name: _real_model(name, entry) for name, entry in entries.items()}


def find(name: str, folders: Iterable[str | os.PathLike[str]] = (ZOO_FOLDER,)) -> Path | None:
    """Return the path of an installed real model, or None where its packages are missing.

    Args:
        name: A name of the catalogue.
        folders: Folders that packages were installed into; searched before the running
            environment. A model in parts is put together under the first of them.

    Raises:
        ValueError: The name is unknown, or the file found is not the catalogued model.
        OSError: A model in parts cannot be put together.
    """
    model = _entry(name)
    places = [str(folder) for folder in folders]
    parts = [_located(requirement, path, places) for requirement, path in model.files]
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    if len(present) == 1:
        _require_hash(model, present[0])
        return present[0]
    target = Path(places[0] if places else ZOO_FOLDER) / _ASSEMBLED / f"{name}.onnx"
    if not target.exists():
        _assemble(model, present, target)
    _require_hash(model, target)
    return target


def requirements(names: Iterable[str] | None = None) -> list[str]:
    """Return the pinned requirements of real models, of all but the large ones by default.

    Raises:
        ValueError: A name is unknown.
    """
    default = (model.name for model in catalogue().values() if not model.is_large)
    chosen = [_entry(name) for name in (default if names is None else names)]
    return list(dict.fromkeys(req for model in chosen for req, _ in model.files))


def install(
    names: Iterable[str] | None = None, folder: str | os.PathLike[str] = ZOO_FOLDER
) -> list[str]:
    """Install the packages of real models into a folder, without dependencies; return them.

    Args:
        names: Names of the catalogue; all but the large models by default.
        folder: Created where missing. Packages that are there already are left alone.

    Raises:
        ValueError: A name is unknown.
        subprocess.CalledProcessError: pip failed.
    """
    places = [str(folder)]
    wanted = [req for req in requirements(names) if _distribution(req, places) is None]
    if wanted:
        options = ["--no-deps", "--no-compile", "--quiet", "--target", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *wanted], check=True)
    return wanted


def real_feeds(name: str) -> list[dict[str, NDArray[np.generic]]]:
    """Return realistic inputs of a real model, one dict per sample.

    Raises:
        ValueError: The name is unknown.
    """
    samples: dict[str, dict[str, NDArray[np.generic]]] = {}
    with np.load(_HERE / "feeds" / f"{_entry(name).name}.npz", allow_pickle=False) as arrays:
        for key in arrays.files:
            sample, _, input_name = key.partition("|")
            samples.setdefault(sample, {})[input_name] = arrays[key]
    return [samples[sample] for sample in sorted(samples, key=int)]


def _entry(name: str) -> RealModel:
    known = catalogue()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or list(known)
        raise ValueError(f"no real model is named {name!r}; nearest: {', '.join(near)}")
    return known[name]


def _real_model(name: str, entry: dict[str, object]) -> RealModel:
    fields = dict(entry)
    files = tuple((part["distribution"], part["path"]) for part in fields.pop("files"))  # type: ignore[attr-defined]
    inputs = tuple(
        ModelInput(item["name"], item["dtype"], tuple(item["shape"]))
        for item in fields.pop("inputs")  # type: ignore[attr-defined]
    )
    opsets = tuple(fields.pop("opsets").items())  # type: ignore[attr-defined]
    return RealModel(name=name, files=files, inputs=inputs, opsets=opsets, **fields)  # type: ignore[arg-type]


def _distribution(requirement: str, places: Sequence[str]) -> Distribution | None:
    name, _, version = requirement.partition("==")
    found = distributions(name=name, path=list(places))
    return next((item for item in found if item.version == version), None)


def _located(requirement: str, path: str, places: Sequence[str]) -> Path | None:
    for searched in (places, sys.path):
        distribution = _distribution(requirement, searched)
        if distribution is not None:
            file = Path(str(distribution.locate_file(path)))
            if file.is_file():
                return file
    return None


def _assemble(model: RealModel, parts: Sequence[Path], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as joined:
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, joined)
        _require_hash(model, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _require_hash(model: RealModel, path: Path) -> None:
    status = path.stat()
    if _sha256(path, status.st_mtime_ns, status.st_size) != model.sha256:
        raise ValueError(f"{path} is not the catalogued model {model.name}: its hash differs")


@lru_cache(maxsize=256)
def _sha256(path: Path, modified: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
