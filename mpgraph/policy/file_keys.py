"""The keys of a policy file: one table for the reader, the writer and the schema for editors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FILE_KEYS", "MATCHER_KEYS", "RULE_KEYS", "VERSION", "FileKey", "Kind"]

VERSION = 1
"""The version of the format."""

Kind = Literal["version", "policy", "flag", "text", "patterns", "rules"]


@dataclass(frozen=True)
class FileKey:
    """One key.

    Attributes:
        name: The key.
        kind: What stands behind it.
        description: What it means, as an editor shows it.
        required: Whether its table must have it.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False


FILE_KEYS = (
    FileKey("version", "version", "The version of this format.", required=True),
    FileKey("default", "policy", "The policy of all nodes that no rule selects."),
    FileKey(
        "range_scaling",
        "flag",
        "Whether float16 values that would overflow are scaled by powers of two.",
    ),
    FileKey("rule", "rules", "Rules for nodes that are to have another policy than the default."),
)
"""The keys of the file itself."""

RULE_KEYS = (
    FileKey("name", "patterns", "Names of nodes: exact, a glob, or re: and an expression."),
    FileKey(
        "scope",
        "patterns",
        "Module paths such as encoder/layers.*/attention/**: * within a level, ** over levels.",
    ),
    FileKey("op", "patterns", "Operators such as Softmax."),
    FileKey("domain", "patterns", "Domains of operators such as com.microsoft."),
    FileKey("initializer", "patterns", "Names of weights that a node reads."),
    FileKey("key", "patterns", "Places such as main#12, as a plan names them: exact."),
    FileKey("path", "patterns", "Names of nodes or module paths, whichever match."),
    FileKey("policy", "policy", "The policy of the nodes that the rule selects.", required=True),
    FileKey("reason", "text", "Why; it reaches the report."),
    FileKey("optional", "flag", "Whether the rule may select nothing."),
)
"""The keys of a rule."""

MATCHER_KEYS = tuple(key.name for key in RULE_KEYS if key.kind == "patterns")
"""The conditions of a rule, of which it has at least one."""
