"""Refusals: a limit that leaves nothing quantized, or nothing gained."""

from __future__ import annotations

import math

from mpgraph.errors import ConversionError, DataError, InputError, VerificationError
from mpgraph.quant.sensitivity import Latency, Sensitivity
from mpgraph.runtime import Comparison

__all__ = ["check_limit", "refuse_beyond", "refuse_useless"]

_WHERE = "max-error"
_HINT = "allow a larger error, or take the model all the same with --allow-slow"


def check_limit(max_error: float | None, *, has_data: bool) -> None:
    """Check a limit that a caller gave.

    Raises:
        InputError: It is no number above 0.
        DataError: There is no data to measure errors on.
    """
    if max_error is None:
        return
    if not 0 < max_error < math.inf:
        raise InputError(
            _WHERE, f"{max_error!r} is no limit", "give a number above 0, such as 0.03"
        )
    if not has_data:
        rule = "errors are measured on data, and none was given"
        raise DataError(_WHERE, rule, "give inputs of the model with --data")


def refuse_useless(found: Sensitivity | None, target: str, *, allow_slow: bool) -> None:
    """Refuse a model of which nothing is quantized within the limit, or which gains no time.

    Raises:
        ConversionError: It is one, and that is not accepted.
    """
    if found is None or allow_slow:
        return
    if not found.quantized:
        raise ConversionError(_WHERE, _nothing_left(found, target), _HINT)
    if found.latency is not None and not found.latency.is_faster:
        rule = (
            f"quantized within {found.limit:g} the model takes {_ratio_text(found.latency)} of the "
            f"time in float on {target}"
        )
        raise ConversionError(_WHERE, rule, _HINT)


def refuse_beyond(compared: Comparison | None, max_error: float | None) -> None:
    """Refuse a converted model whose outputs are beyond the limit.

    Raises:
        VerificationError: An output is.
    """
    worst = None if compared is None else compared.worst
    if max_error is None or worst is None or worst.max_relative <= max_error:
        return
    rule = f"its error is {worst.max_relative:.2g} of its range, above {max_error:g}"
    hint = "mpgraph verify --per-layer shows where it begins; keep that part in float32 by a rule"
    raise VerificationError(f"output {worst.name!r}", rule, hint)


def _nothing_left(found: Sensitivity, target: str) -> str:
    nodes = "the one node" if found.quantizable == 1 else f"none of {found.quantizable} nodes"
    stays = "does not stay" if found.quantizable == 1 else "stays"
    text = f"nothing is gained: {nodes} {stays} quantized. "
    if found.everything > found.limit:
        text += f"With all of them an output is off by {found.everything:.2g} of its range"
    else:
        text += f"The error would be {found.everything:.2g}"
    latency = found.latency
    if latency is None:
        return f"{text}, and no fewer stay within {found.limit:g}"
    ratio = _ratio_text(latency)
    return f"{text}, but within {found.limit:g} it takes {ratio} of the time on {target}"


def _ratio_text(latency: Latency) -> str:
    return f"x{latency.ratio:.2f} (x{latency.low:.2f} to x{latency.high:.2f})"
