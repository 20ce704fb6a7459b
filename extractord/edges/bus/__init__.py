"""The line to an MQTT broker; the only room that knows aiomqtt."""

from extractord.edges.bus.calling import first_to_end, keep, line_to
from extractord.edges.bus.line import Line

__all__ = ["Line", "first_to_end", "keep", "line_to"]
