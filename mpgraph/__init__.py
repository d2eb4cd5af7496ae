"""Mixed precision for exported ONNX models: decide by policy, rewrite once, check everything.

The public names load on first use, so that `import mpgraph` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mpgraph import config as config
    from mpgraph import dtype_policies as dtype_policies
    from mpgraph import mixed_precision as mixed_precision
    from mpgraph.auditing.diff import diff_models as diff
    from mpgraph.auditing.job import audit_model as audit
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
        NothingQuantizedError,
        OutputError,
        PassFailedError,
        PipelineError,
        PlanError,
        PolicyError,
        TargetError,
        VerificationError,
    )
    from mpgraph.policy import (
        AWQ,
        GPTQ,
        DTypePolicy,
        DTypePolicyMap,
        Float8,
        Int4,
        Int8,
        PolicyMap,
        QuantizationMode,
        QuantizedDTypePolicy,
        UInt4,
    )
    from mpgraph.quant.calibration import Calibration
    from mpgraph.quant.observers import Observer
    from mpgraph.ranges import calibrate_model as calibrate
    from mpgraph.runtime.bench import bench_models as bench
    from mpgraph.runtime.compare import compare_models as verify
    from mpgraph.runtime.sessions import session

__all__ = [
    "AWQ",
    "GPTQ",
    "Calibration",
    "CheckError",
    "ConversionError",
    "DTypePolicy",
    "DTypePolicyMap",
    "DataError",
    "Float8",
    "InputError",
    "Int4",
    "Int8",
    "InvalidModelError",
    "MissingDependencyError",
    "ModelFileError",
    "MpgraphError",
    "NothingQuantizedError",
    "Observer",
    "OutputError",
    "PassFailedError",
    "PipelineError",
    "PlanError",
    "PolicyError",
    "PolicyMap",
    "QuantizationMode",
    "QuantizedDTypePolicy",
    "TargetError",
    "UInt4",
    "VerificationError",
    "__version__",
    "audit",
    "bench",
    "calibrate",
    "convert",
    "diff",
    "session",
    "verify",
]

# No public name may equal the name of a submodule: importing the submodule would replace it here.
_HOMES = {
    "AWQ": "mpgraph.policy:AWQ",
    "Calibration": "mpgraph.quant.calibration:Calibration",
    "DTypePolicy": "mpgraph.policy:DTypePolicy",
    "DTypePolicyMap": "mpgraph.policy:DTypePolicyMap",
    "Float8": "mpgraph.policy:Float8",
    "GPTQ": "mpgraph.policy:GPTQ",
    "Int4": "mpgraph.policy:Int4",
    "Int8": "mpgraph.policy:Int8",
    "Observer": "mpgraph.quant.observers:Observer",
    "PolicyMap": "mpgraph.policy:PolicyMap",
    "QuantizationMode": "mpgraph.policy:QuantizationMode",
    "QuantizedDTypePolicy": "mpgraph.policy:QuantizedDTypePolicy",
    "UInt4": "mpgraph.policy:UInt4",
    "audit": "mpgraph.auditing.job:audit_model",
    "bench": "mpgraph.runtime.bench:bench_models",
    "calibrate": "mpgraph.ranges:calibrate_model",
    "convert": "mpgraph.conversion:convert",
    "diff": "mpgraph.auditing.diff:diff_models",
    "session": "mpgraph.runtime.sessions:session",
    "verify": "mpgraph.runtime.compare:compare_models",
}
# Submodules that are used as attributes without an import of their own.
_SUBMODULES = ("config", "dtype_policies", "mixed_precision")


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"mpgraph.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES.get(name, f"mpgraph.errors:{name}").partition(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
