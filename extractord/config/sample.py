"""What can be set, for people: made from the settings' types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from extractord.config.settings import PLACES, Agent, Settings


class Described(Struct, frozen=True):
    """A setting for a person: its key with its section, its default as TOML, and what it does."""

    name: str
    default: str
    use: str


def described() -> Iterator[Described]:
    """Yield every setting, made from the types above."""
    yield from _described(Settings(), "")


def sample() -> str:
    """Return the commented configuration: every key, its default, its use."""
    lines = ["# extractord's settings; every line that is commented out shows the default."]
    section = ""
    for each in described():
        inside, _, key = each.name.rpartition(".")
        if inside != section:
            lines += ["", f"# [{inside}]"]
            section = inside
        lines += [f"# {each.use}", f"# {key} = {each.default}"]
    return "\n".join(lines) + "\n"


def _described(struct: Any, where: str) -> Iterator[Described]:
    nested = []
    for key, kind in get_type_hints(type(struct), include_extras=True).items():
        value = getattr(struct, key)
        if key in PLACES:
            continue
        if isinstance(value, Struct) or key == "agents":
            nested.append((key, value))
            continue
        choices = _choices(kind)
        use = next(
            m.description for m in reversed(kind.__metadata__) if isinstance(m, Meta) and m.description
        )
        default = msgspec.json.encode(value).decode()  # these values are TOML too
        yield Described(f"{where}{key}", default, use + (f" ({choices})" if choices else ""))
    for key, value in nested:
        if key == "agents":
            yield from _described(Agent(), "agents.claude-code.")
        else:
            yield from _described(value, f"{where}{key}.")


def _choices(kind: Any) -> str:
    """The words that a setting takes, where it takes only some."""
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return " | ".join(get_args(kind))
    return ""
