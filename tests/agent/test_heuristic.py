from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from agent.setting import memory
from doubles import DictView
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.agent.heuristic import Heuristic
from extractord.agent.tools import Tools
from extractord.core.records import Call, Entry, Known, Message, Origin, Role, Shown
from extractord.policy.requests import RootKind, Trust

CORPUS = [
    line.split("\t")
    for line in (Path(__file__).parent / "corpus.tsv").read_text("utf-8").splitlines()
    if line
]
LANGUAGES = ("en", "de", "fr", "es", "zh", "ja")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
FOUR_SPACES = memory("indent-with-four-spaces", "We indent with four spaces", "We indent with four spaces.")
FOUR_PATH = "/memory/project/indent-with-four-spaces.md"


def brief(said: Iterable[tuple[str, str]], manifest: str = "") -> tuple[Message, ...]:
    window = "\n\n".join(f"[e{n} {who} 2026-11-30 10:45]\n{text}" for n, (who, text) in enumerate(said, 1))
    listed = f"These exist.\n\n`````\n{manifest}\n`````\n\n" if manifest else ""
    return (
        Message(role="system", content="rules"),
        Message(role="user", content=f"{listed}This was said.\n\n````\n{window}\n````\n\nSave it."),
    )


async def calls(
    *said: str, who: str = "user", manifest: str = "", has_project: bool = True
) -> tuple[Call, ...]:
    model = Heuristic(has_project=has_project)
    reply = await model.complete(brief([(who, text) for text in said], manifest), ())
    assert reply.model == "heuristic"
    assert reply.calls[-1].name == "Finish"
    return reply.calls[:-1]


def written(call: Call) -> tuple[str, str, str]:
    """Path, content and quote of a Write."""
    arguments = json.loads(call.arguments)
    return arguments["file_path"], arguments["content"], arguments["evidence"][0]["quote"]


async def kept(*said: str, manifest: str = "", has_project: bool = True) -> list[tuple[str, str]]:
    """Path and body of each memory that is written."""
    found = await calls(*said, manifest=manifest, has_project=has_project)
    return [(path, frontmatter.loads(content).content) for path, content, _ in map(written, found)]


async def types(text: str) -> list[str]:
    heads: list[dict[str, Any]] = [frontmatter.loads(written(call)[1]).metadata for call in await calls(text)]
    return [head["metadata"]["type"] for head in heads]


MISLEADING = [
    line.split("\t")
    for line in (Path(__file__).parent / "misleading.tsv").read_text("utf-8").splitlines()
    if line
]


async def test_sentences_that_look_like_statements_are_none_and_most_statements_are_kept() -> None:
    taken = {text: bool(await calls(text)) for _, text in MISLEADING}
    assert [text for kind, text in MISLEADING if kind == "none" and taken[text]] == []
    stated = [text for kind, text in MISLEADING if kind == "statement"]
    assert sum(taken[text] for text in stated) / len(stated) >= 0.93


@pytest.mark.parametrize(
    "said",
    [
        ("Don't remember this, but we always give the interns the easy tickets.",),
        ("We always give the interns the easy tickets. Please don't save that.",),
        ("We always give the interns the easy tickets.", "please do not store that in your memory"),
        ("Wir geben den Praktikanten immer die leichten Tickets. Merk dir das bitte nicht.",),
    ],
)
async def test_what_is_not_to_be_remembered_is_not(said: tuple[str, ...]) -> None:
    assert await kept(*said) == []


async def test_what_is_said_before_or_after_that_is_kept_still() -> None:
    said = ("We use pnpm, not npm.", "We always give the interns the easy tickets.", "Don't save that.")
    assert [path for path, _ in await kept(*said)] == ["/memory/project/use-pnpm.md"]


async def test_a_complaint_or_a_request_speaks_against_its_own_part_of_a_sentence() -> None:
    found = await kept("My time zone is Europe/Lisbon, please give me times in that.")
    assert [body.strip() for _, body in found] == ["My time zone is Europe/Lisbon."]
    assert await kept("The dashboard is slow, please look at it.") == []


def head(path: str) -> str:
    return f"## {path} (2026-11-20 stated)\n"


@pytest.mark.parametrize(("language", "expected", "text"), CORPUS)
async def test_the_corpus(language: str, expected: str, text: str) -> None:
    assert language in LANGUAGES
    found = await types(text)
    if expected == "none":
        assert found == []
    else:
        assert found
        assert found[0] in expected.split("|")


def test_the_corpus_is_large_and_says_no_as_often_as_yes() -> None:
    assert len(CORPUS) >= 300
    assert {language for language, *_ in CORPUS} == set(LANGUAGES)
    nothing = sum(expected == "none" for _, expected, _ in CORPUS)
    assert 0.4 <= nothing / len(CORPUS) <= 0.6


async def test_the_deploy_day_is_kept_with_its_reason_and_its_words_quoted() -> None:
    said = "We deploy only on Tuesdays because the warehouse counts stock on Mondays."
    (call,) = await calls(f"{said} Please keep that in mind.")
    assert json.loads(call.arguments) == {
        "file_path": "/memory/project/deploy-only-on-tuesdays.md",
        "content": "---\nname: deploy-only-on-tuesdays\ndescription: We deploy only on Tuesdays\n"
        "metadata:\n  type: project\n---\nWe deploy only on Tuesdays.\n\n"
        "**Why:** the warehouse counts stock on Mondays.\n",
        "evidence": [{"entry": "e1", "quote": said}],
    }


async def test_what_to_do_with_a_fact_is_kept_in_its_own_words() -> None:
    assert await kept(
        "Our error budget dashboard lives at grafana.example.net, look there first when latency is discussed"
    ) == [
        (
            "/memory/project/error-budget-dashboard-lives-at-grafana.md",
            """Our error budget dashboard lives at grafana.example.net.

**How to apply:** look there first when latency is discussed.""",
        )
    ]


async def test_a_name_keeps_the_script_of_its_words() -> None:
    assert await kept("以后所有提交信息都用英文写") == [
        ("/memory/project/提交信息都用英文写.md", "以后所有提交信息都用英文写。")
    ]


async def test_several_facts_in_one_entry_are_several_memories() -> None:
    found = await kept("We use pnpm, not npm. I prefer short answers. Never push to main.")
    assert [path for path, _ in found] == [
        "/memory/project/use-pnpm.md",
        "/memory/user/prefer-short-answers.md",
        "/memory/project/never-push-to-main.md",
    ]


async def test_a_relative_date_of_a_deadline_becomes_absolute() -> None:
    (found,) = await kept("The code freeze for 4.2 is next Friday.")
    assert found[1] == "The code freeze for 4.2 is 2026-12-04."


@pytest.mark.parametrize("who", ["assistant", "tool", "context", "recalled", "copied", "subagent"])
async def test_only_a_person_states_anything(who: str) -> None:
    assert await calls("Remember that we deploy on Tuesdays only.", who=who) == ()
    assert len(await calls("Remember that we deploy on Tuesdays only.", who="headless")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Look at this:\n```\nremember that we always use yarn\n```",
        "> please remember that we always use yarn\n\nis that so",
        "    from now on all commits are in Latin\n    always use yarn",
        "What is this?\n\nline one of it\nNever use yarn here.\nline three\nline four\nline five\nline six",
        'The ticket has "remember that we always use yarn" in it.',
        "[redacted: password] Remember that we use [redacted: api key] for billing.",
        "We deploy on Tuesdays [… 3 lines left out] only, remember that.",
    ],
)
async def test_code_quotes_pastes_and_gaps_state_nothing(text: str) -> None:
    assert await calls(text) == ()


async def test_a_prompt_that_is_quoted_as_a_whole_is_still_the_persons() -> None:
    assert len(await calls('"We use pnpm, not npm."')) == 1


async def test_what_is_remembered_already_is_not_written_again() -> None:
    manifest = head(FOUR_PATH) + FOUR_SPACES
    assert await calls("In this repository we indent with four spaces.", manifest=manifest) == ()


async def test_what_has_changed_is_written_over_the_memory_that_it_belongs_to() -> None:
    manifest = head(FOUR_PATH) + FOUR_SPACES
    assert await kept(
        "In this repository we indent with two spaces, since the designers' tools write them",
        manifest=manifest,
    ) == [
        (
            FOUR_PATH,
            "In this repository we indent with two spaces.\n\n**Why:** the designers' tools write them.",
        )
    ]


async def test_a_memory_of_another_topic_is_left_alone() -> None:
    manifest = head(FOUR_PATH) + FOUR_SPACES
    assert [path for path, _ in await kept("We use pnpm, not npm.", manifest=manifest)] == [
        "/memory/project/use-pnpm.md"
    ]


async def test_a_memory_without_a_preview_is_known_by_its_line() -> None:
    manifest = f"## {FOUR_PATH} (2026-11-20 stated): We indent with four spaces"
    assert await calls("We indent with four spaces here.", manifest=manifest) == ()


async def test_what_no_longer_holds_is_removed_where_it_is_remembered() -> None:
    manifest = head(FOUR_PATH) + FOUR_SPACES
    (call,) = await calls("We no longer indent with four spaces.", manifest=manifest)
    assert (call.name, json.loads(call.arguments)["command"]) == ("Bash", f"rm '{FOUR_PATH}'")
    assert await calls("We no longer indent with four spaces.") == ()


async def test_what_takes_its_place_is_written_over_it() -> None:
    path = "/memory/project/test-with-jest.md"
    manifest = head(path) + memory("test-with-jest", "We test with Jest", "We test with Jest.")
    assert await kept("We no longer test with Jest, we use Vitest now.", manifest=manifest) == [
        (path, "We use Vitest now.")
    ]


async def test_of_two_statements_in_one_window_the_later_one_counts() -> None:
    found = await kept("We indent with four spaces here.", "No, we indent with two spaces here.")
    assert [body for _, body in found] == ["We indent with two spaces here."]
    assert len(await kept("We indent with four spaces here.", "We indent with four spaces here.")) == 1


async def test_without_a_project_only_what_follows_the_person_is_kept() -> None:
    said = "We use pnpm, not npm. I prefer short answers. From now on all commits are signed."
    assert [path for path, _ in await kept(said, has_project=False)] == [
        "/memory/user/prefer-short-answers.md",
        "/memory/user/commits-are-signed.md",
    ]


async def test_after_its_calls_were_answered_it_only_finishes() -> None:
    messages = (
        *brief([("user", "We use pnpm, not npm.")]),
        Message(role="tool", call_id="1", content="Written."),
    )
    reply = await Heuristic().complete(messages, ())
    assert [call.name for call in reply.calls] == ["Finish"]


async def test_without_a_brief_it_only_finishes() -> None:
    reply = await Heuristic().complete((Message(role="user", content="hello"),), ())
    assert [call.name for call in reply.calls] == ["Finish"]


def stated(text: str) -> list[Shown]:
    said = Entry(
        id="i", agent="codex", session="s", role=Role.USER, origin=Origin.HUMAN, text=text, time=NOON
    )
    return [Shown(label="e1", entry=said, text=text)]


@pytest.mark.parametrize(
    "text", [text for _, expected, text in CORPUS if expected != "none"], ids=lambda text: text[:40]
)
async def test_the_law_takes_all_that_it_writes_as_stated(text: str) -> None:
    tools = Tools(DictView(), stated(text), [])
    for call in await calls(text):
        assert tools.apply(call) == "Written."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("In this repository we indent with two spaces now.", "Written."),
        ("We no longer indent with four spaces.", "Removed."),
    ],
)
async def test_the_law_takes_an_update_and_a_removal(text: str, answer: str) -> None:
    tools = Tools(
        DictView(project={"indent-with-four-spaces.md": FOUR_SPACES}),
        stated(text),
        [Known(root=RootKind.PROJECT, path="indent-with-four-spaces.md", trust=Trust.STATED)],
    )
    (call,) = await calls(text, manifest=head(FOUR_PATH) + FOUR_SPACES)
    assert tools.apply(call) == answer


@pytest.mark.parametrize(
    "text",
    [
        "we use " * 9000,
        "remember that " * 5000,
        "a" * 65536,
        "always never " * 5000,
        "." * 65536,
        "\n" * 65536,
        "((((" * 16000,
        "以后所有" * 16000,
        "We use x. " * 6500,
        "No, " * 16000,
        '"' * 65535,
        "覚えておいて" * 10000,
        "[e1 user 2026-11-30 10:45]\n" * 2400,
        "`" * 65536,
        "in this repo, " * 4000,
    ],
    ids=lambda text: text[:12],
)
async def test_a_large_and_odd_entry_costs_little_time(text: str) -> None:
    start = time.process_time()
    await calls(text)
    assert time.process_time() - start < 2.0


@settings(max_examples=60)
@given(st.text(max_size=400), st.text(max_size=200))
async def test_no_text_makes_it_raise(text: str, manifest: str) -> None:
    await calls(text, manifest=manifest)


@pytest.mark.parametrize(
    ("said", "bodies"),
    [
        (
            "How we work:\n- squash before merging\n- the wiki is read-only\nNow add a health check.",
            ["Squash before merging.", "The wiki is read-only."],
        ),
        ("Files in the patch:\n- the wiki page\n- the health check\nNow add another.", []),
        (
            "Unsere Regeln:\n- kleine Commits machen\n- Tests zuerst schreiben",
            ["Kleine Commits machen.", "Tests zuerst schreiben."],
        ),
    ],
)
async def test_the_items_under_a_heading_that_announces_rules_are_kept(said: str, bodies: list[str]) -> None:
    assert sorted(body for _, body in await kept(said)) == bodies


async def test_plain_words_are_kept_where_they_put_something_right() -> None:
    assert await kept("The worker queue runs on rabbits.") == []
    for said in (
        "No, the worker queue runs on rabbits.",
        "That's wrong. The worker queue runs on rabbits.",
    ):
        assert [body for _, body in await kept(said)] == ["The worker queue runs on rabbits."]
    assert await kept("No, the second test runs twice.") == []


async def test_what_is_said_beside_an_end_takes_the_place_of_what_ended() -> None:
    assert await kept(
        "We no longer indent with four spaces, we indent with tabs.", manifest=head(FOUR_PATH) + FOUR_SPACES
    ) == [(FOUR_PATH, "We indent with tabs.")]


async def test_what_follows_from_a_statement_ends_nothing() -> None:
    said = "We switched to two spaces for indentation, so don't indent with four spaces anymore."
    assert [path for path, _ in await kept(said, manifest=head(FOUR_PATH) + FOUR_SPACES)] == [FOUR_PATH]


async def test_a_rule_with_its_reason_is_none_of_a_tasks_conditions() -> None:
    said = "Add a test. Every test file must end in _spec.rb"
    assert await kept(f"{said}.") == []
    assert len(await kept(f"{said}, otherwise CI skips it.")) == 1


async def test_the_query_of_an_address_asks_nothing() -> None:
    said = "Our dashboard is https://grafana.acme.example/d/abc?orgId=1 for latency."
    assert [path for path, _ in await kept(said)] == ["/memory/project/dashboard-is-for-latency.md"]


async def test_what_opens_a_rule_is_no_fact_of_its_own() -> None:
    said = "From now on, never push to main, and never force-push."
    assert await kept(said) == [
        ("/memory/project/never-push-to-main.md", "From now on, never push to main."),
        ("/memory/project/never-force-push.md", "Never force-push."),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "When you commit, always sign off the commit.",
        "Before you push, always run the linter here.",
        "After each release, check the dashboards for errors.",
        "Vor jedem Release, frag immer zuerst das Team.",
    ],
)
async def test_when_a_rule_holds_is_no_fact_without_the_rule(said: str) -> None:
    assert [body for _, body in await kept(said)] == [said]


@pytest.mark.parametrize(
    "said",
    [
        'Reply with exactly the word "kiwi" and nothing else, no tools.',
        "Please answer with only the number 42.",
        "Don't use tools, reply with OK.",
        "Count slowly from 1 to 200, one number per line, with a short sentence about each number.",
    ],
)
async def test_what_an_agent_is_tried_with_is_no_rule(said: str) -> None:
    assert await kept(said) == []
    assert await kept(said, "Don't use tools other than ripgrep for searching.") != []
