"""Claude Code's lines that bring no entry, or none that is needed yet, known by their ends."""

from __future__ import annotations

import re

_SILENT_NAMES = """
    progress summary file-history-snapshot file-history-delta queue-operation ai-title custom-title
    agent-name agent-setting last-prompt mode permission-mode pr-link worktree-state relocated tag
    bridge-session atis-latch api-request api-request-blob api-request-shape tools-used cost-state
    started result content-replacement task-summary rate_limit_event frame-link checkpoint continued-in
    resume-head-vouch data-flow-records data-flow-incomplete data-flow-handover derived-from
    api-request-resumed fork-context-ref ended-by-model agent-color artifact-comment-monitor
    artifact-autoreact-ledger history-suppression attribution-snapshot isolation-latch session-owner
    dev-mods memory-mode observer-ref repl-mode hybrid-organization host-row"""
SILENT = frozenset(_SILENT_NAMES.split())
"""Types of records that are known and say nothing."""
BOOKKEEPING = frozenset(name.encode() for name in SILENT - {"progress", "summary"})

_FLAT = rb"""(?:,"(?!uuid")\w++":(?:"[\ !\#-\[\]-~]*+"|[1-9]\d*+|null|true|false))*+"""
"""Fields that hide nothing."""
HEAD = re.compile(
    rb"""\{(?:
      "type":"(?P<bookkept>[\w-]++)"
    | "parentUuid":"(?P<parent>[\w-]{36})","isSidechain":false,(?:
        "attachment":\{"type":"(?P<attached>(?!queued_command")[\w-]++)"
      | "type":"system","subtype":"turn_duration"FLAT,"uuid":"(?P<ended>[\w-]++)"FLAT\}\Z
      | "message":\{(?:"model":"(?!<)[^"\\]*+",)?"id":"[^"\\]*+","type":"message","role":"assistant",
        (?:"model":"(?!<)[^"\\]*+",)?"content":\[\{"type":"(?:
            (?P<said>text)","text":"(?!["\\\xef])
          | (?P<thought>thinking)"
          | tool_use","id":"(?P<called>[\w-]++)"
        )
      | (?:"promptId":".{36}",)?"type":"user","message":\{"role":"user","content":(?:
            (?P<prompted>")
          | (?P<answered>\[\{(?:"tool_use_id":"(?P<call>[\w-]++)",)?"type":"tool_result","content":")
        )
    ))""".replace(b"FLAT", _FLAT),
    re.VERBOSE | re.DOTALL,
)
"""How lines begin, as the program writes them since 2.1."""
CONVERSED = frozenset(["said", "thought", "called", "answered"])
"""What the agent and its tools said."""

_TAIL = re.compile(rb'\},"type":"attachment","uuid":"([\w-]++)","timestamp":"[^"\\]*"')
_TAIL_BYTES = 65_536
"""Newer versions repeat an attachment after its id, as it was rendered."""
_LONG = 2048

_STOP = b'}],"stop_reason":'
_STOP_BYTES = 2048
_NEXT = b'},{"'
_PLACED = b',"type":"assistant","uuid":"'
_PLACED_AT = re.compile(
    rb',"type":"assistant","uuid":"([\w-]++)","timestamp":"[^"\\]*+"(?:,"\w++":(?:"[^"\\]*+"|null|true|false))*+'
)
_ANSWERED = b'}]},"uuid":"'
_ANSWERED_AT = re.compile(rb'\}\]\},"uuid":"([\w-]++)","timestamp":"')
_CALL = b',"tool_use_id":"'
_CALL_BYTES = 128
_LAST = b',"userType":"'
_LAST_AT = re.compile(rb'(?:,"\w++":"[^"\\]*+")++\}')


def skim(record: bytes) -> tuple[str | None, str] | None:
    """Given a line, return (its id, its parent's) where its ends show that it brings no entry.

    No id for bookkeeping, which has none. None where the line has to be read: most bytes of a
    short session are system prompts in attachments, and are not worth a parser's time.
    """
    head = HEAD.match(record)
    if head is None or record[-1:] != b"}":
        return None
    match head.lastgroup:
        case "bookkept":
            return (None, "") if head["bookkept"] in BOOKKEEPING else None
        case "attached" if len(record) >= _LONG:
            node = attached(record, 0, len(record))
            return (node.decode(), head["parent"].decode()) if node is not None else None
        case _:
            return None


def told_by_ends(record: bytes) -> tuple[str, str] | None:
    """Given a line that is broken somewhere, return (its id, its parent's) where its ends tell them.

    So it has its place in the tree whether or not somebody came to look between them.
    """
    head = HEAD.match(record)
    if head is None or head.lastgroup not in CONVERSED:
        return None
    if head.lastgroup == "answered":
        node = _ANSWERED_AT.match(record, max(0, record.find(_ANSWERED, head.end())))
    else:
        node = _PLACED_AT.match(record, max(0, record.rfind(_PLACED)))
        node = node if node and record[node.end() :] == b"}" else None
    return (node[1].decode(), head["parent"].decode()) if node else None


def attached(block: bytes, at: int, end: int) -> bytes | None:
    """Given where an attachment's line stands, return its id where that stands as the program writes it."""
    start = block.rfind(b'},"type":"attachment","uuid":"', max(at + 1, end - _TAIL_BYTES), end)
    tail = _TAIL.match(block, start, end) if start > 0 else None
    return tail[1] if tail else None


class Ends:
    """How the lines of a session end, which is the same from line to line: `userType` and all after it.

    What stands before that end, and between the content's first block and its last bracket, tells all
    that has to be known of a line which is kept as it came: its id, and that it has but one block. A
    text in JSON holds no quote without a backslash, so none of what is looked for can stand in one.
    """

    def __init__(self) -> None:
        """Begin with none that is known."""
        self.session = ""
        """Whose lines end so."""
        self.node = ""
        """The id of the line that was last asked for."""
        self._last = b"\n"

    def learn(self, record: bytes, session: str) -> None:
        """Given a line of this session that was read, remember its end."""
        start = record.rfind(_LAST)
        if start > 0 and _LAST_AT.fullmatch(record, start) and f'"sessionId":"{session}"'.encode() in record:
            self.session, self._last = session, record[start:]

    def said(self, block: bytes, after: int, end: int) -> int | None:
        """Given what the agent said, from somewhere in its first block on, return where that ends.

        None where there is more than one, or the line does not end as it should.
        """
        if not block.endswith(self._last, after, end):
            return None
        last = end - len(self._last)
        stop = block.rfind(_STOP, max(after, last - _STOP_BYTES), last)
        if stop < 0 or block.find(_NEXT, after, stop) >= 0:
            return None
        at = block.rfind(_PLACED, stop, last)
        placed = _PLACED_AT.fullmatch(block, at, last) if at >= 0 else None
        if placed is None:
            return None
        self.node = placed[1].decode()
        return stop

    def answered(self, block: bytes, after: int, end: int) -> int | None:
        """The same of a tool's result."""
        if not block.endswith(self._last, after, end):
            return None
        stop = block.find(_ANSWERED, after, end)
        placed = _ANSWERED_AT.match(block, stop, end) if stop >= 0 else None
        if placed is None or block.find(_NEXT, after, stop) >= 0:
            return None
        self.node = placed[1].decode()
        return stop

    def call(self, block: bytes, after: int, stop: int) -> str:
        """The call that a result answers, where its id stands behind it."""
        at = block.rfind(_CALL, max(after, stop - _CALL_BYTES), stop)
        return block[at + len(_CALL) : stop - 1].decode("ascii", "replace") if at >= 0 else ""
