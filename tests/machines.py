"""Machines of a fleet: each a home with extractord in one of its roles."""

from __future__ import annotations

from pathlib import Path

from broking import Mosquitto
from living import Place


def machine(home: Path, broker: Mosquitto, user: str, person: str = "ann@desk") -> Place:
    """A machine of the fleet, which the broker knows as a user; `person` is whose sessions it has."""
    environ = {
        "EXTRACTORD_FLEET__PERSON": person,
        "EXTRACTORD_FLEET__AGAIN_S": "1",
        "EXTRACTORD_RUN__RESCAN_S": "1",
        **broker.settings(user),
        "EXTRACTORD_MQTT__NAME": home.name,
    }
    return Place(home, watches="broker is there", **environ)


def of_person(extractor: Place, person: str = "ann@desk") -> dict[str, str]:
    """The environment in which a command works on one person's memory on an extractor."""
    return {
        **extractor.environ,
        "EXTRACTORD_STATE_DIR": str(extractor.home / "state/persons" / person),
        "EXTRACTORD_MEMORY__DIR": str(extractor.home / "data/memory/persons" / person),
    }
