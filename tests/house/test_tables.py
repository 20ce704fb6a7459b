"""What is generated in the READMEs is what the code says now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_no_generated_table_is_stale() -> None:
    ran = subprocess.run(
        [sys.executable, TOP / "scripts/tables", "--check"], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.returncode) == ("", 0), ran.stderr
