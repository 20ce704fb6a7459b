"""What can go wrong that is not the model's doing, by who is to blame.

=================  =============================  =====================================
error              to blame                       what the daemon does
=================  =============================  =====================================
ConfigError        the configuration              prints every problem, exits 78
AlreadyRunning     another daemon on this state   exits 75
TranscriptError    a transcript                   counts it, goes on with the next
ModelError         the provider or its account    retries, defers or fails the run
StoreError         the memory root or the disk    fails the run, keeps the cursor
LedgerError        the ledger                     stops; nothing is closed
ConfinementError   the kernel or the settings     refuses to serve
BusError           the broker                     reconnects
InstallError       another program's file         never meets one: nothing is written
anything else      us                             logs it, exits 70
=================  =============================  =====================================

Nothing here is raised for what the model did: a refusal is an answer.
"""

from __future__ import annotations

from typing import Literal

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_OURS = 70
EXIT_RUNNING = 75
EXIT_CONFIG = 78

ModelFault = Literal["transient", "rate_limit", "quota", "auth", "too_long", "refused"]


class ExtractordError(Exception):
    """A sentence for a person: what is wrong, where, and what to do."""

    exit_code = EXIT_FAILED


class ConfigError(ExtractordError):
    """The configuration cannot be used; carries every problem at once."""

    exit_code = EXIT_CONFIG

    def __init__(self, *problems: str) -> None:
        """Keep each problem, a sentence that names its key."""
        self.problems = problems
        super().__init__("\n".join(problems))


class UsageError(ExtractordError):
    """The command line asks for something that is not there."""

    exit_code = EXIT_USAGE


class AlreadyRunning(ExtractordError):  # noqa: N818 - a state of the world, not a fault
    """Another daemon serves this state directory."""

    exit_code = EXIT_RUNNING


class TranscriptError(ExtractordError):
    """A transcript cannot be read; its file is named, the others go on."""


class ModelError(ExtractordError):
    """The provider gave no usable reply.

    `fault` sorts it: transient and rate_limit may pass; quota and auth stop spending at
    once; too_long is tried once with half the brief; refused fails the run.
    `retry_after_s` is the provider's own wish, in seconds; `tries` counts the requests spent.
    """

    def __init__(
        self, message: str, *, fault: ModelFault, retry_after_s: float | None = None, tries: int = 1
    ) -> None:
        """Keep the fault and the provider's wish beside the sentence."""
        self.fault = fault
        self.tries = tries
        self.retry_after_s = retry_after_s
        super().__init__(message)


class StoreError(ExtractordError):
    """A memory root or a file in it cannot be used; its bytes are untouched."""


class ConflictError(StoreError):
    """Somebody else changed the memory meanwhile, or holds the lock; nothing was written."""


class LedgerError(ExtractordError):
    """The ledger cannot be used; the file is left as it is."""


class DamagedLedgerError(LedgerError):
    """The ledger's file is there and is no sound database; its bytes are untouched."""


class ConfinementError(ExtractordError):
    """The confinement that the settings require cannot be had here."""

    exit_code = EXIT_CONFIG


class BusError(ExtractordError):
    """The broker is away or refuses us."""


class InstallError(ExtractordError):
    """A file of another program cannot be added to; its bytes are untouched."""
