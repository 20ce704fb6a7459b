"""What a tool call comes to: understood, judged, laid into the change-set, answered in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from extractord.agent.catalogue import (
    TYPES,
    BashCall,
    EditCall,
    FinishCall,
    GlobCall,
    GrepCall,
    ReadCall,
    ToolCall,
    WriteCall,
    decode,
    schema,
)
from extractord.agent.globbing import objection
from extractord.agent.ground import LAW, Ground
from extractord.agent.kindred import Kindred
from extractord.agent.looking import folders, listing, search, show
from extractord.core.changeset import BYTES_A_RUN, FILES_A_RUN
from extractord.core.memory import unstamp
from extractord.core.ports import View
from extractord.core.records import Call, Conversation, Ending, Evidence, Known, Refusal, Shown
from extractord.errors import StoreError
from extractord.policy import parse_rm
from extractord.policy.requests import VIRTUAL_ROOTS, Edit, Found, Read, Remove, RootKind, Write
from extractord.policy.verdict import Allow, Deny, Hold

REFUSALS = 200
"""So many refusals of a run are kept; all are counted."""
PATH_CHARACTERS = 300
"""So much of a refused path is kept."""


class Tools:
    """The tools of one run over a view of its two roots; nothing here touches a disk.

    Given the view, what the brief showed, and what the ledger knows of the memories that are
    there (a file that it does not know is foreign). A refusal is an answer: nothing that the
    model asks for raises. `say` hears of each refusal as it happens.
    """

    def __init__(
        self,
        view: View,
        shown: Iterable[Shown],
        known: Iterable[Known],
        *,
        has_project: bool = True,
        say: Callable[[Refusal], None] = lambda _refusal: None,
    ) -> None:
        self._ground = Ground(view, tuple(shown), known, has_project=has_project)
        self._kindred = Kindred(self._ground.changes)
        self._say = say
        self._refusals: list[Refusal] = []
        self._denied = 0
        self._bytes = 0
        self._explained: set[str] = set()
        self.asked_to_change = False
        """A Write, Edit or Bash call came, whatever became of it."""

    def apply(self, call: Call) -> str:
        """Given a call, do what the law allows of it and return the answer."""
        if call.name not in TYPES:
            return self.refuse(
                call, "unknown-tool", f"There is no such tool. The tools are {', '.join(TYPES)}."
            )
        self.asked_to_change |= call.name in {"Write", "Edit", "Bash"}
        arguments = decode(call.name, call.arguments)
        if isinstance(arguments, str):
            return self._malformed(call, arguments)
        try:
            return self._answer(call, arguments)
        except StoreError as error:
            return self.refuse(call, "unreadable", f"{error}. Leave that memory as it is.")

    def refuse(self, call: Call, rule: str, reason: str, path: str = "") -> str:
        """Count and keep a refusal; return it as an answer."""
        refusal = Refusal(
            tool=call.name[:PATH_CHARACTERS],
            path=path[:PATH_CHARACTERS],
            verdict="deny",
            rule=rule,
            reason=reason,
        )
        self._denied += 1
        if len(self._refusals) < REFUSALS:
            self._refusals.append(refusal)
        self._say(refusal)
        return f"Refused ({rule}): {reason}"

    def conversation(self, ending: Ending, turns: int) -> Conversation:
        """Given how the conversation ended, return all that it comes to."""
        return Conversation(
            ending=ending,
            changes=self._ground.changes.changes(),
            refusals=tuple(self._refusals),
            denied=self._denied,
            turns=turns,
        )

    def _malformed(self, call: Call, fault: str) -> str:
        """The schema is told once for each tool."""
        told = f" Its arguments are {schema(call.name)}" if call.name not in self._explained else ""
        self._explained.add(call.name)
        return self.refuse(call, "malformed", f"{fault}.{told}")

    def _answer(self, call: Call, arguments: ToolCall) -> str:
        match arguments:
            case ReadCall():
                answer = self._read(call, arguments)
            case GrepCall():
                answer = self._grep(call, arguments)
            case GlobCall():
                answer = self._glob(call, arguments)
            case WriteCall():
                answer = self._write(call, arguments)
            case EditCall(file_path=path, old_string=old, new_string=new, evidence=evidence):
                answer = self._change(call, Edit(path, old, new), evidence)
            case BashCall():
                answer = self._bash(call, arguments)
            case FinishCall():
                answer = "The run ends."
            case _:
                assert_never(arguments)
        return answer

    def _glob(self, call: Call, arguments: GlobCall) -> str:
        fault = objection(arguments.pattern)
        if fault:
            return self.refuse(call, "pattern", fault)
        paths = [path for path, _ in self._memories()]
        return listing(arguments.pattern, [*paths, *folders(paths)])

    def _bash(self, call: Call, arguments: BashCall) -> str:
        removal = parse_rm(arguments.command)
        if isinstance(removal, Deny):
            return self.refuse(call, removal.rule, removal.reason, arguments.command)
        return self._change(call, removal, arguments.evidence)

    def _read(self, call: Call, arguments: ReadCall) -> str:
        path = arguments.file_path
        verdict, spots = self._ground.judge(Read(path))
        if not isinstance(verdict, Allow):
            return self.refuse(call, verdict.rule, verdict.reason, path)
        if spots[0].facts.found is Found.DIRECTORY:
            return f"{path} is a folder. List it with Glob, as {path}/*."
        return show(arguments, spots[0].facts.text or "")

    def _grep(self, call: Call, arguments: GrepCall) -> str:
        below = (arguments.path or "").rstrip("/")
        if below:
            verdict, _ = self._ground.judge(Read(below))
            if not isinstance(verdict, Allow):
                return self.refuse(call, verdict.rule, verdict.reason, below)
        inside = (
            (path, spot)
            for path, spot in self._memories()
            if not below or path == below or path.startswith(below + "/")
        )
        return search(arguments.pattern, self._texts(inside))

    def _memories(self) -> Iterator[tuple[str, tuple[RootKind, str]]]:
        """Every memory as the run left it, by its virtual path."""
        for root in VIRTUAL_ROOTS:
            if root.kind is not None:
                for name in self._ground.changes.names(root.kind):
                    yield f"{root.prefix}/{name}", (root.kind, name)

    def _texts(self, memories: Iterable[tuple[str, tuple[RootKind, str]]]) -> Iterator[tuple[str, str]]:
        """Their texts; a memory that cannot be read is left out, as it cannot be shown."""
        for path, (kind, name) in memories:
            try:
                text = self._ground.changes.read(kind, name)
            except StoreError:
                continue
            if text is not None:
                yield path, text

    def _write(self, call: Call, arguments: WriteCall) -> str:
        notes: list[str] = []
        text = unstamp(arguments.content)
        if text != arguments.content:
            notes.append("The stamps in it were dropped: they are set when it is kept.")
        is_new = self._ground.is_new(arguments.file_path)
        if is_new and len(text.encode("utf-8", "replace")) > LAW.file_bytes:
            text = _cut(text, LAW.file_bytes)
            notes.append(
                f"It was longer than {LAW.file_bytes // 1024} KiB and is cut after {len(text)} characters:"
                " write the rest as memories of their own, one fact a file."
            )
        if is_new:
            kin = self._kindred.find(arguments.file_path, text)
            if kin is not None:
                reason = (
                    f"{kin} says nearly this. Edit or overwrite that memory if the fact changed, leave it"
                    " if not. If it is another fact, make the same call again."
                )
                return self.refuse(call, "duplicate", reason, arguments.file_path)
        return self._change(call, Write(arguments.file_path, text), arguments.evidence, notes)

    def _change(
        self,
        call: Call,
        request: Write | Edit | Remove,
        evidence: tuple[Evidence, ...],
        notes: Iterable[str] = (),
    ) -> str:
        """Judge a change and lay it into the change-set unless it is denied."""
        path, done, size = _put_in_words(request)
        verdict, spots = self._ground.judge(request, evidence)
        if isinstance(verdict, Deny):
            return self.refuse(call, verdict.rule, verdict.reason, path)
        if self._bytes + size > BYTES_A_RUN:
            reason = f"A run writes at most {BYTES_A_RUN // 1024} KiB. Keep only what is worth knowing later."
            return self.refuse(call, "run-bytes", reason, path)
        if self._ground.files_with(spots) > FILES_A_RUN:
            reason = f"A run changes at most {FILES_A_RUN} memories. Finish."
            return self.refuse(call, "run-files", reason, path)
        self._bytes += size
        self._ground.put(request, spots, evidence)
        if isinstance(verdict, Hold):
            notes = [*notes, f"It waits for the person's review ({verdict.rule}): {verdict.reason}"]
        return " ".join([done, *notes])


def _put_in_words(request: Write | Edit | Remove) -> tuple[str, str, int]:
    """Given a change, return its first path, the answer where it is done, and the bytes that it writes."""
    match request:
        case Write(path=path, content=text):
            return path, "Written.", len(text.encode("utf-8", "replace"))
        case Edit(path=path, new=text):
            return path, "Edited.", len(text.encode("utf-8", "replace"))
        case Remove(paths=paths):
            return paths[0], "Removed.", 0


def _cut(text: str, limit: int) -> str:
    """Given a text, return its beginning of at most `limit` bytes, whole lines where it has any."""
    kept = text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
    end = kept.rfind("\n")
    return kept[: end + 1] if end > 0 else kept
