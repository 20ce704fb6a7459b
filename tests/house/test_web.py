import gzip
import http.client
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from filled import TUESDAYS, filled
from person import EXTRACTORD, Person
from visiting import Visit, visited

PAGES = [
    "memories",
    f"memory?at={TUESDAYS}",
    f"memory/said?at={TUESDAYS}",
    f"memory/edit?at={TUESDAYS}",
    f"memory/forget?at={TUESDAYS}",
    "held",
    "held/edit?which=1",
    "runs",
    "run?run=run-4",
    "spending",
    "status",
    "search?words=deploy+tuesdays",
]
PICTURES = ["spending/dollars.svg", "spending/tokens.svg", "spending/timing.svg"]
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
PIN = {"at": TUESDAYS, "pinned": "yes"}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Person:
    made = Person(tmp_path_factory.mktemp("web") / "me")
    filled(made)
    return made


@pytest.fixture(scope="module")
def visit(person: Person) -> Iterator[Visit]:
    with visited(person) as found:
        yield found


def is_pinned(person: Person) -> bool:
    return next(
        row["pinned"] is True for row in person.told("memories", "list") if row["name"] == TUESDAYS_NAME
    )


TUESDAYS_NAME = "deploy-only-on-tuesdays"


def test_every_page_is_given_to_who_was_let_in_and_to_nobody_else(visit: Visit) -> None:
    for page in [*PAGES, *PICTURES]:
        assert visit.asks(page).status == 200, page
        for without in (
            visit.asks(page, without="Cookie"),
            visit.asks(page, headers={"Cookie": "extractord=guessed"}),
        ):
            assert (without.status, "deploy" in without.text) == (403, False), page
    unknown = [visit.asks("nothing").status, visit.asks("nothing", without="Cookie").status]
    assert unknown == [404, 403]


def test_the_token_is_exchanged_for_a_cookie_and_is_gone_from_the_address(visit: Visit) -> None:
    token = visit.address.rpartition("=")[2]
    entered = visit.asks(f"/?token={token}", without="Cookie")
    cookie = entered.headers["Set-Cookie"]
    assert (entered.status, entered.headers["Location"]) == (303, f"{visit.folder}memories")
    assert re.fullmatch(r"extractord=[\w-]{43}; HttpOnly; Path=/\w{16}/; SameSite=Strict", cookie)
    assert token not in entered.headers["Location"] + cookie + visit.asks("memories").text
    for wrong in ("", token[:-1], f"{token}x", "%c3%bc", "%ff%fe"):
        refused = visit.asks(f"/?token={wrong}", without="Cookie")
        assert (refused.status, "Set-Cookie" in refused.headers) == (403, False), wrong
        assert "as the terminal shows it" in refused.text


def test_a_foreign_host_is_refused_and_our_own_still_answered(visit: Visit) -> None:
    port = visit.host.rpartition(":")[2]
    for host in (
        f"evil.example:{port}",
        f"localhost:{port}",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{port}",
        "",
    ):
        for path in ("memories", "/", "/style.css"):
            assert visit.asks(path, headers={"Host": host}).status in (400, 403), (host, path)
    assert visit.asks("memories", without="Host").status in (400, 403)
    assert visit.asks("memories", headers={"Host": visit.host}).status == 200


def test_another_sites_form_is_refused_and_our_own_still_taken(visit: Visit, person: Person) -> None:
    word = visit.asks(f"memory?at={TUESDAYS}").word
    form = {"word": word, **PIN}
    altered: tuple[dict[str, str], ...] = (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{visit.host}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Cookie": "extractord=guessed"},
    )
    for more in altered:
        assert visit.asks("memory/pin", form=form, headers=more).status == 403, more
    for wrong in ({**form, "word": ""}, {**form, "word": "x" * 43}, PIN):
        assert visit.asks("memory/pin", form=wrong).status == 403, wrong
    without_both = visit.asks("memory/pin", form=form, without="Origin", headers={"Sec-Fetch-Site": "none"})
    assert without_both.status == 403
    assert not is_pinned(person)
    assert visit.asks("memory/pin", form=form).status == 303
    assert is_pinned(person)
    assert visit.asks("memory/pin", form={**form, "pinned": ""}, without="Origin").status == 303
    assert not is_pinned(person)


def test_another_sites_link_and_frame_are_refused_and_a_typed_address_still_answered(visit: Visit) -> None:
    assert visit.asks("memories", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert visit.asks("spending/dollars.svg", headers={"Sec-Fetch-Site": "same-site"}).status == 403
    assert visit.asks("memories", headers={"Sec-Fetch-Site": "none"}).status == 200
    assert visit.asks("memories", without="Sec-Fetch-Site").status == 200


def test_every_answer_forbids_what_a_page_of_ours_never_does(visit: Visit) -> None:
    for page, status in [*((page, 200) for page in PAGES), ("nothing", 404), ("memory/pin", 405), ("/", 403)]:
        answer = visit.asks(page)
        assert answer.status == status, page
        for name, value in {
            "Content-Security-Policy": POLICY,
            "X-Frame-Options": "DENY",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Server": "extractord",
        }.items():
            assert answer.headers[name] == value, (page, name)
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=|https?://|javascript:", answer.text), page
    for picture in PICTURES:
        answer = visit.asks(picture)
        assert re.fullmatch(
            r"default-src 'none'; style-src(?: 'sha256-[\w+/=]+')+; frame-ancestors 'none'",
            answer.headers["Content-Security-Policy"],
        )
        assert "<script" not in answer.text


def test_no_get_changes_anything(visit: Visit, person: Person) -> None:
    def everything() -> object:
        files = {place: place.read_bytes() for place in person.memory.rglob("*") if place.is_file()}
        return files, person.told("audit", "show"), person.told("review", "list")

    before = everything()
    for page in PAGES:
        visit.asks(page, method="HEAD")
        visit.asks(page)
    for action in ("memory/pin", "memory/restore", "held/accept", "held/reject", "run/undo", "run/retry"):
        assert visit.asks(f"{action}?at={TUESDAYS}&which=1&run=run-4&word=x").status == 405, action
    assert everything() == before


def test_a_body_without_bound_is_refused_and_a_long_memory_still_taken(visit: Visit) -> None:
    word = visit.asks(f"memory?at={TUESDAYS}").word
    assert visit.asks("memory/pin", form={"word": word, "at": "x" * 1_100_000}).status == 413
    assert visit.asks("memory/pin", form={"word": word, "at": "x" * 900_000}).status == 422
    sent = b'--x\r\nContent-Disposition: form-data; name="word"\r\n\r\nw\r\n--x--\r\n'
    assert (
        visit.asks(
            "memory/pin", body=sent, headers={"Content-Type": "multipart/form-data; boundary=x"}
        ).status
        == 415
    )


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"at=x&x=\xff", {}),
        (b"at=x", {"Content-Type": "application/x-www-form-urlencoded; charset=nonsense"}),
        (b"at=x", {"Content-Type": "application/x-www-form-urlencoded; charset=zlib_codec"}),
        (b"at=x", {"Content-Encoding": "gzip"}),
        (gzip.compress(b"a=" + b"x" * 20_000_000), {"Content-Encoding": "gzip"}),
    ],
)
def test_what_is_no_form_is_refused_and_is_no_fault_of_ours(
    visit: Visit, body: bytes, headers: dict[str, str]
) -> None:
    answer = visit.asks("memory/pin", body=body, headers=headers)
    assert answer.status in (400, 403), answer.text
    assert "our fault" not in answer.text
    assert visit.asks("memories").status == 200


def test_a_number_of_thousands_of_digits_is_none(visit: Visit) -> None:
    for page in ("memories?page=", "runs?limit=", "held?page="):
        assert visit.asks(page + "9" * 5000).status == 200


def test_it_listens_on_the_loopback_interface_alone(visit: Visit) -> None:
    port = int(visit.host.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port), 2):
        pass
    with socket.create_connection(("127.0.0.1", port), 2):
        pass


def test_its_process_has_given_up_what_it_has_no_use_for(visit: Visit) -> None:
    status = Path(f"/proc/{visit.pid}/status").read_text()
    assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
    assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)


def test_a_browser_is_handed_an_address_of_its_own_that_is_good_once(person: Person, tmp_path: Path) -> None:
    handed = tmp_path / "handed"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {handed}\n')
    browser.chmod(0o700)
    opens = {"BROWSER": f"{browser} %s", "DISPLAY": ":9"}
    with visited(person, "--open", **opens) as visit:
        until = time.monotonic() + 10
        while not handed.exists() or not handed.read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        address = handed.read_text()
        assert address.startswith(f"http://{visit.host}/?token=")
        assert address != visit.address
        path = address.partition(visit.host)[2]
        assert [visit.asks(path, without="Cookie").status for _ in range(2)] == [303, 403]


def test_control_c_ends_it_in_order_while_a_browser_holds_a_connection(person: Person) -> None:
    with visited(person) as visit:
        kept = http.client.HTTPConnection(visit.host)
        kept.request("GET", "/style.css")
        kept.getresponse().read()
        before = visit.printed
        began = time.monotonic()
    kept.close()
    assert (visit.code, visit.printed) == (0, before)
    assert time.monotonic() - began < 30
    with pytest.raises(ConnectionRefusedError):
        visit.asks("memories")


@pytest.mark.parametrize("why", ["no terminal", "an agent"])
def test_where_no_person_sits_the_page_only_shows(person: Person, why: str) -> None:
    if why == "an agent":
        with visited(person, CLAUDECODE="1") as visit:
            _only_shows(visit, person, "CLAUDECODE is set")
        return
    process = subprocess.Popen(
        [*EXTRACTORD, "web"],
        env=person.environ(),
        cwd=person.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        visit = Visit(address, "")
        visit.comes_in()
        _only_shows(visit, person, "this is not a terminal")
    finally:
        process.terminate()
        _, said = process.communicate(timeout=120)
    assert "this is not a terminal, and only a person may accept what is kept: the page only shows" in said
    assert process.returncode == 0


def _only_shows(visit: Visit, person: Person, reason: str) -> None:
    for page in PAGES:
        shown = visit.asks(page)
        assert shown.status == (403 if "edit" in page or "forget" in page else 200), page
        assert f"This page only shows: {reason}" in shown.text
        assert 'method="post"' not in shown.text
    word = "x"
    refused = visit.asks("memory/pin", form={"word": word, **PIN})
    assert refused.status == 403
    assert not is_pinned(person)


def test_a_port_that_is_taken_is_said_and_another_is_had(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = person.types("web", "--port", str(port))
    assert refused.returncode == 2
    assert f"port {port} cannot be used" in refused.stderr
    assert "give another with --port, or 0" in refused.stderr
    assert person.types("web", "--port", "99999").returncode == 2
