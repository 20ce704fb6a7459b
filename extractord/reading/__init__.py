"""Reading: a transcript was touched, and becomes windows."""

from extractord.reading.gating import Come, Resolve
from extractord.reading.touched import Reading

__all__ = ["Come", "Reading", "Resolve"]
