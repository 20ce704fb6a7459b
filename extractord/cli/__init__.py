"""The command line: one module a command group, imported when its command is named."""

from __future__ import annotations

import sys
import traceback

from cyclopts import App, Parameter

from extractord import __version__
from extractord.core.printable import LINES, printable
from extractord.edges.descriptors import allow_many
from extractord.errors import EXIT_OURS, ConfigError, ExtractordError

_INTERRUPTED = 130


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
    "run": ("run:run", "The daemon, in the foreground: watch the agents and remember what is worth it."),
    "extract": ("extract:extract", "Read the transcripts that are there, and remember what is worth it."),
    "status": ("status:status", "Does it run, what came of the last run, what waits, what was spent."),
    "doctor": ("doctor:doctor", "The path from a transcript to a memory, proved end to end; what to do."),
    "runs": ("runs:app", "What was extracted, how each run ended, and trying again."),
    "memories": ("memories:app", "What is kept: list, show, edit, forget, pin, restore."),
    "review": ("review:app", "What is held for you: accept, edit, reject or leave it."),
    "undo": ("undo:undo", "Take back all that a run did."),
    "context": ("context:context", "The index of memories as an agent is given it."),
    "search": ("search:search", "The memories that have these words, the best first."),
    "web": ("web:web", "A page on this machine: look at what was learned, and put it right."),
    "mcp": ("mcp:mcp", "The memories for agents that speak the Model Context Protocol."),
    "entries": ("entries:entries", "What the daemon sees in a transcript or a folder of them."),
    "judge": ("judge:judge", "Ask the policy about a request; nothing is changed."),
    "audit": (
        "audit:app",
        "What was asked and answered, every commit and decision, and whether the chain holds.",
    ),
    "consolidate": (
        "consolidate:consolidate",
        "Merge and clean memories under the same law, for your review.",
    ),
    "import": ("taking:take_over", "Take over what other agents keep of their own, until you accept it."),
    "project": ("projects:app", "Which projects there are; move, exclude or adopt one."),
    "config": ("settings:app", "What is set, whether it can be used, what could be set."),
    "install": (
        "install:install",
        "Give the memories to an agent, shown before it is written.",
    ),
    "uninstall": ("install:uninstall", "Take out again what was installed, and leave no trace."),
    "bench": ("bench:app", "Measure what extractord keeps, and what it costs."),
}
"""Every command: its module and object, imported when it is named, and what it is for."""

for _name, (_place, _purpose) in COMMANDS.items():
    app.command(f"extractord.cli.{_place}", name=_name, help=_purpose, sort_key=list(COMMANDS).index(_name))


def obey() -> int:
    """Run the command that the arguments name; return its exit code (§18)."""
    allow_many()
    try:
        code = app(result_action="return_value")
    except ConfigError as error:
        for problem in error.problems:
            print(f"extractord: {printable(problem, LINES)}", file=sys.stderr)
        return error.exit_code
    except ExtractordError as error:
        print(f"extractord: {printable(str(error), LINES)}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # whoever read our output has enough
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception:  # noqa: BLE001 - the last place: what nobody foresaw is ours
        traceback.print_exc()
        return EXIT_OURS
    return code if isinstance(code, int) else 0
