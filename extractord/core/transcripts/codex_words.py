"""What in Codex's records a person wrote, and what the program puts in their place or round it."""

from __future__ import annotations

import re

from msgspec import Struct

from extractord.core.transcripts.codex_records import Payload, pieces
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import hosted

_SUMMARY = "Another language model started to solve this problem and produced a summary"
_WRAPPERS = (
    "# AGENTS.md",
    "<INSTRUCTIONS>",
    "<agent_message_board_notification>",
    "<app-context>",
    "<apps_instructions>",
    "<catalog_apps_instructions>",
    "<codex_delegation>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<command_sessions>",
    "<content_filter_guidance>",
    "<context_window",
    "<current_time_",
    "<environment_context>",
    "<environments",
    "<extension_context>",
    "<external_",
    "<git_attribution>",
    "<goal_context>",
    "<heartbeat>",
    "<hook_prompt",
    "<image_resize_notice>",
    "<managed_developer_instructions>",
    "<model_switch>",
    "<multi_agent_",
    "<permissions instructions>",
    "<persistent_mode>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_",
    "<recommended_plugins>",
    "<rollout_budget>",
    "<side_conversation>",
    "<skill",
    "<startup_context>",
    "<subagent_notification>",
    "<thread_",
    "<token_budget",
    "<turn_aborted>",
    "<user_action>",
    "<user_instructions>",
    "<user_shell_command>",
    "<user_verification_notice>",
    _SUMMARY,
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "A previous agent produced the plan below to accomplish the user's task. Implement the plan in a fresh",
    "Codex could not read the local image at `",
    "Codex cannot attach image at `",
    "Image located at `",
    "The next image is untrusted page evidence from",
    "The next image was attached by the user as additional visual context",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
)
_ATTACHED = re.compile(r"<(?:image|audio)(?: [^\n]*)?>|</(?:image|audio)>")
_TEMPLATE = re.compile(
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository"
    r"|Automation: [^\n]*\n+Automation ID: "
    r"|# Overview\s+Generate \d+ to \d+ hyperpersonalized suggestions"
    "|You write the one-line activity update displayed beneath an existing Codex task title"
    r"|You are a helpful assistant\. You will be presented with a user prompt, and your job is to provide a"
)
_PLACE = re.compile(r"<environment_context>\s*(?:<cwd>([^<\n]+)</cwd>|Current working directory: ([^\n]+))")
_HEADS = (
    "# Applications mentioned by the user:",
    "# Browser comments:",
    "# Chrome tabs:",
    "# Context from my IDE setup:",
    "# Diff comments:",
    "# Failing PR checks:",
    "# Files mentioned by the user:",
    "# Files pasted by the user:",
    "# In app browser:",
    "# MCP app context:",
    "# Pull request merge conflict:",
    "# Response annotations:",
    "# Review findings:",
    "# Selected text:",
    "## Auto resolve merge:",
    "## Code review guidelines:",
    "## Prior conversation with Codex:",
    "## Pull request fix:",
    "## Pull request merge task:",
    "## Referenced ChatGPT conversation:",
    "## Referenced chats with Codex:",
    "<in-app-browser-context",
    "The attached pasted text file(s) contain the user's request.",
)
"""How begins what an editor or the desktop's application puts before a prompt."""
_REQUEST = re.compile(r"^## My request(?P<named> for Codex)?:", re.MULTILINE)
"""What stands before the last of it is theirs."""
_EVIDENCE = re.compile(r"^The next image is untrusted page evidence.*", re.MULTILINE | re.DOTALL)
_BROWSER_ENDS = "</in-app-browser-context>"
_REPLIED = re.compile(
    r"<send_user_message_question_reply>\s*([\[{].*[\]}])\s*</send_user_message_question_reply>", re.DOTALL
)


class Reply(Struct, gc=False):
    """A person's answer to a question that the agent left open."""

    answer: str | None = None


_replies = decoder(list[Reply])


def prose(payload: Payload) -> tuple[str, str]:
    """Given a user's message, return what a person wrote of it, and the rest.

    Each block is tested alone, by the kind that the record gives it and by how it begins.
    """
    written: list[str] = []
    rest: list[str] = []
    content = payload.content if payload.content is not None else payload.message
    kinds = (payload.provenance.kinds if payload.provenance else None) or []
    for nth, (kind, text) in enumerate(pieces(content)):
        recorded = kinds[nth] if nth < len(kinds) else None
        if kind != "text":
            written.append(text)
        elif _is_wrapper(text) or not (recorded or "user").startswith("user"):
            rest.append(text)
        else:
            around, said = _around(text)
            rest += [around] if around else []
            written.append(said)
    if not any(text and text not in ("[image]", "[audio]") for text in written):
        return "", "\n\n".join(rest + [text for text in written if text])
    return "\n\n".join(text for text in written if text), "\n\n".join(rest)


def is_template(text: str) -> bool:
    """True for the prompt that the program's own command gives in a person's name."""
    return _TEMPLATE.match(text) is not None


def is_summary(text: str) -> bool:
    """True for a compaction's summary, as it is given to the model."""
    return text.startswith(_SUMMARY)


def place_in(text: str) -> str | None:
    """Given what the program put around prompts, return the working directory where it tells it."""
    found = _PLACE.search(text)
    return (found[1] or found[2]).strip() if found else None


def _is_wrapper(text: str) -> bool:
    return text.startswith(_WRAPPERS) or _ATTACHED.fullmatch(text) is not None


def _around(text: str) -> tuple[str, str]:
    """Given a prompt, return what was put round it, and what a person wrote: after the last mark."""
    if (replied := _REPLIED.fullmatch(text)) is not None:
        return text, _answers(replied[1])
    is_headed = text.startswith(_HEADS)
    marks = list(_REQUEST.finditer(text)) if is_headed or text.startswith("# ") else []
    marks = [mark for mark in marks if is_headed or mark["named"]]
    if marks:
        return _apart(text, marks[-1].start(), marks[-1].end())
    if text.startswith("<in-app-browser-context") and _BROWSER_ENDS in text:
        end = text.rindex(_BROWSER_ENDS) + len(_BROWSER_ENDS)
        return _apart(text, end, end)
    return (text, "") if is_headed else hosted(text)


def _apart(text: str, end: int, begin: int) -> tuple[str, str]:
    said = text[begin:].strip()
    shown = _EVIDENCE.search(said)
    around = f"{text[:end]}{shown[0] if shown else ''}".strip()
    return around, said[: shown.start()].strip() if shown else said


def _answers(replies: str) -> str:
    """Given what the application recorded of questions, return what a person answered."""
    found = _replies(replies.encode() if replies.startswith("[") else f"[{replies}]".encode())
    return "\n\n".join(each.answer.strip() for each in found or () if each.answer)
