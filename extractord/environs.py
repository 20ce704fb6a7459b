"""What is kept of the environment that this process began with, and what is forgotten."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from extractord.config import Settings
from extractord.core.wire import Provider
from extractord.edges.confine.environment import forget

OURSELVES = (sys.executable, "-P", "-m", "extractord")
CREDENTIAL = "model_key"
"""The name under which systemd's LoadCredential hands over the provider's key."""

_PASSED_TO_HOST = re.compile(
    r"\w+_API_KEY|\w+_API_BASE|(AWS|AZURE|VERTEX|VERTEXAI|GOOGLE|WATSONX|DATABRICKS|OLLAMA)_\w+"
    r"|https?_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""What of the environment a provider's library may need: keys, addresses, proxies, certificates."""
_KEY = re.compile(r"\w+_API_KEY|\w*(SECRET|TOKEN|PASSWORD)\w*", re.IGNORECASE)
"""What of the environment the model host alone is to have: it is handed on, and then forgotten."""
_HOST_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "PYTHONSAFEPATH": "1",
}


@dataclass(frozen=True, slots=True)
class Environs:
    """What the model host is given, now and whenever its settings change."""

    host: Mapping[str, str]
    """All that it has of an environment."""
    credential: str
    """The file that systemd handed over; empty where it did not."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """Given the environment, keep what the host needs, and wipe what nobody else may see."""
        credentials = environ.get("CREDENTIALS_DIRECTORY")
        credential = Path(credentials, CREDENTIAL) if credentials else None
        kept = cls(
            host={
                **{name: environ[name] for name in environ if _PASSED_TO_HOST.fullmatch(name)},
                **_HOST_ENVIRONMENT,
            },
            credential=str(credential) if credential and credential.exists() else "",
        )
        forget([name for name in environ if _KEY.fullmatch(name)])
        return kept

    def host_command(self, settings: Settings) -> list[str]:
        """Given the settings, return the command that starts the model host."""
        model = settings.model
        key_file = model.key_file or self.credential
        provider = Provider(
            model=model.name,
            key_file=str(Path(key_file).expanduser()) if key_file else "",
            base_url=model.base_url,
            timeout_s=model.timeout_s,
            retries=model.retries,
            output_tokens=model.output_tokens,
            price=model.prices.get(model.name),
        )
        return [*OURSELVES, "_modelhost", settings.confinement, msgspec.json.encode(provider).decode()]
