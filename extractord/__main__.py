"""Where a process begins: the command line, or one of the two processes that the daemon starts."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    match sys.argv[1:]:
        case ["--version" | "-V"]:
            from extractord import __version__  # noqa: PLC0415 - the command line's 100 ms are not needed

            print(f"extractord {__version__}")  # noqa: T201 - the answer
        case ["_forkserver", "--control", control]:
            _forkserver(int(control))
        case ["_modelhost", provider]:
            _modelhost(provider)
        case _:
            from extractord.cli import run  # noqa: PLC0415 - not for the processes above

            sys.exit(run())


def _forkserver(control: int) -> None:
    from extractord.edges import forkserver  # noqa: PLC0415 - each process loads its own

    forkserver.serve(control, _child)


def _child(incoming: int, outgoing: int, roots: Sequence[int]) -> None:
    """Inside the forked process: hold one conversation and end."""
    from extractord.agent.conversation import hold  # noqa: PLC0415 - loaded before the fork
    from extractord.edges.child import Pipes, PipedModel  # noqa: PLC0415
    from extractord.edges.folder import Folder  # noqa: PLC0415

    hold(Pipes(incoming, outgoing), PipedModel, [Folder.from_fd(fd) for fd in roots])


def _modelhost(provider: str) -> None:
    import msgspec  # noqa: PLC0415 - each process loads its own

    from extractord.edges import modelhost  # noqa: PLC0415
    from extractord.edges.provider import LiteLLM, Provider  # noqa: PLC0415

    modelhost.serve(LiteLLM(msgspec.json.decode(provider, type=Provider)).answer)


if __name__ == "__main__":
    main()
