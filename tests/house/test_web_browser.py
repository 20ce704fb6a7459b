import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import CHROMIUM, MISSING, Page, browser
from filled import TUESDAYS, filled
from person import SHOP_ROOT, Person
from storing import PROJECT, fact
from visiting import Visit, visited

from extractord.core.records import Origin, Outcome

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

HOSTILE = (
    '<script>console.error("ran")</script><img src=x onerror=alert(1)>"><b>bold</b>{{ 7*7 }} &amp; \u202egnol'
)
SHOWN = HOSTILE.replace("\u202e", "\ufffd")
ODD = f"{SHOP_ROOT}/odd.md"
PAGES = {
    "memories": "Memories",
    f"memory?at={TUESDAYS}": "deploy-only-on-tuesdays",
    f"memory/said?at={TUESDAYS}": "Where deploy-only-on-tuesdays was said",
    f"memory/edit?at={TUESDAYS}": "Edit deploy-only-on-tuesdays",
    f"memory/forget?at={TUESDAYS}": "Forget deploy-only-on-tuesdays?",
    "held": "Held for you",
    "held/edit?which=1": "Edit and accept",
    "runs": "Runs",
    "run?run=run-4": "Run run-4",
    "spending": "Spending and timing",
    "status": "Status",
    "search?words=tuesdays": "Found for “tuesdays”",
    "search": "Search",
}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Person:
    made = Person(tmp_path_factory.mktemp("browsed") / "me")
    filled(made)
    made.writes(SHOP_ROOT, "odd.md", fact("odd", "a fact", body=HOSTILE))
    made.writes(SHOP_ROOT, "<b>odd</b>&'\".md", f"# {HOSTILE}\n\n{HOSTILE}\n")
    held = made.run([(PROJECT, "odd-too.md", fact("odd-too", HOSTILE))], HOSTILE, origin=Origin.SYNTHETIC)
    assert held.outcome in (Outcome.HELD, Outcome.NOTHING_TO_SAVE)
    return made


@pytest.fixture(scope="module")
def visit(person: Person) -> Iterator[Visit]:
    with visited(person) as found:
        yield found


@pytest.fixture
async def page(visit: Visit, tmp_path: Path) -> AsyncIterator[Page]:
    async with browser(tmp_path / "browser") as found:
        await found.goes(visit.address)
        yield found


def at(visit: Visit, where: str) -> str:
    return f"http://{visit.host}{visit.folder}{where}"


@contextlib.contextmanager
def elsewhere(text: str) -> Iterator[str]:
    """A page of somebody else's, on a port of its own."""

    class Theirs(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Theirs) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


async def draft(page: Page) -> str:
    """The text that is there to be edited, which has the focus without a click."""
    await page.comes_true("document.activeElement.tagName === 'TEXTAREA'")
    return str(await page.finds("document.activeElement.value"))


async def test_every_page_comes_up_without_a_word_in_the_console(page: Page, visit: Visit) -> None:
    assert await page.finds("location.search") == ""
    for where, title in PAGES.items():
        await page.goes(at(visit, where))
        assert (page.status, await page.text("h1")) == (200, title), where
        assert await page.finds("getComputedStyle(document.body).maxWidth") == "992px", "unstyled"
        broken = "[...document.images].filter(image => !image.naturalWidth).length"
        assert await page.finds(broken) == 0, where
    assert page.console == []


async def test_every_page_is_headed_labelled_and_reached_by_keys(page: Page, visit: Visit) -> None:
    for where in PAGES:
        await page.goes(at(visit, where))
        found = await page.finds(
            """[document.documentElement.lang, document.querySelectorAll('h1').length,
               document.querySelectorAll('main').length,
               [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
                 .filter(field => !field.labels.length).length,
               [...document.querySelectorAll('a, button')].filter(each => !each.innerText.trim()).length,
               [...document.querySelectorAll('img:not([alt])')].length,
               [...document.querySelectorAll('[id]')].map(each => each.id)
                 .filter((id, at, all) => all.indexOf(id) !== at).length]"""
        )
        assert found == ["en", 1, 1, 0, 0, 0, 0], where
    await page.goes(at(visit, "memories"))
    await page.key("Tab")
    assert await page.finds("document.activeElement.className") == "skip"
    await page.key("Enter")
    assert await page.finds("document.activeElement.id") == "main"


@pytest.mark.parametrize("width", [320, 390])
async def test_on_a_phone_nothing_has_to_be_scrolled_sideways(page: Page, visit: Visit, width: int) -> None:
    await page.size(width, 800)
    for where in [*PAGES, f"memory?at={ODD}", "nothing"]:
        await page.goes(at(visit, where))
        assert await page.finds("document.documentElement.scrollWidth") == width, where


@pytest.mark.parametrize("dark", [False, True])
async def test_all_text_stands_out_from_what_is_behind_it(page: Page, visit: Visit, *, dark: bool) -> None:
    await page.size(1180, 800, dark=dark)
    for where in PAGES:
        await page.goes(at(visit, where))
        assert await page.finds(_CONTRAST) == [], where


async def test_what_others_wrote_shows_as_text(page: Page, visit: Visit) -> None:
    for where in (f"memory?at={ODD}", "memories", "held", "status", "runs"):
        await page.goes(at(visit, where))
        assert await page.finds("document.querySelectorAll('main script, main img, main b').length") == 0, (
            where
        )
    await page.goes(at(visit, f"memory?at={ODD}"))
    assert await page.text("article.body") == SHOWN
    await page.goes(at(visit, "memories"))
    assert "<b>odd</b>&'\"" in await page.text() or SHOWN in await page.text()
    link = (
        "[...document.querySelectorAll('a.title')].find(a => a.href.includes('%3Cb%3E')).className = 'chosen'"
    )
    await page.finds(link)
    await page.presses("a.chosen")
    assert (page.status, SHOWN in await page.text("article.body")) == (200, True)
    assert page.console == []


async def test_a_page_on_another_port_of_this_host_changes_and_sees_nothing(
    page: Page, visit: Visit, person: Person
) -> None:
    """Cookies know no ports, and the site is the same: it even knows the folder."""
    target = at(visit, "memory/pin")
    page_of_theirs = f"""<!doctype html><title>theirs</title><link rel=icon href=data:,>
      <form method=post action="{target}"><input name=at value="{TUESDAYS}"><input name=pinned value=yes>
      <button>win</button></form><iframe src="{at(visit, "memories")}"></iframe>
      <img src="{at(visit, "spending/dollars.svg")}">"""
    with elsewhere(page_of_theirs) as address:
        await page.goes(address)
        asked = f"fetch({at(visit, 'memories')!r}, {{credentials: 'include'}})"
        read = f"{asked}.then(answer => answer.text(), () => 'refused')"
        found = await page.asks("Runtime.evaluate", expression=read, awaitPromise=True, returnByValue=True)
        assert found["result"]["value"] == "refused"
        assert await page.finds("document.images[0].naturalWidth") == 0
        assert await page.finds("document.querySelector('iframe').contentDocument") is None
        await page.presses("button")
    assert (page.status, await page.text("h1")) == (403, "Not let in")
    assert all(
        row["pinned"] is False
        for row in person.told("memories", "list")
        if row["name"] == "deploy-only-on-tuesdays"
    )
    await page.goes(at(visit, "memories"))
    assert page.status == 200


async def test_without_scripts_all_is_read_and_done(visit: Visit, person: Person, page: Page) -> None:
    await page.without_scripts()
    for where, title in PAGES.items():
        await page.goes(at(visit, where))
        assert await page.text("h1") == title
    await page.goes(at(visit, "memories"))
    await page.finds("document.querySelector('select[name=standing]').value = 'pinned'")
    await page.presses(".filters button")
    await page.presses("a.title")
    assert await page.text("h1") == "no-new-packages"
    await page.presses("form[action$='memory/pin'] button")
    assert "Unpinned" in await page.text(".note")
    assert [row["name"] for row in person.told("memories", "list") if row["pinned"]] == []


async def test_what_is_looked_for_is_found_with_its_lines_and_shown_as_text(page: Page, visit: Visit) -> None:
    await page.goes(at(visit, "memories"))
    await page.points("#find")
    await page.types("<b>warehouse</b> stock")
    await page.key("Enter", leads=True)
    assert await page.text("h1") == "Found for “<b>warehouse</b> stock”"
    assert await page.finds("document.querySelector('#find').value") == "<b>warehouse</b> stock"
    assert await page.text("a.title") == "deploy-only-on-tuesdays"
    assert await page.text(".hit") == "**Why:** the warehouse counts stock on Mondays.\n"
    await page.goes(at(visit, "search?words=nowhere"))
    assert "No memory has any of: nowhere" in await page.text()


async def test_faults_are_pages_with_what_to_do(page: Page, visit: Visit) -> None:
    await page.goes(at(visit, "nothing"))
    assert (page.status, await page.text("h1")) == (404, "Not here")
    await page.presses("main a")
    assert await page.text("h1") == "Memories"
    await page.goes(at(visit, "memory?at=user/none.md"))
    assert (page.status, "see the list" in await page.text()) == (404, True)
    await page.goes(f"http://{visit.host}/")
    assert (page.status, await page.text("h1")) == (403, "Not let in")
    assert "open it as the terminal shows it" in await page.text()
    assert await page.finds("getComputedStyle(document.body).maxWidth") == "992px"


async def test_a_wrong_memory_is_put_right_with_two_clicks(page: Page, visit: Visit, person: Person) -> None:
    await page.goes(at(visit, f"memory?at={TUESDAYS}"))
    await page.presses("main .actions a.main")
    text = await draft(page)
    await page.types(text.replace("Tuesdays", "Thursdays"))
    await page.presses("main .actions button")
    assert page.clicks == 2
    assert "Your words are in place" in await page.text()
    assert "We deploy only on Thursdays" in (person.memory / TUESDAYS).read_text()
    assert "trust: confirmed" in (person.memory / TUESDAYS).read_text()


async def test_from_the_list_it_is_two_clicks_too_and_forgetting_is_two(
    page: Page, visit: Visit, person: Person
) -> None:
    await page.goes(at(visit, "memories"))
    place = f"a.act[href*='{SHOP_ROOT.split('/')[1]}%2Fprices']"
    await page.presses(place)
    text = await draft(page)
    await page.types(text.replace("cents", "pennies"))
    await page.presses("main .actions button")
    assert page.clicks == 2
    assert "whole pennies" in (person.memory / SHOP_ROOT / "prices-in-cents.md").read_text()
    await page.presses("main .actions a.danger")
    await page.presses("main .actions button")
    assert page.clicks == 4
    assert not (person.memory / SHOP_ROOT / "prices-in-cents.md").exists()
    assert "Forgotten" in await page.text(".note")


async def test_a_wrong_fact_that_is_held_is_put_right_with_two_clicks_or_dropped_with_one(
    page: Page, visit: Visit, person: Person
) -> None:
    await page.goes(at(visit, "held"))
    await page.presses("article a.button")
    text = await draft(page)
    await page.types(text.replace("and nothing else", "alone"))
    await page.presses("main .actions button")
    assert page.clicks == 2
    assert "npm ci alone" in (person.memory / SHOP_ROOT / "use-npm-ci.md").read_text()
    await page.presses("article form[action$='reject'] button")
    assert page.clicks == 3
    assert not (person.memory / SHOP_ROOT / "api-limit.md").exists()
    assert "Rejected" in await page.text(".note")


async def test_the_same_with_keys_alone(page: Page, visit: Visit, person: Person) -> None:
    place = f"{SHOP_ROOT}/four-spaces.md"
    await page.goes(at(visit, f"memory/edit?at={place}"))
    text = await draft(page)
    await page.types(text.replace("four", "two"))
    await page.key("Tab")
    await page.key("Enter", leads=True)
    assert "indent with two spaces" in (person.memory / place).read_text()


_CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = node => {
    for (let each = node; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || node.closest('.hidden, option, select')) continue;
    const [one, two] = [light(rgba(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) faint.push([walk.currentNode.data.trim().slice(0, 30), ratio.toFixed(2)]);
  }
  return faint;
})()
"""
