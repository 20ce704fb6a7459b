"""The command line: one module a command group, imported when its command is named."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback

from cyclopts import App, Parameter

from extractord import __version__
from extractord.core.printable import LINES, printable
from extractord.edges.descriptors import allow_many
from extractord.errors import EXIT_FAILED, EXIT_OURS, ConfigError, ExtractordError

_INTERRUPTED = 130
_OF_THE_WORLD = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG, errno.EFBIG))
"""What a disk or a path says anywhere: nobody's error but theirs, though no room had a sentence for it."""


def _told_default(value: object) -> str | None:
    """What help says of a default: nothing where it is that nothing is given."""
    return str(value) if value not in (None, False, "", ()) else None


app = App(
    name="extractord",
    version=f"extractord {__version__}",
    help="Memories for coding agents: read from their transcripts, written under a policy that holds.",
    default_parameter=Parameter(negative_iterable=(), show_default=_told_default),
)

COMMANDS = {
    "run": ("run:run", "Run the daemon in the foreground: watch the agents, remember what is worth keeping."),
    "extract": (
        "extract:extract",
        "Read transcripts that exist already, and remember what is worth keeping.",
    ),
    "status": (
        "status:status",
        "Show whether the daemon runs, how the last run ended, what waits, what was spent.",
    ),
    "doctor": (
        "doctor:doctor",
        "Check every step from a transcript to a memory, and say how to fix what is broken.",
    ),
    "runs": ("runs:app", "List runs and how each ended; show one; retry those that were given up."),
    "memories": ("memories:app", "List, show, edit, forget, pin and restore what is kept."),
    "review": ("review:app", "Go through what is held for you: accept, edit, reject or leave it."),
    "undo": ("undo:undo", "Undo everything that a run changed."),
    "context": ("context:context", "Print the index of memories as an agent gets it."),
    "search": ("search:search", "Search the memories for words, best match first."),
    "web": ("web:web", "Serve a page on this machine: see what was learned, and correct it."),
    "mcp": ("mcp:mcp", "Serve the memories to agents over the Model Context Protocol."),
    "entries": ("entries:entries", "Show what the daemon sees in a transcript or a folder of them."),
    "judge": ("judge:judge", "Ask the policy about a request; nothing is changed."),
    "audit": (
        "audit:app",
        "Show every request, commit and decision; verify that the record is unbroken.",
    ),
    "consolidate": (
        "consolidate:consolidate",
        "Propose merged and cleaned-up memories, for your review.",
    ),
    "import": (
        "taking:take_over",
        "Import what other agents remember on their own; foreign until you accept it.",
    ),
    "project": ("projects:app", "List projects; move, exclude or adopt one."),
    "config": ("settings:app", "Show the settings, check them, or print a sample of all."),
    "install": (
        "install:install",
        "Give the memories to an agent; every change is shown first.",
    ),
    "uninstall": ("install:uninstall", "Take out what was installed, without a trace."),
    "bench": ("bench:app", "Measure what extractord keeps, and what it costs."),
}
"""Every command: its module and object, imported when it is named, and what it is for."""

for _name, (_place, _purpose) in COMMANDS.items():
    app.command(f"extractord.cli.{_place}", name=_name, help=_purpose, sort_key=list(COMMANDS).index(_name))


def obey() -> int:
    """Run the command that the arguments name; return its exit code (§18)."""
    allow_many()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = app(result_action="return_value")
        sys.stdout.flush()
    except ExtractordError as error:
        for problem in error.problems if isinstance(error, ConfigError) else (error,):
            print(f"extractord: {printable(str(problem), LINES)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        return _code_of(error)
    except Exception as error:  # noqa: BLE001 - the last place: what nobody foresaw is ours
        if isinstance(error.__cause__, KeyboardInterrupt):  # it came while a class was made
            return _INTERRUPTED
        traceback.print_exc()
        return EXIT_OURS
    return code if isinstance(code, int) else 0


def _code_of(error: OSError) -> int:
    """What a disk, a path or a reader says that no room had a sentence for; anything else is ours."""
    if error.filename is None and error.errno in (errno.EPIPE, *_OF_THE_WORLD):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of it is for nobody
    if isinstance(error, BrokenPipeError):  # whoever read our output has enough
        return 0
    if error.errno not in _OF_THE_WORLD:
        traceback.print_exc()
        return EXIT_OURS
    place = printable(str(error.filename or "what is written"))
    print(f"extractord: {place}: {error.strerror}", file=sys.stderr)
    return EXIT_FAILED
