"""What is needed of Claude Code's records, and the texts in their contents."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, Raw, Struct, UnsetType, field


class Kind(Struct, gc=False):
    """`origin` of a record."""

    kind: str | None = None


class Part(Struct, gc=False):
    """A piece of a tool's output."""

    type: str | None = None
    text: str | None = None


class Input(Struct, gc=False):
    """What tools are asked, as far as it names files."""

    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    command: str | None = None


class Block(Struct, gc=False):
    """A block of a message: text, image, a tool's use or its result."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Input | None = None
    tool_use_id: str | None = None
    content: str | list[Part] | None = None
    is_error: bool | None = None


class Message(Struct, gc=False):
    """The message of a `user` or `assistant` record."""

    content: str | list[Block] | None = None
    model: str | None = None
    stop_reason: str | None = None

    def blocks(self) -> list[Block]:
        """Its blocks; none where the content is plain text."""
        return self.content if isinstance(self.content, list) else []


class Attachment(Struct, gc=False):
    """Of an `attachment` record; only a queued command holds what a person may have typed."""

    type: str | None = None
    prompt: str | list[Block] | None = None
    source_uuid: str | None = None
    mode: str | None = field(name="commandMode", default=None)
    is_meta: bool | None = field(name="isMeta", default=None)
    origin: Kind | None = None
    source: str | None = field(name="rowSource", default=None)
    is_untyped: bool | None = field(name="textNotTyped", default=None)
    is_rewritten: bool | None = field(name="promptRewritten", default=None)
    is_connectors: bool | None = field(name="fromConnector", default=None)
    is_slacks: bool | None = field(name="verifiedSlackHumanTurn", default=None)
    sender: Raw = field(name="emailSenderTurn", default=Raw())


class Result(Struct, gc=False):
    """What the program noted about a tool's result, where it is no text."""

    interrupted: bool | None = None
    path: str | None = field(name="persistedOutputPath", default=None)


class Record(Struct, gc=False):
    """A line; everything else in it is skipped."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent: str | UnsetType | None = field(name="parentUuid", default=UNSET)
    logical_parent: str | None = field(name="logicalParentUuid", default=None)
    session: str | None = field(name="sessionId", default=None)
    other_session: str | None = field(name="session_id", default=None)
    timestamp: str | int | float | None = None
    cwd: str | None = None
    branch: str | None = field(name="gitBranch", default=None)
    version: str | None = None
    is_sidechain: bool | None = field(name="isSidechain", default=None)
    is_meta: bool | None = field(name="isMeta", default=None)
    is_summary: bool | None = field(name="isCompactSummary", default=None)
    is_error: bool | None = field(name="isApiErrorMessage", default=None)
    prompt_source: str | None = field(name="promptSource", default=None)
    turn_origin: str | None = field(name="turnOrigin", default=None)
    entrypoint: str | None = None
    origin: Kind | None = None
    forked: Kind | None = field(name="forkedFrom", default=None)
    attachment: Attachment | None = None
    message: Message | None = None
    result: str | Result | list[Raw] | None = field(name="toolUseResult", default=None)
    plan: str | None = field(name="planContent", default=None)
    source: str | None = field(name="rowSource", default=None)
    denial: str | None = field(name="toolDenialKind", default=None)
    answer: str | None = field(name="userFeedback", default=None)
    is_hosts_denial: bool | None = field(name="toolDenialFromHost", default=None)
    is_late_denial: bool | None = field(name="toolDenialAfterRun", default=None)
    kind: str | None = field(name="sessionKind", default=None)
    wakeup: str | None = field(name="wakeupSource", default=None)
    is_virtual: bool | None = field(name="isVirtual", default=None)
    is_handed_off: bool | None = field(name="handedOff", default=None)
    is_untyped: bool | None = field(name="textNotTyped", default=None)
    """The program's own word that it was not typed: it was chosen, shared or handed on."""
    is_rewritten: bool | None = field(name="promptRewritten", default=None)
    """By a hook."""
    is_connectors: bool | None = field(name="fromConnector", default=None)
    is_slacks: bool | None = field(name="verifiedSlackHumanTurn", default=None)
    """Whoever wrote it in a thread of Slack."""
    sender: Raw = field(name="emailSenderTurn", default=Raw())

    def above(self) -> str | None:
        """The parent's id, through a compaction's boundary; the session's root; None where unsaid."""
        if isinstance(self.parent, str):
            return self.parent
        return self.logical_parent or (f"root of {self.session}" if self.parent is None else None)


def plain(content: str | list[Block] | list[Part] | None) -> str:
    """Given a message's or a result's content, return all its text, images by name in brackets."""
    if isinstance(content, str):
        return content.strip("\ufeff")
    return "\n\n".join(text for _, text in texts(content) if text)


def texts(content: list[Block] | list[Part] | None) -> Iterable[tuple[str, str]]:
    """The texts of a content, each with its type; what is not text is named."""
    for block in content or ():
        if block.type in ("image", "document"):
            yield block.type, f"[{block.type}]"
        elif block.text is not None and block.type in ("text", None):
            yield "text", block.text.strip("\ufeff")
