"""A real Chromium without a window, driven over its own protocol: what a person sees and presses."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "no chromium on this machine: apt-get install chromium"
_PATIENCE_S = 90.0
_KEYS = {"Enter": ("\r", 13), "Tab": ("\t", 9)}


class Page:
    """One tab; `console` has every warning and error that it wrote, `clicks` counts."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()
        self.console: list[str] = []
        self.clicks = 0
        self.status = 0
        """Of the last document."""
        self._listening = asyncio.create_task(self._listen())

    async def asks(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asyncio.wait_for(answer, _PATIENCE_S)

    async def begin(self) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.asks(f"{domain}.enable")

    async def close(self) -> None:
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listening

    async def goes(self, address: str) -> None:
        """Type an address."""
        self._loaded.clear()
        await self.asks("Page.navigate", url=address)
        await asyncio.wait_for(self._loaded.wait(), _PATIENCE_S)

    async def presses(self, selector: str) -> None:
        """Click the middle of what the selector finds first, and wait for the page that it leads to."""
        await self._points(selector)
        await asyncio.wait_for(self._loaded.wait(), _PATIENCE_S)

    async def points(self, selector: str) -> None:
        """Click, where that leads nowhere."""
        await self._points(selector)

    async def types(self, text: str) -> None:
        """Put text in place of all that the focused field holds."""
        await self.asks(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key="a",
            code="KeyA",
            modifiers=2,
            commands=["selectAll"],
        )
        await self.asks("Input.insertText", text=text)

    async def key(self, name: str, *, leads: bool = False) -> None:
        text, code = _KEYS[name]
        self._loaded.clear()
        for kind in ("keyDown", "keyUp"):
            await self.asks(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                text=text,
                windowsVirtualKeyCode=code,
            )
        if leads:
            await asyncio.wait_for(self._loaded.wait(), _PATIENCE_S)

    async def finds(self, script: str) -> Any:
        """What an expression has for its value."""
        found = await self.asks("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def comes_true(self, script: str) -> None:
        """Wait until an expression is true: a browser gives the focus a moment after the page is there."""
        until = asyncio.get_running_loop().time() + _PATIENCE_S
        while not await self.finds(script):
            assert asyncio.get_running_loop().time() < until, script
            await asyncio.sleep(0.02)

    async def text(self, selector: str = "body") -> str:
        """What a person reads there."""
        return str(await self.finds(f"document.querySelector({json.dumps(selector)}).innerText"))

    async def size(self, width: int, height: int, *, dark: bool = False, scale: float = 1) -> None:
        await self.asks(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.asks("Emulation.setEmulatedMedia", features=[scheme])

    async def without_scripts(self) -> None:
        await self.asks("Emulation.setScriptExecutionDisabled", value=True)

    async def picture(self, place: Path) -> None:
        kind = {"format": "png"} if place.suffix == ".png" else {"format": "webp", "quality": 82}
        shot = await self.asks("Page.captureScreenshot", **kind)
        place.write_bytes(base64.b64decode(shot["data"]))

    async def _points(self, selector: str) -> None:
        await self.finds(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})"
        )
        box = await self.finds(
            f"JSON.stringify(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        there = json.loads(box)
        at = {"x": there["x"] + there["width"] / 2, "y": there["y"] + there["height"] / 2}
        self._loaded.clear()
        self.clicks += 1
        for kind in ("mousePressed", "mouseReleased"):
            await self.asks("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    async def _listen(self) -> None:
        async for message in self._socket:
            said = json.loads(message.data)
            if "id" in said:
                answer = self._answers.pop(said["id"])
                if "error" in said:
                    answer.set_exception(RuntimeError(said["error"]["message"]))
                else:
                    answer.set_result(said["result"])
                continue
            match said["method"]:
                case "Page.loadEventFired":
                    self._loaded.set()
                case "Log.entryAdded":
                    self.console.append(said["params"]["entry"]["text"])
                case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                    self.console.append(json.dumps(said["params"]))
                case "Network.responseReceived" if said["params"]["type"] == "Document":
                    self.status = said["params"]["response"]["status"]


@contextlib.asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """Given a folder of its own, start Chromium and give a tab; it is gone afterwards."""
    assert CHROMIUM is not None
    folder.mkdir(parents=True, exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--force-color-profile=srgb",
        "--hide-scrollbars",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        address = await asyncio.wait_for(_address(folder / "DevToolsActivePort"), _PATIENCE_S)
        async with aiohttp.ClientSession() as session:
            place = await asyncio.wait_for(_tab(session, address), _PATIENCE_S)
            async with session.ws_connect(place, max_msg_size=0) as socket:
                page = Page(socket)
                try:
                    await page.begin()
                    yield page
                finally:
                    await page.close()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _address(place: Path) -> str:
    while True:
        with contextlib.suppress(OSError, IndexError):
            port = place.read_text().splitlines()[0]
            return f"127.0.0.1:{port}"
        await asyncio.sleep(0.05)


async def _tab(session: aiohttp.ClientSession, address: str) -> str:
    """Where the one tab is talked to: it is there a moment after the port."""
    while True:
        async with session.get(f"http://{address}/json/list") as answer:
            tabs = [each for each in await answer.json() if each["type"] == "page"]
        if tabs:
            return str(tabs[0]["webSocketDebuggerUrl"])
        await asyncio.sleep(0.05)
