"""What passes from room to room: what is read, what waits for a run, what is conversed and changed."""

from __future__ import annotations

from extractord.core.records.changing import Change, Evidence, Known, Refusal, Stamp
from extractord.core.records.conversing import (
    Brief,
    Call,
    Conversation,
    Ending,
    Message,
    Reply,
    Shown,
    Tool,
    Usage,
)
from extractord.core.records.reading import (
    Deferred,
    Entry,
    Exchange,
    Kept,
    Origin,
    Role,
    Seen,
    Thaw,
    Thawed,
    ToolCall,
    Voided,
)
from extractord.core.records.running import Outcome, ParkedRun, Project, Snapshot, Window

__all__ = [
    "Brief",
    "Call",
    "Change",
    "Conversation",
    "Deferred",
    "Ending",
    "Entry",
    "Evidence",
    "Exchange",
    "Kept",
    "Known",
    "Message",
    "Origin",
    "Outcome",
    "ParkedRun",
    "Project",
    "Refusal",
    "Reply",
    "Role",
    "Seen",
    "Shown",
    "Snapshot",
    "Stamp",
    "Thaw",
    "Thawed",
    "Tool",
    "ToolCall",
    "Usage",
    "Voided",
    "Window",
]
