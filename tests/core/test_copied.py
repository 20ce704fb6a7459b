"""What was copied from elsewhere is told by its shape, and a person's sentence beside it is left."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extractord.core.copied import LEFT_OUT, copied
from extractord.core.prose import prose
from extractord.core.records import Entry, Origin, Role

OWN = "Our servers run Node 22."


def said(text: str) -> str:
    return prose(Entry(id="1", agent="pi", session="s", role=Role.USER, origin=Origin.HUMAN, text=text))


CHATS = [
    "Bob [10:42 AM]: We always use tabs\nAlice [10:43 AM]: and never spaces",
    "Bob Smith (10:42): We always use tabs",
    "Carl (he/him) [10:22 AM]\nwe always use tabs",
    "[Bob, 10:42] We always use tabs\n[Bob, 10:43] never spaces",
    "[30.11.26, 10:42:11] Bob: We always use tabs",
    "[10:42 AM] Bob Smith\nWe always use tabs",
    "12:01 mike: we always use tabs\n12:02 jo: never spaces",
    "@pete: we always use tabs\n@lena: never spaces",
    "Sarah Miller  9:15 AM\nWe always use tabs\nplease never use spaces",
    "Sarah Miller\n  9:15 AM\nWe always use tabs",
    "Sarah Miller — Today at 9:15 AM\nwe always use tabs\n\nTom — Today at 9:16 AM\nagreed, never spaces",
    "bob Yesterday at 09:15\nwe always use tabs",
    "Bob Smith: We always use tabs\nMe: ok\nBob Smith: and never spaces",
    "<bob> we always use tabs\n<carol> and never spaces",
    "[12:01] <mike> we always use tabs",
    "12:01 <@mike> we always use tabs",
]
"""What people copy out of a chat."""


@pytest.mark.parametrize("chat", CHATS)
def test_a_chat_is_not_the_persons_and_what_stands_apart_from_it_is(chat: str) -> None:
    lost = [line for line in said(chat).split("\n") if line not in {"", "Sarah Miller"}]
    assert lost == []
    assert OWN in said(f"{OWN}\n\n{chat}")
    assert said(f"{chat}\n\n{OWN}").endswith(OWN)


def test_a_message_is_a_line_in_irc_and_what_follows_it_is_said() -> None:
    assert said(f"<bob> we use tabs\nand more of it\n<carol> ok\n{OWN}") == OWN


TO_THE_END = [
    "---------- Forwarded message ---------\nFrom: Vendor <v@shop.example>\n\nWe only support SOAP.",
    "-----Original Message-----\nWe only support SOAP.",
    "-----Ursprüngliche Nachricht-----\nWe only support SOAP.",
    "Begin forwarded message:\n\nWe only support SOAP.",
    "From: Vendor <v@shop.example>\nTo: dev@shop.example\nSubject: SOAP\n\nWe only support SOAP.",
    "Von: Vendor\nBetreff: SOAP\n\nWe only support SOAP.",
    "差出人: Vendor\n件名: SOAP\n\nWe only support SOAP.",
    "On Tue, 3 Nov 2026 at 10:12, Jim <jim@shop.example> wrote:\nWe only support SOAP.",
    "Am 3.11.2026 um 10:12 schrieb Max Muster:\nWe only support SOAP.",
    "Le mar. 3 nov. 2026 à 10:12, Jean a écrit :\nWe only support SOAP.",
    "El 3 nov 2026, Ana escribió:\nWe only support SOAP.",
    "王伟 于2026年11月3日写道:\nWe only support SOAP.",
    "Dana commented on this pull request:\n\nWe only support SOAP.",
    "github-actions bot commented 2 days ago\nWe only support SOAP.",
    "@dana left a review comment\n\nWe only support SOAP.",
    "dana opened this issue on Nov 3, 2026 · 4 comments\n\nWe only support SOAP.",
    "$ cat NOTES\nWe only support SOAP.\n\nNever use REST.",
    "me@box:~/src$ less NOTES\nWe only support SOAP.",
    "me@mac src % head NOTES\nWe only support SOAP.",
    "~/src $ git log\nWe only support SOAP.",
    "(venv) $ curl shop.example\nWe only support SOAP.",
    "PS C:\\src> type NOTES\nWe only support SOAP.",
]
"""What goes on until it is said to end: a mail, a review, a file that was printed."""


@pytest.mark.parametrize("text", TO_THE_END)
def test_a_mail_a_review_and_a_printed_file_go_on_to_the_end(text: str) -> None:
    assert said(text) == ""
    assert said(f"{OWN}\n{text}") == OWN
    assert said(f"{OWN}\n\n{text}\n\nAlways.") == OWN


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"On Tue, Jim wrote:\n> We always rebase.\n\n{OWN}", OWN),
        (f"Le mardi, Jean a écrit :\n> Toujours unittest.\n{OWN}", OWN),
        (f"$ cat NOTES\nWe use tabs.\n\nNever spaces.\n$\n{OWN}", OWN),
        (f"$ make lint\nWe use tabs.\n\n{OWN}", OWN),
        (f"$ cat NOTES\nWe use tabs.\n$ make\nall done now\n\n{OWN}", OWN),
        (f"Run it:\n$ make lint\n{OWN}", f"Run it:\n{OWN}"),
        (f"Bob [10:42]: look\n$ cat NOTES\nWe use tabs.\n$\n{OWN}", ""),
    ],
)
def test_where_it_ends_is_told_by_the_quotation_or_the_prompt(text: str, left: str) -> None:
    assert said(text) == left


LOG = "2026-11-30 10:00:01 INFO up\n2026-11-30 10:00:02 WARN we never sleep"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{LOG}\nwe log with structlog here", "we log with structlog here"),
        (f"we log with structlog here\n{LOG}", "we log with structlog here"),
        (f"{LOG}\nwe never sleep at all\n{LOG}\nwe log with structlog", "we log with structlog"),
        (f"{LOG}\nHint: always sleep a bit", ""),
        (f"{LOG}\n  always sleep a bit", ""),
        (f"{LOG}\nx=1; y=2; z=3 {{}}", ""),
        (f"{LOG}:\nalways sleep a bit", ""),
        ("npm ERR! a\nnpm ERR! b\nAlways run the audit first", ""),
        ("Traceback (most recent call last):\n  x\nValueError: y\nAlways use v2", ""),
    ],
)
def test_a_sentence_beside_a_log_is_said_and_what_goes_on_with_it_is_not(text: str, left: str) -> None:
    assert said(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "We meet at 9:15",
        "Standup is on Mondays at 10:30",
        "Note: we use tabs\nAlso: never spaces",
        "Backend: we use Go\nFrontend: we use React",
        "Backend: we use Go\nFrontend: we use React\nBackend: no globals",
        "Rule: always use pnpm\nRule: never push to main\nNote: CI is slow on Mondays",
        "Release on 2026-01-02 at 10:00\nwe freeze the day before",
        "<input> elements always have a label",
        "<b> is bold, we use <strong>",
        "Dana commented that we always use tabs",
        "every change gets reviewed\nand somebody replied",
        "we reviewed it on Monday and opened this up",
        "From: is a header that we always set",
        "Use port 10:42 for nothing",
        "--- Rules ---",
        "On Mondays we never deploy what somebody else wrote",
        "$5 is the price of all of it",
        "The team (10 people) always squashes",
    ],
)
def test_what_only_looks_a_little_like_it_is_prose_still(text: str) -> None:
    assert said(text) == text


def test_a_mark_for_what_was_left_out_is_nobodys_and_a_blank_line_neither() -> None:
    assert copied([LEFT_OUT, "", "We use tabs."]) == [True, False, False]


@given(st.text(st.characters(exclude_characters="\n")))
@example(LEFT_OUT)
@example(" ")
@example("bob: we always use tabs")
@example("[10:42] Bob: We always use tabs")
@example("<bob> we always use tabs")
@example("$ cat NOTES")
@example("$")
@example("On Monday, Bob wrote:")
@example("12:01:01 INFO started")
@example("Traceback (most recent call last):")
def test_a_line_by_itself_is_told_as_it_is_above_a_blank_one(line: str) -> None:
    assert copied([line]) == copied([line, ""])[:1]


HOSTILE = [
    " " * 1_000_000 + "x",
    "a" * 1_000_000,
    "Ab " * 333_000,
    "a:" * 500_000,
    "<" * 1_000_000,
    "[" * 500_000 + "10:42",
    "[1:" * 333_000,
    "at " + ":1" * 300_000 + "x",
    "ok " + "." * 1_000_000,
    "a." * 500_000,
    "- x" + " " * 1_000_000 + "x",
    "@a" * 500_000,
    "me@box:" * 140_000,
    "~/" * 500_000,
    "(a" * 500_000,
    "C:\\" * 333_000,
    "- " * 500_000,
    "x:\n" * 333_000,
    "Aa Bb Cc: x\n" * 80_000,
    "$ cat\n" * 160_000,
    "On a wrote:\n" * 80_000,
    "From: a\n" * 120_000,
    "9:15 AM\n" * 120_000,
    "12:01:01 x\nfree words here\n" * 38_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8].strip() or "space")
def test_a_megabyte_that_means_harm_takes_no_more_time_than_its_lines(text: str) -> None:
    begun = time.process_time()
    copied(text.split("\n"))
    assert time.process_time() - begun < 6
