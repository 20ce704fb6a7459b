"""Credentials that detect-secrets finds in a text, whatever the text says about itself."""

from __future__ import annotations

from typing import Any

_NO_CREDENTIALS = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
"""What these find are hashes, ids, commits and addresses: facts that people want kept."""


def find_secret(text: str) -> str | None:
    """Given a text, return the kind of the first credential in it, never the credential.

    Each detector is asked directly, line by line: no filter runs, so no comment in the text
    (`pragma: allowlist secret`) lets anything through, and nothing is verified over a network.
    """
    from detect_secrets.core.plugins import initialize  # noqa: PLC0415 - 100 ms that only a commit pays
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    kinds: list[type] = list(get_mapping_from_secret_type_to_class().values())
    detectors: list[Any] = [
        initialize.from_plugin_classname(kind.__name__)
        for kind in kinds
        if kind.__name__ not in _NO_CREDENTIALS
    ]
    for number, line in enumerate(text.splitlines(), 1):
        for detector in detectors if line.strip() else ():
            if detector.analyze_line(filename="memory.md", line=line, line_number=number):
                return str(detector.secret_type)
    return None
