"""A thousand projects are no reason to stop."""

import resource
import subprocess
import sys

ASKED = """
import resource
from extractord.edges.descriptors import allow_many
allow_many()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def limits(soft: int, hard: int) -> list[int]:
    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    ran = subprocess.run(
        [sys.executable, "-c", ASKED], preexec_fn=lower, capture_output=True, text=True, check=True
    )
    return [int(word) for word in ran.stdout.split()]


def test_it_takes_what_the_system_gives_and_no_more() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)
    assert limits(256, most) == [most, most]
    assert limits(256, 256) == [256, 256]
