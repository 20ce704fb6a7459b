"""The command line: one module a command group, imported when its command is named."""

from __future__ import annotations

import sys
import traceback

from cyclopts import App

from extractord import __version__
from extractord.errors import EXIT_OURS, ConfigError, ExtractordError

_INTERRUPTED = 130

app = App(
    name="extractord",
    version=f"extractord {__version__}",
    help="Memories for coding agents: read from their transcripts, written under a policy that holds.",
)

COMMANDS = {
    "run": "extractord.cli.run:run",
    "extract": "extractord.cli.extract:extract",
    "entries": "extractord.cli.entries:entries",
    "judge": "extractord.cli.judge:judge",
    "status": "extractord.cli.status:status",
    "runs": "extractord.cli.runs:app",
    "context": "extractord.cli.context:context",
    "memories": "extractord.cli.memories:app",
    "review": "extractord.cli.review:app",
    "undo": "extractord.cli.undo:undo",
    "audit": "extractord.cli.audit:app",
    "project": "extractord.cli.projects:app",
    "config": "extractord.cli.settings:app",
    "bench": "extractord.cli.bench:app",
}

for _name, _place in COMMANDS.items():
    app.command(_place, name=_name)


def run() -> int:
    """Run the command that the arguments name; return its exit code (§18)."""
    try:
        code = app(result_action="return_value")
    except ConfigError as error:
        for problem in error.problems:
            print(f"extractord: {problem}", file=sys.stderr)
        return error.exit_code
    except ExtractordError as error:
        print(f"extractord: {error}", file=sys.stderr)
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
