"""Findings of an audit in the forms that CI systems read: SARIF, and commands of GitHub Actions."""

from mpgraph.report.ci.github import github_annotations
from mpgraph.report.ci.sarif import sarif_log

__all__ = ["github_annotations", "sarif_log"]
