"""Who is let in: a token for the address, a cookie for the browser, a word for every form."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Self

from aiohttp import web

_HERE = "127.0.0.1"
_FORMS = "application/x-www-form-urlencoded"
_OWN_SITE = ("none", "same-origin")
"""Of Sec-Fetch-Site: the person's own doing, or one of our pages."""


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """The page is not for whoever asks; carries a status and a sentence that says what to do."""

    def __init__(self, status: int, sentence: str, *, is_guest: bool = False) -> None:
        """Keep the status beside the sentence; a guest was let in, and may look at other pages."""
        self.status = status
        self.is_guest = is_guest
        super().__init__(sentence)


@dataclass(slots=True, kw_only=True)
class Entry:
    """What lets a browser in; made anew at each start and kept in memory alone."""

    port: int
    token: str
    """Printed with the address."""
    ticket: str
    """Handed to the browser, whose arguments others can see: good once, empty from then on."""
    cookie: str
    word: str
    """Stands in every form: only our own pages know it."""
    folder: str
    """Below which all pages are, and alone the cookie is sent: other ports of this host share cookies."""

    @classmethod
    def fresh(cls, port: int) -> Self:
        """Given the port, return what lets in there, from the system's randomness."""
        return cls(
            port=port,
            token=secrets.token_urlsafe(32),
            ticket=secrets.token_urlsafe(32),
            cookie=secrets.token_urlsafe(32),
            word=secrets.token_urlsafe(32),
            folder=secrets.token_hex(8),
        )

    @property
    def host(self) -> str:
        """What the Host header has to say."""
        return f"{_HERE}:{self.port}"

    def address(self, *, once: bool = False) -> str:
        """The address that lets in; with `once` one that does so a single time."""
        return f"http://{self.host}/?token={self.ticket if once else self.token}"

    def admit(self, token: str) -> web.Response:
        """Given the token of an address, answer with the cookie, away from the token. Raise Refused."""
        is_ticket = bool(self.ticket) and _same(token, self.ticket)
        if not (is_ticket or _same(token, self.token)):
            raise Refused(403, "The token is missing from the address: open it as the terminal shows it.")
        if is_ticket:
            self.ticket = ""
        answer = web.Response(status=303, headers={"Location": f"/{self.folder}/memories"})
        answer.set_cookie(
            "extractord", self.cookie, path=f"/{self.folder}/", httponly=True, samesite="Strict"
        )
        return answer

    def check_host(self, request: web.Request) -> None:
        """Raise Refused for a request that came by another name: a page that rebinds its own to us."""
        if request.headers.getall("Host", []) != [self.host]:
            raise Refused(403, f"This page answers as http://{self.host} alone.")

    def check_guest(self, request: web.Request) -> None:
        """Raise Refused for a request without our cookie, or one that another site's page makes."""
        if not _same(request.cookies.get("extractord", ""), self.cookie):
            raise Refused(403, "You are not let in here yet: open the address that the terminal shows.")
        if request.headers.get("Sec-Fetch-Site", "none") not in _OWN_SITE:
            raise Refused(403, "Another site's page asked for this: open the address itself.")

    def check_form(self, request: web.Request, word: str) -> None:
        """Raise Refused for a form that none of our own pages sent."""
        origin = request.headers.get("Origin")
        ours = f"http://{self.host}"
        is_ours = (
            origin == ours if origin is not None else request.headers.get("Sec-Fetch-Site") == "same-origin"
        )
        if not is_ours or not _same(word, self.word):
            raise Refused(403, "This form was not sent by our own page: go back, reload it and try again.")


def check_kind(request: web.Request) -> None:
    """Raise Refused for a body that is no plain form."""
    if request.content_type != _FORMS:
        raise Refused(415, "Only a form of one of these pages can be sent here.")


def _same(given: str, ours: str) -> bool:
    """True if they are equal; how long it takes says nothing about how much of it is."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), ours.encode())
