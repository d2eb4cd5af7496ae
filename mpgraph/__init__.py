"""Mixed precision for exported ONNX models: decide by policy, rewrite once, check everything.

The public names load on first use, so that `import mpgraph` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mpgraph.conversion import convert
    from mpgraph.errors import (
        CheckError,
        ConversionError,
        DataError,
        InputError,
        InvalidModelError,
        MissingDependencyError,
        ModelFileError,
        MpgraphError,
        OutputError,
        PassFailedError,
        PipelineError,
        PlanError,
        PolicyError,
        TargetError,
        VerificationError,
    )
    from mpgraph.policy import DTypePolicy, PolicyMap
    from mpgraph.runtime.compare import compare_models as verify
    from mpgraph.runtime.sessions import session

__all__ = [
    "CheckError",
    "ConversionError",
    "DTypePolicy",
    "DataError",
    "InputError",
    "InvalidModelError",
    "MissingDependencyError",
    "ModelFileError",
    "MpgraphError",
    "OutputError",
    "PassFailedError",
    "PipelineError",
    "PlanError",
    "PolicyError",
    "PolicyMap",
    "TargetError",
    "VerificationError",
    "__version__",
    "convert",
    "session",
    "verify",
]

# No public name may equal the name of a submodule: importing the submodule would replace it here.
_HOMES = {
    "DTypePolicy": "mpgraph.policy:DTypePolicy",
    "PolicyMap": "mpgraph.policy:PolicyMap",
    "convert": "mpgraph.conversion:convert",
    "session": "mpgraph.runtime.sessions:session",
    "verify": "mpgraph.runtime.compare:compare_models",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES.get(name, f"mpgraph.errors:{name}").partition(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
