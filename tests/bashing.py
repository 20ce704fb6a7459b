"""The rm grammar against a real bash: random commands, and what each of the two reads.

Run by hand for as long as wanted: `python tests/bashing.py --minutes 60`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from extractord.policy import parse_rm
from extractord.policy.requests import Remove

_BATCH = 4000
_WORDS = (
    "/m/a.md",
    "/m/b c.md",
    "'/m/a b.md'",
    '"/m/(x).md"',
    "/m/caf\u00e9.md",
    "/m/x",
    "-f",
    "--",
    "rm",
)
_MARKS = tuple("'\" $`\\;&|<>()*?~!#\t\n/-=a@+,%^:.[]{}\u2003\u00a0\u200b\r\x0b\x7f")
_EXPANSIONS = ("  ", "{a,b}", "[a]", "$(id)", "`id`", "${x}", "$'a'", "--recursive", "'/m/'", "{1..3}", "!!")
PIECES = (*_WORDS, *_MARKS, *_EXPANSIONS)
_QUOTES = ("{}", "'{}'", '"{}"')


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many of the commands the grammar accepted, and those that bash reads otherwise."""

    accepted: int
    differences: tuple[str, ...]


def random_command(chance: random.Random) -> str:
    """An rm command: whole words, pieces glued together, or good words with one character put in."""
    kind = chance.random()
    if kind < 0.4:
        return "rm " + " ".join(chance.choice(_WORDS) for _ in range(chance.randint(1, 4)))
    if kind < 0.7:
        return "rm " + "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6)))
    words = "rm " + " ".join(
        chance.choice(_QUOTES).format(chance.choice(("/m/a.md", "/m/a-b/c.md", "/m/\u6771.md")))
        for _ in range(chance.randint(1, 3))
    )
    place = chance.randrange(len(words))
    mark = chance.choice(_MARKS) if kind < 0.9 else chr(chance.randint(1, 0xD7FF))
    return words[:place] + mark + words[place + chance.randint(0, 1) :]


def read_by_bash(commands: list[str]) -> list[list[str]]:
    """Given commands, return the words that a real bash gives to rm in each; nothing has an effect.

    A command stands in a file of its own lines: rm is a function that prints, and PATH is empty.
    """
    script = "rm() { printf '%s\\0' call \"$@\"; }\nPATH=\n" + "".join(
        f"printf '\\n\\0'\n{command}\n" for command in commands
    )
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-s"],
        input=script.encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == b"", done.stderr
    return [call.decode().split("\0")[:-1] for call in done.stdout.split(b"\n\0")[1:]]


def compared(commands: list[str]) -> Agreement:
    """Ask both about each command; only what the grammar accepts is shown to bash."""
    accepted = [
        (command, removal.paths) for command in commands if isinstance(removal := parse_rm(command), Remove)
    ]
    calls = read_by_bash([command for command, _ in accepted])
    assert len(calls) == len(accepted)
    return Agreement(
        len(accepted),
        tuple(
            command
            for (command, paths), call in zip(accepted, calls, strict=True)
            if call not in (["call", *options, *paths] for options in ([], ["-f"], ["--"], ["-f", "--"]))
        ),
    )


def main() -> int:
    """Compare until the time is over; print the counts, and each difference as it is found."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--minutes", type=float, default=1.0)
    asked.add_argument("--seed", type=int, default=None)
    given = asked.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(2**32)
    chance = random.Random(seed)  # noqa: S311 - a seed makes a difference repeatable
    until = time.monotonic() + given.minutes * 60
    strings = accepted = differences = 0
    while time.monotonic() < until:
        agreement = compared([random_command(chance) for _ in range(_BATCH)])
        strings, accepted = strings + _BATCH, accepted + agreement.accepted
        differences += len(agreement.differences)
        for command in agreement.differences:
            print(f"differs: {command!r}")
    print(f"{strings:,} strings, {accepted:,} accepted, {differences} differences (seed {seed})")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
