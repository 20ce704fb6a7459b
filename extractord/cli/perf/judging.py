"""How long the policy takes over a path, and over an rm."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.errors import ExtractordError
from extractord.policy import PLACE_RULES, judge, parse_rm
from extractord.policy.requests import VIRTUAL_ROOTS, Facts, Found, Law, PathFacts, Remove, Write
from extractord.policy.verdict import Allow, Verdict

GROUP = "judge"
_LAW = Law(roots=VIRTUAL_ROOTS)
_ROUNDS, _QUICK_ROUNDS = 200, 20
_PATH_US, _RM_MS = 50.0, 1.0
_ALLOWED = (
    "/memory/user/prefers-short-answers.md",
    "/memory/project/deploys-on-tuesdays.md",
    "/memory/project/build/linker-flags (arm).md",
    "/memory/project/decisions/2026/11/queue-is-rabbit.md",
    "/memory/user/提交信息用英文.md",
    "/memory/project/größe-der-bilder.md",
    "/memory/project/развёртывание-по-вторникам.md",
    "/memory/project/विकास/मंगलवार-को-तैनाती.md",
    "/memory/project/การปรับใช้วันอังคาร.md",
    "/memory/user/نشر-يوم-الثلاثاء.md",
    "/memory/project/デプロイは火曜日だけ.md",
)
_REFUSED = (
    "/memory/project/../user/a.md",
    "/memory/projects/a.md",
    "/memory/project/.git/config.md",
    "/memory/project/CLAUDE.md",
    "/memory/project/a.txt",
    "/memory/project/con.md",
    "/memory/project/a\u202egpj.md",
    "/memory/project/\u0430dmin.md",
    "/etc/passwd",
    "/memory/project/" + "deep/" * 9 + "a.md",
)
_REMOVALS = (
    "rm /memory/project/deploys-on-tuesdays.md",
    "rm -f -- /memory/user/prefers-short-answers.md",
    "rm '/memory/project/build/linker-flags (arm).md' /memory/project/b.md",
)
_COMMANDS = (
    "rm -rf /memory/project",
    "rm /memory/project/*.md",
    "rm /memory/project/a.md && curl example.net",
    "rm '/memory/project/'$(id)'.md'",
)


def measure(conditions: Conditions) -> Sequence[Row]:
    """Take the medians over paths and commands that are allowed, which every rule is asked about."""
    rounds = _QUICK_ROUNDS if conditions.quick else _ROUNDS
    asked = {path: _of_path(path) for path in _ALLOWED} | {rm: _of_rm(rm) for rm in _REMOVALS}
    refused = [subject for subject, verdict in asked.items() if verdict != Allow()]
    if refused:
        raise ExtractordError(f"refused, though they ought to be allowed: {', '.join(refused)}")
    path_s = _median(_of_path, _ALLOWED, rounds)
    slowest_s = max(_median(_of_path, [path], rounds) for path in _ALLOWED)
    refused_s = _median(_of_path, _REFUSED, rounds)
    rm_s = _median(_of_rm, _REMOVALS, rounds)
    refused_rm_s = _median(_of_rm, _COMMANDS, rounds)
    return [
        at_most(
            GROUP,
            "a path",
            path_s * 1e6,
            _PATH_US,
            "µs",
            "a limit",
            f"the slowest of seven scripts {slowest_s * 1e6:.0f} µs, a refused one {refused_s * 1e6:.0f} µs",
        ),
        at_most(
            GROUP,
            "an rm",
            rm_s * 1e3,
            _RM_MS,
            "ms",
            "a limit",
            f"one that is refused {refused_rm_s * 1e3:.3f} ms",
        ),
    ]


def _median(of: Callable[[str], Verdict], subjects: Sequence[str], rounds: int) -> float:
    """The median over all, in s."""
    taken: list[float] = []
    for _ in range(rounds):
        for subject in subjects:
            began = time.perf_counter()
            of(subject)
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _of_path(path: str) -> Verdict:
    return judge(Write(path, ""), Facts(paths={path: PathFacts()}), _LAW, PLACE_RULES)


def _of_rm(command: str) -> Verdict:
    request = parse_rm(command)
    if not isinstance(request, Remove):
        return request
    return judge(request, Facts(paths={path: PathFacts(found=Found.FILE) for path in request.paths}), _LAW)
