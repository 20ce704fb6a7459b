"""Where a process begins: the command line, or one of the two processes that the daemon starts."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    match sys.argv[1:]:
        case ["--version" | "-V"]:
            from extractord import __version__  # noqa: PLC0415 - without the command line's 100 ms

            sys.stdout.write(f"extractord {__version__}\n")
        case ["_forkserver", "--control", control]:
            from extractord.edges import forkserver  # noqa: PLC0415 - not for the command line
            from extractord.subagent import prepare  # noqa: PLC0415 - loaded before the first fork

            forkserver.serve(int(control), prepare())
        case ["_modelhost", provider]:
            import msgspec  # noqa: PLC0415 - not for the command line

            from extractord.edges import modelhost  # noqa: PLC0415 - the same
            from extractord.edges.provider import LiteLLM, Provider  # noqa: PLC0415 - the same: 4 s

            modelhost.serve(LiteLLM(msgspec.json.decode(provider, type=Provider)).answer)
        case _:
            from extractord.cli import run  # noqa: PLC0415 - not for the processes above

            sys.exit(run())


if __name__ == "__main__":
    main()
