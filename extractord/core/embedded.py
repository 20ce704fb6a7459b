"""What the embedded model is called, for those who need not load it."""

from __future__ import annotations

NAME = "heuristic"
