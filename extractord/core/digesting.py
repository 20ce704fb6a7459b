"""What tells one version from another."""

from __future__ import annotations

import hashlib


def digest(raw: bytes) -> str:
    """Given bytes, return their SHA-256 in hex: the identity of a version."""
    return hashlib.sha256(raw).hexdigest()
