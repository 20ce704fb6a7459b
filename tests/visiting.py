"""The page as a process of its own at a person's terminal, and somebody who asks it things."""

from __future__ import annotations

import contextlib
import http.client
import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlencode, urlsplit

from person import EXTRACTORD, Person

_PATIENCE_S = 90.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def word(self) -> str:
        """What our own forms carry."""
        found = re.search(r'name="word" value="([\w-]+)"', self.text)
        assert found is not None, self.text
        return found[1]


@dataclass
class Visit:
    """What the terminal printed, and who asks; let in as a browser is."""

    address: str
    printed: str
    pid: int = 0
    folder: str = "/"
    cookie: str = ""
    word: str = ""
    code: int = -1
    """What it ended with, once it did."""

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def asks(
        self,
        path: str,
        *,
        form: Mapping[str, str] | None = None,
        method: str = "",
        without: str = "",
        body: bytes | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Answer:
        """A request as our own page makes it, but for `headers`, and without the one header named."""
        given = {"Host": self.host, "Cookie": f"extractord={self.cookie}", "Sec-Fetch-Site": "same-origin"}
        if form is not None or body is not None:
            given |= {"Origin": f"http://{self.host}", "Content-Type": "application/x-www-form-urlencoded"}
        given |= headers
        given.pop(without, None)
        sent = urlencode(form).encode() if form is not None else body
        connection = http.client.HTTPConnection(self.host, timeout=_PATIENCE_S)
        with contextlib.closing(connection):
            where = path if path.startswith("/") else self.folder + path
            connection.putrequest(method or ("GET" if sent is None else "POST"), where, skip_host=True)
            for name, value in given.items():
                connection.putheader(name, value)
            if sent is not None:
                connection.putheader("Content-Length", str(len(sent)))
            connection.endheaders(sent)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())

    def presses(self, action: str, **fields: str) -> Answer:
        """Send a form, with the word that the page of some memory has in its own."""
        if not self.word:
            found = re.search(r"memory\?at=[^\"]+", self.asks("memories").text)
            assert found is not None
            self.word = self.asks(found[0]).word
        return self.asks(action, form={"word": self.word, **fields})

    def comes_in(self) -> None:
        entered = self.asks(self.address.partition(self.host)[2], without="Cookie")
        assert entered.status == 303, entered
        found = re.search(r"extractord=([\w-]+);.* Path=(/\w+/)", entered.headers["Set-Cookie"])
        assert found is not None, entered
        self.cookie, self.folder = found[1], found[2]


@contextlib.contextmanager
def visited(person: Person, *arguments: str, **more: str) -> Iterator[Visit]:
    """`extractord web` at a terminal of its own, and a visitor who is let in."""
    visit = None
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        os.chdir(person.home)
        environ = person.environ(TERM="dumb", **more)
        os.execve(EXTRACTORD[0], [*EXTRACTORD, "web", *(arguments or ("--no-open",))], environ)
    try:
        screen = _until_quiet(terminal)
        found = _ADDRESS.search(screen)
        assert found is not None, screen
        visit = Visit(found[0], screen, pid)
        visit.comes_in()
        yield visit
    finally:
        os.kill(pid, signal.SIGINT)
        code, rest = _ended(pid, terminal)
        if visit is not None:
            visit.code, visit.printed = code, visit.printed + rest


def _ended(pid: int, terminal: int) -> tuple[int, str]:
    """Its exit code, and what it printed since."""
    screen, until = "", time.monotonic() + _PATIENCE_S
    while (status := os.waitpid(pid, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:  # pragma: no cover - it hangs
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            if select.select([terminal], [], [], 0.05)[0]:
                screen += os.read(terminal, 65536).decode()
    os.close(terminal)
    return os.waitstatus_to_exitcode(status[1]), screen


def _until_quiet(terminal: int) -> str:
    """What it prints until both its lines are there."""
    screen, until = "", time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and screen.count("\n") < 2:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                screen += os.read(terminal, 65536).decode()
            except OSError:
                break
    return screen.replace("\r\n", "\n")
