"""The files of one save: written under temporary names, put in place together or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mpgraph.errors import ModelFileError, OutputError

__all__ = ["Destination", "check_destination"]

_BUFFER_BYTES = 1 << 20


def check_destination(path: Path) -> None:
    """Refuses an output path before any work is done for it.

    Raises:
        OutputError: The folder is missing or not writable, or the path is not a plain file.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(str(path), "its folder does not exist", "make the folder first")
    if path.is_dir():
        raise OutputError(str(path), "is a directory", "give a file name")
    if path.exists() and not path.is_file():
        raise OutputError(str(path), "is not a regular file")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(str(path), "exists and is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(str(path), "its folder is not writable")


class Destination:
    """Files that appear under their names all together when the block ends without an error.

    On any error, Ctrl-C included, the temporary files are removed and files that were there
    before are untouched.
    """

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []

    def __enter__(self) -> Destination:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            for temporary, _path in self._files:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def file(self, path: Path) -> Iterator[BinaryIO]:
        """Opens a temporary file that becomes `path`; OS errors inside become `OutputError`."""
        path = path.absolute()
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
        self._files.append((temporary, path))
        try:
            with temporary.open("xb", buffering=_BUFFER_BYTES) as file:
                yield file
            if path.exists():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        except OSError as error:
            if error.filename is not None and Path(error.filename) != temporary:
                raise ModelFileError(
                    str(error.filename), f"cannot be read: {error.strerror}"
                ) from error
            raise _explained(path, error) from error

    def _publish(self) -> None:
        """Replaces the files; if one fails, those already replaced get their old content back."""
        undo: list[tuple[Path, Path, Path | None]] = []
        try:
            for temporary, path in self._files:
                keep_old = len(self._files) > 1 and path.exists()
                backup = temporary.with_suffix(".old") if keep_old else None
                undo.append((temporary, path, backup))
                if backup is not None:
                    _keep_copy(path, backup)
                temporary.replace(path)
        except BaseException as error:
            for temporary, path, backup in undo:
                with contextlib.suppress(OSError):
                    if backup is not None:
                        backup.replace(path)
                    elif not temporary.exists():
                        path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _explained(self._files[-1][1], error) from error
            raise
        finally:
            for _, _, backup in undo:
                if backup is not None:
                    backup.unlink(missing_ok=True)


def _keep_copy(path: Path, backup: Path) -> None:
    try:
        os.link(path, backup)
    except OSError:
        # No hard links on this file system; the old file is away for a moment.
        path.replace(backup)


def _explained(path: Path, error: OSError) -> OutputError | ModelFileError:
    if error.errno is None:
        # onnx-ir and numpy raise these without a number when a source file ends early.
        return ModelFileError(str(path), f"a weight could not be read: {error}")
    hints = {
        errno.ENOSPC: "free some space or write elsewhere; nothing was written",
        errno.EDQUOT: "the quota is used up; nothing was written",
        errno.EFBIG: "the file size is limited here; nothing was written",
    }
    return OutputError(
        str(path),
        f"cannot be written: {error.strerror or error}",
        hints.get(error.errno, "nothing was written"),
    )
