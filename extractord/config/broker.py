"""How the broker is reached, from the settings: checked once, with every problem at once."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from extractord.config.settings import MQTT_FILES, Mqtt
from extractord.core.broker import Broker
from extractord.errors import ConfigError
from extractord.keyfile import fault_of

_PORTS = {"mqtts": 8883, "mqtt": 1883}


def broker_of(mqtt: Mqtt) -> Broker | None:
    """Given the section [mqtt], return how its broker is reached; None where it is off.

    Raise ConfigError with every problem.
    """
    problems = [*_problems(mqtt)]
    if not mqtt.url:
        problems = [] if mqtt == Mqtt() else ["`mqtt.url` is empty: name the broker, or take [mqtt] out"]
    if problems:
        raise ConfigError(*problems)
    if not mqtt.url:
        return None
    place = urlsplit(mqtt.url)
    return Broker(
        host=place.hostname or "",
        port=place.port or _PORTS[place.scheme],
        is_secure=place.scheme == "mqtts",
        user=mqtt.user or None,
        password_file=_path(mqtt.password_file),
        ca_file=_path(mqtt.ca_file),
        cert_file=_path(mqtt.cert_file),
        key_file=_path(mqtt.key_file),
    )


def _problems(mqtt: Mqtt) -> Iterator[str]:
    try:
        place = urlsplit(mqtt.url)
        port = place.port
    except ValueError as error:
        yield f"`mqtt.url` is {mqtt.url!r}: {error}"
        return
    if place.scheme not in _PORTS or not place.hostname or port == 0:
        yield f"`mqtt.url` is {mqtt.url!r}: give mqtts://host[:port]"
    elif place.username or place.password or place.path.strip("/") or place.query or place.fragment:
        yield "`mqtt.url` is mqtts://host[:port] and no more: see `mqtt.user` and `mqtt.password_file`"
    elif place.scheme == "mqtt" and not _is_here(place.hostname):
        yield f"`mqtt.url` is {mqtt.url!r}: to another machine only mqtts://, which encrypts"
    if place.scheme == "mqtt" and (mqtt.ca_file or mqtt.cert_file):
        yield "`mqtt.ca_file` and `mqtt.cert_file` are for mqtts://"
    if bool(mqtt.cert_file) != bool(mqtt.key_file):
        yield "`mqtt.cert_file` and `mqtt.key_file` go together"
    if mqtt.password_file and not mqtt.user:
        yield "`mqtt.password_file` needs `mqtt.user`"
    yield from _files(mqtt)


def _files(mqtt: Mqtt) -> Iterator[str]:
    for key, is_secret in MQTT_FILES.items():
        name: str = getattr(mqtt, key)
        fault = name and fault_of(f"mqtt.{key}", Path(name).expanduser(), is_secret=is_secret)
        if fault:
            yield fault


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _path(name: str) -> str | None:
    return str(Path(name).expanduser().absolute()) if name else None
