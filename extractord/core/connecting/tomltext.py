"""Additions to TOML: a block at the end of the text, and out again without another byte changed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, MutableMapping
from typing import Any

from extractord.core.connecting.target import Trace
from extractord.errors import InstallError

Table = MutableMapping[str, Any]


def added(text: str | None, block: str) -> tuple[str, Trace]:
    """Put whole tables at the end; the trace is what was written. Raise InstallError where that cannot be."""
    before = text or ""
    loaded(before)
    newline = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before else newline if before.endswith("\n") else newline * 2
    written = gap + block.replace("\n", newline)
    try:
        loaded(before + written)
    except InstallError as error:
        header = block.partition("\n")[0]
        raise InstallError(
            f"{header} does not fit in: it is there already, or written inline; nothing was changed"
        ) from error
    return before + written, (written,)


def removed(text: str, strip: Callable[[Table], None], trace: Trace) -> str | None:
    """Take the block out where it still stands as it was written, else what `strip` takes out.

    `strip` is given the parsed document, or one that keeps its looks, and takes out what is ours.
    None where nothing is left. Raise InstallError where the text is malformed.
    """
    wanted = loaded(text)
    strip(wanted)
    if _pruned(wanted) == _pruned(loaded(text)):
        return text
    for written in (*trace, *(each.lstrip("\r\n") for each in trace)):
        left = text.replace(written, "")
        if text.count(written) == 1 and _is(left, wanted):
            return left or None
    from tomlkit import dumps, parse  # noqa: PLC0415 - where the text was rewritten since

    document = parse(text)
    strip(document)
    left = dumps(document)
    if not _is(left, wanted):
        raise InstallError("what is extractord's cannot be told from the rest: take it out by hand")
    return left if left.strip() else None


def loaded(text: str) -> dict[str, Any]:
    """Given a file's text, return what it says. Raise InstallError with the place where it is malformed."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise InstallError(f"malformed: {error}; fix it first, nothing was changed") from error


def _is(text: str, wanted: Table) -> bool:
    try:
        return bool(_pruned(loaded(text)) == _pruned(wanted))
    except InstallError:
        return False


def _pruned(value: Any) -> Any:
    """A document without its empty tables and lists: those say nothing."""
    if isinstance(value, dict):
        return {key: kept for key, each in value.items() if (kept := _pruned(each)) not in ({}, [])}
    return [_pruned(each) for each in value] if isinstance(value, list) else value
