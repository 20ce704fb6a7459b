"""OpenClaw: Pi's session files, with prompts that come through messengers and from its own clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.commontools import common_call
from extractord.core.transcripts.pi import Dialect, PiReader
from extractord.core.transcripts.source import Container, Source, Surroundings
from extractord.core.transcripts.telling import pieces

_MESSENGERS = (
    "Telegram|WhatsApp|Discord|Slack|Signal|iMessage|BlueBubbles|Matrix|Teams|MSTeams|Feishu|WebChat"
)
_STAMP = re.compile(
    rf"\A\s*\[(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{{4}}-\d\d-\d\d|(?:{_MESSENGERS})\b)[^\]\n]*\] ?"
)
"""`[Wed 2026-02-18 11:21 GMT+1] `, or the messenger's name, who and when."""
_TAIL = re.compile(r"^\[message_id: [^\]\n]*\]\s*\Z", re.MULTILINE)
_ITS_OWN = re.compile(
    r"\s*(?:Read HEARTBEAT\.md|HEARTBEAT|Pre-compaction memory flush|A new session was started via /\w+"
    r"|System: \[|\[cron:|\[Subagent )"
)
_METADATA = re.compile(
    r"^[A-Z][a-z ]+ \(untrusted(?: metadata|, for context)?\):\n```json\n.*?\n```\s*",
    re.MULTILINE | re.DOTALL,
)
_NAMES = re.compile(r"(?:^|/)\.?(?:openclaw|clawdbot|moltbot)(?:/|$)")
_HEADER = re.compile(rb'\s*\{"type":"session","id":"[^"]*","version":\d')


def _prompt(entry: Entry) -> Iterator[Entry]:
    """A person's words without what the gateway put before and after; what it says itself is synthetic."""
    text = _TAIL.sub("", _STAMP.sub("", _METADATA.sub("", entry.text), count=1)).rstrip()
    if _ITS_OWN.match(text):
        yield replace(entry, role=Role.CONTEXT, origin=Origin.SYNTHETIC)
    else:
        yield from pieces(replace(entry, text=text))


_DIALECT = Dialect(agent="openclaw", call=common_call, prompt=_prompt)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`agents` in `OPENCLAW_STATE_DIR`, else in `~/.openclaw` and under its old name."""
    state = around.env.get("OPENCLAW_STATE_DIR")
    bases = (state,) if state else (f"{around.home}/.openclaw", f"{around.home}/.clawdbot")
    return tuple(f"{base}/agents" for base in bases)


_BELONGS = re.compile(r"[^/]+/sessions/[^/]+\.jsonl")


def _claims(path: str, head: bytes) -> bool:
    """True for Pi's header in a folder of this agent, or as this agent writes it."""
    begins = head.lstrip(b"\xef\xbb\xbf \r\n")[:4096]
    if not begins.startswith(b'{"type":"session",'):
        return False
    return bool(_NAMES.search(path) or _HEADER.match(begins) or b'"customType":"openclaw' in head)


SOURCE = Source(
    agent="openclaw",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.LINES,
    claims=_claims,
    reader=lambda opened: PiReader(opened, _DIALECT),
    writes_turn_end=False,
    gaps=("archives (`.reset`, `.deleted`) are not read; in a group's chat everybody counts as the person"),
    seen="records name none",
)
