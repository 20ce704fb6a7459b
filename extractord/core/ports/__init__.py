"""What the rooms ask of the outside, each implemented by one edge and one test double."""

from __future__ import annotations

from extractord.core.ports.audit import Audit, AuditRow
from extractord.core.ports.folders import Folder, View
from extractord.core.ports.ledger import Expired, Home, Ledger, Rehoming, Retention, Standing
from extractord.core.ports.models import Child, Complete, Host, Link, Model, Processes, Redactor
from extractord.core.ports.ranges import Baseline, Owner, Ranges, RangeState
from extractord.core.ports.runs import RequestRow, Runner, RunRow, Runs, Spent, SpentOn
from extractord.core.ports.transcripts import Deferring, Reader
from extractord.core.ports.versions import Opened, Surveys, Uses, Versions

__all__ = [
    "Audit",
    "AuditRow",
    "Baseline",
    "Child",
    "Complete",
    "Deferring",
    "Expired",
    "Folder",
    "Home",
    "Host",
    "Ledger",
    "Link",
    "Model",
    "Opened",
    "Owner",
    "Processes",
    "RangeState",
    "Ranges",
    "Reader",
    "Redactor",
    "Rehoming",
    "RequestRow",
    "Retention",
    "RunRow",
    "Runner",
    "Runs",
    "Spent",
    "SpentOn",
    "Standing",
    "Surveys",
    "Uses",
    "Versions",
    "View",
]
