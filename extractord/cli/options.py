"""Options that several commands have, with one name and one meaning."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

Json = Annotated[bool, Parameter(name="--json", negative=(), help="One JSON object a line.")]
Limit = Annotated[int, Parameter(help="How many, newest first.", validator=validators.Number(gte=1))]
