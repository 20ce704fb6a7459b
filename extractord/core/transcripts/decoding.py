"""Bytes of a record to the struct that names what is needed of it, whatever else the bytes hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET, Raw, Struct

from extractord.core.transcripts.recorded import clean

T = TypeVar("T")

_BLANK = b" \t\r\n\0\xef\xbb\xbf"


def decoder(kind: type[T]) -> Callable[[bytes], T | None]:
    """Given a struct, return a function from a record's bytes to it, or None where they hold no object.

    The strict decoder is tried first. What it refuses is repaired: a byte order mark, NULs and
    carriage returns are dropped, bad UTF-8 and lone surrogates replaced, and fields and list
    elements of a wrong type left out.
    """
    strict = msgspec.json.Decoder(kind)

    def decode(record: bytes) -> T | None:
        try:
            return strict.decode(record)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _repaired(record, kind)

    return decode


class _Anything(Struct, gc=False):
    pass


_anything = msgspec.json.Decoder(_Anything).decode


def is_whole(record: bytes) -> bool:
    """True if the record is a JSON object from end to end, whatever it holds."""
    try:
        _anything(record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def is_blank(record: bytes) -> bool:
    """True if the record holds nothing but white space, NULs and byte order marks."""
    return not record.strip(_BLANK)


def _repaired(record: bytes, kind: type[T]) -> T | None:
    text = record.decode("utf-8", "replace").strip("\ufeff\0\r\n\t ").replace("\0", "")
    try:
        loose = json.loads(text, strict=False, parse_constant=lambda _: None)
        plain = msgspec.json.decode(clean(json.dumps(loose, ensure_ascii=False)))
        found = _conformed(plain, kind)
    except (ValueError, RecursionError):
        return None
    return found if found is not UNSET else None


def _conformed(value: Any, kind: Any) -> Any:
    """Given plain values, return them as `kind` without what is of a wrong type; UNSET if all is."""
    if kind is Raw:
        return Raw(msgspec.json.encode(value))
    for choice in get_args(kind) if isinstance(kind, UnionType) else (kind,):
        if isinstance(choice, type) and issubclass(choice, Struct):
            if isinstance(value, dict):
                return _filled(value, choice)
        elif get_origin(choice) is list:
            if isinstance(value, list):
                (inner,) = get_args(choice)
                kept = (_conformed(element, inner) for element in value)
                return [element for element in kept if element is not UNSET]
        else:
            try:
                return msgspec.convert(value, choice)
            except msgspec.ValidationError:
                continue
    return UNSET


def _filled(value: dict[str, Any], kind: type[Struct]) -> Struct:
    fields = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in value:
            found = _conformed(value[field.encode_name], field.type)
            if found is not UNSET:
                fields[field.name] = found
    return kind(**fields)
