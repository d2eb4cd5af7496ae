"""The group of commands: loads them lazily, and turns every error into one line and a status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import click

import mpgraph
from mpgraph.cli.names import normalize_name
from mpgraph.errors import MpgraphError

__all__ = ["app", "main"]

COMMANDS = (
    "convert",
    "audit",
    "diff",
    "calibrate",
    "compile",
    "verify",
    "bench",
    "explain",
    "opt",
    "passes",
    "policies",
    "targets",
)

FAILED = 1
USAGE = 2
INTERRUPTED = 130
DEBUG = "MPGRAPH_DEBUG"


def main() -> None:
    """The console script `mpgraph`."""
    app()


class LazyGroup(click.Group):
    """Finds the command `x` as `mpgraph.cli.x:command`.

    Exit status: 0 done, 1 findings or a failed check, 2 usage or input error, 130 interrupted.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = normalize_name(cmd_name)
        if name not in COMMANDS:
            return None
        command = import_module(f"mpgraph.cli.{name}").command
        return command if isinstance(command, click.Command) else None

    def main(self, *args: Any, **options: Any) -> Any:
        inner: Callable[..., Any] = super().main
        standalone = options.pop("standalone_mode", True)
        run = partial(inner, *args, **options, standalone_mode=False)
        if not standalone:
            return run()
        sys.exit(_status(run))


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": normalize_name,
        "max_content_width": 100,
    },
    epilog="Exit status: 0 done, 1 findings or a failed check, 2 usage or input error. "
    "In option names - and _ are the same.",
)
@click.version_option(mpgraph.__version__, prog_name="mpgraph")
def app() -> None:
    """Convert ONNX models to mixed precision by policy, and say why."""


def _status(run: Callable[[], Any]) -> int:
    try:
        result = run()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "mpgraph"
        return _say(f"{where}: {error.format_message()} (see '{where} --help')", USAGE)
    except click.ClickException as error:
        return _say(error.format_message(), USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", INTERRUPTED)
    except MpgraphError as error:
        return _say(str(error), error.exit_status)
    except BrokenPipeError:
        _drop_stdout()
        return FAILED
    except Exception as error:
        return _say(
            f"mpgraph: unexpected {type(error).__name__}: {error} "
            f"(please report it; {DEBUG}=1 shows where)",
            FAILED,
        )
    return result if isinstance(result, int) else 0


def _say(text: str, status: int) -> int:
    """Print an error as one line to stderr."""
    if os.environ.get(DEBUG):
        traceback.print_exc()
    line = "; ".join(part.strip() for part in text.splitlines() if part.strip())
    click.echo(f"error: {line}", err=True)
    return status


def _drop_stdout() -> None:
    """Keep the interpreter from failing again when it flushes a closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
