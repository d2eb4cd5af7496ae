"""Options of how ranges are found, for the commands that find some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from mpgraph.quant.observers import Observer

__all__ = ["chosen_observer", "memory_option", "method_options"]

Command = TypeVar("Command", bound=Callable[..., Any])
METHODS = ("minmax", "moving-average", "percentile", "entropy", "mse")

memory_option = click.option(
    "--memory",
    default="512MB",
    show_default=True,
    help="Bound of what leaves the model at a time in calibration; values that do not fit "
    "together are observed one after the other.",
)


def method_options(command: Command) -> Command:
    """What `chosen_observer` takes."""
    method = click.option(
        "--calibration-method",
        "method",
        type=click.Choice(METHODS, case_sensitive=False),
        help="How ranges are taken from the values seen (also --method).  "
        "[default: what the policy says, minmax]",
    )
    percentile = click.option(
        "--percentile",
        type=click.FloatRange(50, 100, min_open=True),
        help="Percent of the elements that a range holds; implies the method percentile.  "
        "[default: 99.99]",
    )
    return method(percentile(command))


def chosen_observer(method: str | None, percentile: float | None) -> Observer | None:
    """The observer that the options describe; None leaves it to the policy.

    Raises:
        click.UsageError: A percentile for another method.
    """
    if method is None and percentile is None:
        return None
    if percentile is not None and method not in (None, "percentile"):
        raise click.UsageError(f"--percentile is none of --calibration-method {method}")

    from mpgraph.quant.observers import Observer

    config: dict[str, Any] = {"method": (method or "percentile").replace("-", "_")}
    if percentile is not None:
        config["percentile"] = percentile
    return Observer.from_config(config)
