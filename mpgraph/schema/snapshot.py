"""Write the shipped table of contrib operator schemas from an installed onnxruntime.

``python -m mpgraph.schema.snapshot OUT.json.gz``
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["contrib_operators", "main"]

_DOMAINS = ("com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")


def contrib_operators() -> dict[str, Any]:
    """The contrib schemas of the installed onnxruntime, as the table stores them."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime

    schemas = [schema for schema in runtime.get_all_operator_schema() if schema.domain in _DOMAINS]
    schemas.sort(key=lambda schema: (schema.domain, schema.name, schema.since_version))
    return {
        "onnxruntime": onnxruntime.__version__,
        "operators": [_entry(schema) for schema in schemas],
    }


def _entry(schema: Any) -> dict[str, Any]:
    return {
        "domain": schema.domain,
        "name": schema.name,
        "since": schema.since_version,
        "inputs": [_parameter(formal) for formal in schema.inputs],
        "outputs": [_parameter(formal) for formal in schema.outputs],
        "variables": {
            constraint.type_param_str: sorted(constraint.allowed_type_strs)
            for constraint in schema.type_constraints
        },
    }


def _parameter(formal: Any) -> list[Any]:
    option = str(formal.option).rsplit(".", 1)[-1].split(":")[0].lower()
    return [formal.name, formal.typeStr, option, formal.isHomogeneous]


def main(arguments: list[str]) -> int:
    """Write the table to the path given as the only argument."""
    text = json.dumps(contrib_operators(), separators=(",", ":"), sort_keys=True)
    Path(arguments[0]).write_bytes(gzip.compress(text.encode(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
