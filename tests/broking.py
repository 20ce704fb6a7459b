"""A real mosquitto on loopback, with or without TLS and ACL, and its own clients to ask it with."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import textwrap
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

from living import wait_for

MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
HAS_BROKER = MOSQUITTO is not None and shutil.which("mosquitto_sub") is not None
HAS_CERTIFICATES = shutil.which("openssl") is not None
FLEET_PAGE = Path(__file__).parents[1] / "docs/fleet.md"
EVENTS_PAGE = Path(__file__).parents[1] / "docs/events.md"
PASSWORD = "only-in-tests"  # noqa: S105 - of a broker that lives for a test


class Mosquitto:
    """A broker in a folder of its own, on a free port of loopback; it can be killed and come back."""

    def __init__(
        self,
        folder: Path,
        *,
        users: Mapping[str, str] | None = None,
        tls: bool = False,
        more: Iterable[str] = (),
    ) -> None:
        """`users` are names with the lines of their ACL; without any, whoever comes may do all."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = _held_port(self)
        self.tls = tls
        self.users = frozenset(users or ())
        self.certified = False
        self._process: subprocess.Popen[bytes] | None = None
        lines = [
            f"listener {self.port} 127.0.0.1",
            "log_dest none",
            "persistence_location " + f"{folder}/",
            *more,
        ]
        if os.geteuid() == 0:
            lines.append("user root")
        if tls:
            certificates(folder)
            lines += [
                f"cafile {folder}/ca.pem",
                f"certfile {folder}/broker.pem",
                f"keyfile {folder}/broker.key",
            ]
        if users is None:
            lines.append("allow_anonymous true")
        else:
            for name in users:
                ways = ["-b"] if (folder / "passwords").exists() else ["-c", "-b"]
                subprocess.run(["mosquitto_passwd", *ways, folder / "passwords", name, PASSWORD], check=True)
            acl = "\n".join(f"user {name}\n{rights}" for name, rights in users.items())
            (folder / "acl").write_text(acl + "\n")
            (folder / "acl").chmod(0o600)
            lines += ["allow_anonymous false", f"password_file {folder}/passwords", f"acl_file {folder}/acl"]
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o600)

    @classmethod
    def documented(cls, folder: Path, names: Iterable[str], *, certified: bool = False) -> Self:
        """The broker of docs/fleet.md as it stands there, but for its places and one `root` who reads all.

        `names` are its clients; an extractor's rights are those of the page's own. `certified`: they
        show certificates in place of passwords, as the page says.
        """
        made = cls(folder, users=dict.fromkeys((*names, "root"), ""), tls=True)
        conf, acl, instead = blocks_of(FLEET_PAGE)
        for there, here in (
            ("listener 8883", f"listener {made.port} 127.0.0.1"),
            ("/etc/mosquitto/", f"{folder}/"),
        ):
            assert there in conf
            conf = conf.replace(there, here)
        given = ["log_dest none", "persistence true", f"persistence_location {folder}/"]
        if os.geteuid() == 0:
            given.append("user root")
        if certified:
            conf = "\n".join(line for line in conf.splitlines() if not line.startswith("password_file"))
            given += instead.splitlines()
            made.certified = True
        (folder / "mosquitto.conf").write_text("\n".join([conf, *given, ""]))
        rights, _, one = acl.partition("user extractor-1\n")
        assert "extractor-1" in one
        extractors = [name for name in names if name.startswith("extractor-")]
        blocks = [f"user {name}\n{one.replace('extractor-1', name)}" for name in extractors]
        (folder / "acl").write_text("\n".join([rights, *blocks, "user root\ntopic read #", ""]))
        for name in (*names, "root"):
            certificate(folder, name, name)
        return made

    @property
    def url(self) -> str:
        return f"{'mqtts' if self.tls else 'mqtt'}://localhost:{self.port}"

    def start(self) -> None:
        assert MOSQUITTO is not None
        self._process = subprocess.Popen(
            [MOSQUITTO, "-c", self.folder / "mosquitto.conf"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self._listens, 30, lambda: "mosquitto does not listen")

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "mosquitto.conf").read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(30)
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def client(self, user: str = "") -> list[str]:
        """The arguments that mosquitto's own clients need."""
        asked = ["-h", "localhost" if self.tls else "127.0.0.1", "-p", str(self.port), "-V", "5"]
        if self.certified:
            asked += ["--cert", str(self.folder / f"{user}.pem"), "--key", str(self.folder / f"{user}.key")]
        elif user:
            asked += ["-u", user, "-P", PASSWORD]
        if self.tls:
            asked += ["--cafile", str(self.folder / "ca.pem")]
        return asked

    def settings(self, user: str = "") -> dict[str, str]:
        """The environment by which extractord reaches this broker."""
        given = {"EXTRACTORD_MQTT__URL": self.url, "EXTRACTORD_MQTT__NAME": "here"}
        if self.certified:
            given |= {
                "EXTRACTORD_MQTT__CERT_FILE": str(self.folder / f"{user}.pem"),
                "EXTRACTORD_MQTT__KEY_FILE": str(self.folder / f"{user}.key"),
            }
        elif user:
            given |= {
                "EXTRACTORD_MQTT__USER": user,
                "EXTRACTORD_MQTT__PASSWORD_FILE": str(self.folder / "password"),
            }
        if self.tls:
            given["EXTRACTORD_MQTT__CA_FILE"] = str(self.folder / "ca.pem")
        return given

    def publish(self, topic: str, payload: str | bytes, user: str = "", *, retain: bool = False) -> None:
        raw = payload.encode() if isinstance(payload, str) else payload
        command = ["mosquitto_pub", *self.client(user), "-q", "1", "-t", topic, "-s" if raw else "-n"]
        subprocess.run(
            [*command, *(["-r"] if retain else [])],
            input=raw,
            check=True,
            timeout=60,
            stderr=subprocess.DEVNULL,
        )

    def retained(self, topic: str, user: str = "") -> dict[str, bytes]:
        """What the broker retains on these topics: all of it is told before what is said after that."""
        mark = f"mark/{time.monotonic_ns()}"
        with self.heard(topic, mark, user=user) as heard:
            self.publish(mark, "x", user)
            heard.wait_for(lambda: heard.on(mark))
            return {there: payload for there, payload, _ in heard.messages() if payload and there != mark}

    @contextlib.contextmanager
    def heard(self, *topics: str, user: str = "", session: str = "") -> Iterator[Subscriber]:
        """What mosquitto_sub hears on these topics, from when it has subscribed.

        Under the name of a `session` the broker keeps for an hour what comes while nobody hears.
        """
        file = self.folder / f"heard-{time.monotonic_ns()}"
        wanted = [each for topic in topics for each in ("-t", topic)]
        with file.open("wb") as out:
            process = subprocess.Popen(
                [
                    "stdbuf",
                    "-oL",
                    "mosquitto_sub",
                    *self.client(user),
                    *(["-c", "-i", session, "-x", "3600"] if session else []),
                    "-q",
                    "1",
                    "-d",
                    "-F",
                    "=>%t\t%r\t%x",
                    *wanted,
                ],
                stdout=out,
            )
        subscriber = Subscriber(file)
        try:
            subscriber.wait_for(lambda: b"Subscribed (mid" in file.read_bytes())
            yield subscriber
        finally:
            process.terminate()
            process.wait(30)


class Subscriber:
    """What came so far."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def messages(self) -> list[tuple[str, bytes, bool]]:
        """Topic, payload and whether it was retained, in order."""
        found = []
        for line in self._file.read_text("utf-8", "replace").rpartition("\n")[0].splitlines():  # whole ones
            if line.startswith("=>") and line.count("\t") == 2:
                topic, retained, payload = line[2:].split("\t")
                found.append((topic, bytes.fromhex(payload), retained == "1"))
        return found

    def on(self, topic: str) -> list[bytes]:
        return [payload for there, payload, _ in self.messages() if there == topic]

    def wait_for(self, claim: Callable[[], object], seconds: float = 60.0) -> None:
        wait_for(claim, seconds, lambda: f"it did not come; there were {self.messages()[-3:]}")


def certificates(folder: Path) -> None:
    """An authority and a broker's certificate, of a day's life."""
    _openssl(
        folder, "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem",
        "-addext", "keyUsage=critical,keyCertSign,cRLSign",
    )  # fmt: skip
    certificate(folder, "broker", "localhost")


def certificate(folder: Path, name: str, subject: str) -> None:
    """Files `name`.pem and `name`.key, signed by the folder's authority."""
    _openssl(
        folder, f"/CN={subject}", "-keyout", f"{name}.key", "-out", f"{name}.pem",
        "-CA", "ca.pem", "-CAkey", "ca.key", "-addext", f"subjectAltName=DNS:{subject}",
        "-addext", "basicConstraints=critical,CA:FALSE",
    )  # fmt: skip
    (folder / f"{name}.key").chmod(0o600)


def _openssl(folder: Path, subject: str, *more: str) -> None:
    ask = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*ask, "-days", "1", "-subj", subject, *more], check=True, capture_output=True, cwd=folder)


def blocks_of(page: Path) -> list[str]:
    """The blocks that are files of a broker's: each begins with the file's name in a comment."""
    blocks = re.findall(r"```\n( *# /etc/mosquitto/.*?)```", page.read_text(), re.DOTALL)
    return [textwrap.dedent(block) for block in blocks]


def _held_port(holder: object) -> int:
    """A free port, bound and not listened on: while the holder lives no other is given it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a broker's is too: it may listen there
    held.bind(("127.0.0.1", 0))
    weakref.finalize(holder, held.close)
    return int(held.getsockname()[1])
