"""What a person reads: the renderers of the command line."""

from __future__ import annotations

from mpgraph.report.audit_text import render_audit
from mpgraph.report.bench_text import render_bench
from mpgraph.report.calibration_text import render_calibration
from mpgraph.report.comparison_text import render_comparison
from mpgraph.report.conversion_text import render_conversion
from mpgraph.report.diff_text import render_diff, render_whole_diff
from mpgraph.report.explanation_text import render_explanation
from mpgraph.report.policy_text import render_policy
from mpgraph.report.sensitivity_text import render_sensitivity

__all__ = [
    "render_audit",
    "render_bench",
    "render_calibration",
    "render_comparison",
    "render_conversion",
    "render_diff",
    "render_explanation",
    "render_policy",
    "render_sensitivity",
    "render_whole_diff",
]
