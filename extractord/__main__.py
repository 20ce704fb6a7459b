"""Where a process begins: the command line, or one of the two processes that the daemon starts."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules load, an interrupt just ends it
    match sys.argv[1:]:
        case ["--version" | "-V"]:
            from extractord import __version__  # noqa: PLC0415 - without the command line's 100 ms

            sys.stdout.write(f"extractord {__version__}\n")
        case ["_processes", confinement, "--control", control]:
            from extractord.subagent import start_others  # noqa: PLC0415 - not for the command line

            start_others(int(control), confinement)
        case ["_modelhost", confinement, provider]:
            from extractord.hosting import host  # noqa: PLC0415 - the same: 4 s

            host(provider, confinement)
        case _:
            from extractord.cli import obey  # noqa: PLC0415 - not for the processes above

            sys.exit(obey())


if __name__ == "__main__":
    main()
