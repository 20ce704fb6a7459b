"""OpenClaw: Pi's records, with prompts that come through messengers and from its own clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.commontools import common_call
from extractord.core.transcripts.openclaw_store import ROWS, STORE, OpenClawStoreReader
from extractord.core.transcripts.openclaw_words import typed_in
from extractord.core.transcripts.pi import Dialect, PiReader
from extractord.core.transcripts.pi_records import Message
from extractord.core.transcripts.source import Container, Source, Surroundings
from extractord.core.transcripts.telling import pieces

_NAMES = re.compile(r"(?:^|/)\.?(?:openclaw|clawdbot|moltbot)(?:/|$)")
_HEADER = re.compile(rb'\s*\{"type":"session","id":"[^"]*","version":\d')
_FOREIGN = frozenset({"inter_session", "internal_system"})


def _prompt(entry: Entry, message: Message) -> Iterator[Entry]:
    """A person's words without what the gateway put round them; what anybody else says is synthetic."""
    provenance, sender = message.provenance, message.openclaw
    kind = provenance.get("kind") if isinstance(provenance, dict) else None
    is_others = isinstance(sender, dict) and sender.get("senderIsOwner") is False
    typed = None if kind in _FOREIGN or is_others else typed_in(entry.text)
    if typed is None:
        yield replace(entry, role=Role.CONTEXT, origin=Origin.SYNTHETIC)
    else:
        yield from pieces(replace(entry, text=typed))


_DIALECT = Dialect(agent="openclaw", call=common_call, prompt=_prompt)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`agents` in `OPENCLAW_STATE_DIR`, else in `~/.openclaw` and under its old name."""
    state = around.env.get("OPENCLAW_STATE_DIR")
    bases = (state,) if state else (f"{around.home}/.openclaw", f"{around.home}/.clawdbot")
    return tuple(f"{base}/agents" for base in bases)


_BELONGS = re.compile(rf"[^/]+/sessions/[^/]+\.jsonl|[^/]+/agent/{re.escape(STORE)}")


def _claims(path: str, head: bytes) -> bool:
    """True for the database by its name, or Pi's header in this agent's folder or as it writes it."""
    if head.startswith(b"SQLite format 3\0"):
        return path.endswith(f"/{STORE}")
    begins = head.lstrip(b"\xef\xbb\xbf \r\n")[:4096]
    if not begins.startswith(b'{"type":"session",'):
        return False
    return bool(_NAMES.search(path) or _HEADER.match(begins) or b'"customType":"openclaw' in head)


SOURCE = Source(
    agent="openclaw",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda path: Container.ROWS if path.endswith(STORE) else Container.LINES,
    claims=_claims,
    reader=lambda opened: (
        OpenClawStoreReader(opened, _DIALECT) if opened.path.endswith(STORE) else PiReader(opened, _DIALECT)
    ),
    rows=ROWS,
    writes_turn_end=False,
    gaps=(
        "archives (`.reset`, `.deleted`, cold ones) are not read; in a group's chat everybody counts as the "
        "person whom it does not know for another"
    ),
    seen="2026.9.5, and records that name none",
)
