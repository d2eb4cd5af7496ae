"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = [
    "RANDOM",
    "data_option",
    "json_option",
    "model_argument",
    "policy_options",
    "samples_option",
    "shapes_option",
    "target_option",
    "verbosity_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])
PRECISIONS = {
    "bf16": "mixed_bfloat16",
    "fp16": "mixed_float16",
    "fp32": "float32",
    "fp8": "float8_from_float32",
    "int4": "int4/32_from_float32",
    "int8": "int8_from_float32",
    "int8_dynamic": "int8_dynamic_from_float32",
    "int8_weight": "int8_weight_from_float32",
    "uint4": "uint4/32_from_float32",
    "w4a16": "int4/32_from_mixed_float16",
    "w8a16": "int8_a16_from_float32",
    "w8a8": "int8_from_float32",
}

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON to stdout instead of text."
)
target_option = click.option(
    "--target",
    "-t",
    default="cpu",
    show_default=True,
    help="Where the model will run: a name of `mpgraph targets` or of a provider "
    "(also --ep, --providers).",
)
samples_option = click.option(
    "--samples", type=click.IntRange(min=1), help="Use at most so many samples."
)
shapes_option = click.option(
    "--input-shapes",
    multiple=True,
    metavar="NAME:SHAPE",
    help="Shapes for random data: x:1,3 or x:[1,3] or x:1x3 (repeat).",
)
RANDOM = "random"
"""The data that a command takes where it needs some and was given none."""
DATA_HELP = (
    "FILE.npz (leading axis: samples), .npy, a folder of .npz, test_data_set_*/ of .pb, "
    "Polygraphy .json, SCRIPT.py[:FUNCTION], or random[:SEED] "
    "(also --calibration-data, --load-inputs)."
)


def data_option(purpose: str, default: str | None = None) -> Callable[[Command], Command]:
    """`--data` with a help text that says what it is for."""
    return click.option(
        "--data", "-d", default=default, show_default=True, help=f"{purpose} {DATA_HELP}"
    )


def model_argument(command: Command) -> Command:
    """MODEL as an argument, or as `-m/--model`."""
    argument = click.argument(
        "model", type=Path, required=False, callback=_require_model, metavar="MODEL"
    )
    option = click.option(
        "--model",
        "-m",
        "model_option",
        type=Path,
        is_eager=True,
        expose_value=False,
        callback=_keep_model,
        help="The model, instead of the argument.",
    )
    return argument(option(command))


def _keep_model(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    ctx.meta["model"] = value


def _require_model(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    given = [path for path in (value, ctx.meta.get("model")) if path is not None]
    if len(given) == 1 or ctx.resilient_parsing:
        return given[0] if given else None
    raise click.UsageError("give the model once" if given else "missing argument MODEL", ctx)


def verbosity_options(command: Command) -> Command:
    """`-v` and `-q`."""
    verbose = click.option("--verbose", "-v", is_flag=True, help="Say more: every step, times.")
    quiet = click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
    return verbose(quiet(command))


def policy_options(command: Command) -> Command:
    """What `mpgraph.cli.policy.chosen_policy` reads."""
    options = [
        click.option(
            "--policy",
            help="A name of `mpgraph policies`.  [default: mixed_float16]",
        ),
        click.option(
            "--precision",
            "-p",
            type=click.Choice(sorted(PRECISIONS), case_sensitive=False),
            help="Short for a policy: fp16 for mixed_float16, int8 for int8_from_float32, int4 for "
            "int4/32_from_float32, w8a16 for int8_a16_from_float32.",
        ),
        click.option("--policy-file", type=Path, help="Policy and rules in TOML."),
        _rule_option("--nodes-to-exclude", "NODE", "Keep this node in float32"),
        _rule_option("--op-types-to-exclude", "OP", "Keep nodes of this op type in float32"),
        _rule_option("--nodes-to-include", "NODE", "Apply the policy to this node only"),
        _rule_option("--op-types-to-include", "OP", "Apply the policy to this op type only"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _rule_option(name: str, metavar: str, purpose: str) -> Callable[[Command], Command]:
    form = "exact name, glob or re:EXPRESSION; " if metavar == "NODE" else "A,B or "
    return click.option(name, multiple=True, metavar=metavar, help=f"{purpose} ({form}repeat).")
