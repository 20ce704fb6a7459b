"""What a unit of the daemon is made for: whose, where its places are, and what watches over it."""

from __future__ import annotations

from dataclasses import dataclass

from extractord import __path__ as _package

UNITS = f"{next(iter(_package))}/units"
"""Where the units are that ship with extractord."""
GRACE_S = 15
"""What a stop takes besides `run.drain_s`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What was found out before a unit is written."""

    uid: int
    account: str
    """Whose agents are read: the person's own, or the one that a system's unit names."""
    is_system: bool
    has_supervisor: bool
    """Who starts units answers here."""
    is_loaded: bool
    """It has this unit already, running or not; asked of launchd only, which takes none twice."""
    has_namespaces: bool
    """The supervisor can give a service a namespace of its own."""
    places: tuple[tuple[str, str], ...]
    """EXTRACTORD_CONFIG and its like, where the environment says other than the standard ones."""
    data: str
    state: str
    memory: str
    drain_s: float
    key_file: str
    """The file of the provider's key that is to be handed over; empty where none is."""

    @property
    def stop_s(self) -> int:
        """So long may it take to stop, in seconds."""
        return int(self.drain_s) + GRACE_S

    @property
    def writable(self) -> tuple[str, ...]:
        """The folders that it writes in, none inside another."""
        places = sorted({self.data, self.state, self.memory})
        return tuple(
            place
            for place in places
            if not any(place != other and f"{place}/".startswith(f"{other}/") for other in places)
        )
