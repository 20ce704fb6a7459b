"""The settings: their names, types, defaults and uses."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from extractord.core.wire import Price

PLACES = ("config_file", "data_dir", "state_dir")
"""Fields that say where things are; every other one can be set."""
MQTT_FILES = {"password_file": True, "key_file": True, "ca_file": False, "cert_file": False}
"""Keys of [mqtt] that name files, and whether such a file is a secret."""

Count = Annotated[int, Meta(ge=0)] | Literal["unlimited"]
Dollars = Annotated[float, Meta(ge=0)] | Literal["unlimited"]
Seconds = Annotated[float, Meta(ge=0)]


class Memory(Struct, frozen=True, kw_only=True):
    """The section [memory]."""

    dir: Annotated[str, Meta(description="where memories live; empty: <data>/memory")] = ""


class Model(Struct, frozen=True, kw_only=True):
    """The section [model]."""

    name: Annotated[
        str, Meta(description='"heuristic", the embedded model, or any name that litellm knows')
    ] = "heuristic"
    key_file: Annotated[str, Meta(description="a file of mode 0600 that holds the API key alone")] = ""
    base_url: Annotated[str, Meta(description="a local server or proxy instead of the provider's own")] = ""
    timeout_s: Annotated[Seconds, Meta(description="how long one request may take")] = 60.0
    retries: Annotated[int, Meta(ge=0, description="retries of a request whose failure may pass")] = 4
    output_tokens: Annotated[int, Meta(ge=256, description="the longest reply asked for")] = 4096
    context_tokens: Annotated[int, Meta(ge=4096, description="the longest brief sent")] = 24_000
    prices: Annotated[
        dict[str, Price],
        Meta(description="dollars a million tokens of a model (input, output, cached), instead of litellm's"),
    ] = {}
    idle_s: Annotated[Seconds, Meta(description="the model host is stopped after this long unused")] = 300.0


class Run(Struct, frozen=True, kw_only=True):
    """The section [run]."""

    concurrency: Annotated[int, Meta(ge=1, description="runs at once; one at a time in a project")] = 2
    settle_s: Annotated[
        Seconds, Meta(description="quiet that ends an exchange of an agent that does not mark its end")
    ] = 20.0
    drain_s: Annotated[Seconds, Meta(description="how long runs in flight may take to end after SIGTERM")] = (
        60.0
    )
    polling: Annotated[bool, Meta(description="poll instead of inotify (network folders)")] = False
    rescan_s: Annotated[Seconds, Meta(description="look through every source again after this long")] = 600.0


class Projects(Struct, frozen=True, kw_only=True):
    """The section [projects]."""

    worktrees: Annotated[
        Literal["shared", "separate"],
        Meta(description="worktrees of one repository share memories, or each has its own"),
    ] = "shared"
    exclude: Annotated[tuple[str, ...], Meta(description="directories whose sessions are never read")] = ()
    identities: Annotated[
        dict[str, str],
        Meta(description="a name for a directory, so that its memories survive a move"),
    ] = {}


class Agent(Struct, frozen=True, kw_only=True):
    """A section [agents.<name>]."""

    enabled: Annotated[bool, Meta(description="read this agent's transcripts")] = True
    headless: Annotated[bool, Meta(description="its prompts come from a program: never `stated`")] = False
    paths: Annotated[tuple[str, ...], Meta(description="folders instead of the standard ones")] = ()


class Budget(Struct, frozen=True, kw_only=True):
    """The section [budget]."""

    turns: Annotated[int, Meta(ge=1, le=5, description="replies of the model a run")] = 5
    run_s: Annotated[Seconds, Meta(description="seconds a run")] = 120.0
    run_requests: Annotated[Count, Meta(description="requests a run")] = 8
    run_tokens: Annotated[Count, Meta(description="tokens a run")] = 200_000
    day_requests: Annotated[Count, Meta(description='requests a day, or "unlimited"; 0 is zero')] = 200
    day_tokens: Annotated[Count, Meta(description='tokens a day, or "unlimited"')] = 2_000_000
    day_dollars: Annotated[Dollars, Meta(description='dollars a day, or "unlimited"')] = 1.0
    soft: Annotated[
        float, Meta(ge=0, le=1, description="the share of a day's budget after which status warns")
    ] = 0.8
    attempts: Annotated[int, Meta(ge=1, description="failed attempts after which a run is parked")] = 3


class Keep(Struct, frozen=True, kw_only=True):
    """The section [keep]."""

    history_days: Annotated[
        Count,
        Meta(description="days that old versions of memories are kept; `config check` says what will go"),
    ] = "unlimited"
    audit_days: Annotated[
        Count, Meta(description="days that rows of the audit are kept; `config check` says what will go")
    ] = "unlimited"
    runs_days: Annotated[
        Count,
        Meta(description="days that runs and decided reviews are kept; `config check` says what will go"),
    ] = "unlimited"


class Mqtt(Struct, frozen=True, kw_only=True):
    """The section [mqtt]: off where `url` is empty."""

    url: Annotated[
        str,
        Meta(
            description="the broker: mqtts://host[:8883], or mqtt://host[:1883] on this machine; empty: none"
        ),
    ] = ""
    name: Annotated[str, Meta(description="this daemon's level in the topics; empty: the machine's name")] = (
        ""
    )
    user: Annotated[str, Meta(description="our user name at the broker")] = ""
    password_file: Annotated[str, Meta(description="a file of mode 0600 that holds the password alone")] = ""
    ca_file: Annotated[str, Meta(description="who signed the broker's certificate; empty: the system's")] = ""
    cert_file: Annotated[str, Meta(description="our own certificate, if the broker asks for one")] = ""
    key_file: Annotated[str, Meta(description="its key, mode 0600")] = ""
    say: Annotated[
        bool, Meta(description="publish events and take requests; false: only what `run --role` needs")
    ] = True
    hear: Annotated[bool, Meta(description="obey the requests extract, pause, resume and drain")] = True
    outbox: Annotated[
        int, Meta(ge=1, description="events kept while the broker is away; the oldest go first")
    ] = 10_000


class Fleet(Struct, frozen=True, kw_only=True):
    """The section [fleet]: for `run --role`, over the broker of [mqtt]."""

    person: Annotated[
        str, Meta(description="whose sessions these are, the same on each machine; empty: user@host")
    ] = ""
    partitions: Annotated[
        int, Meta(ge=1, le=256, description="the fleet's number of partitions, the same on each machine")
    ] = 16
    again_s: Annotated[
        Seconds, Meta(description="a window without a receipt is sent again after this long, then ever later")
    ] = 300.0
    inbox: Annotated[
        int,
        Meta(
            ge=1, description="windows that an extractor takes ahead of its work; the broker keeps the others"
        ),
    ] = 10_000


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set; `config_file`, `data_dir` and `state_dir` are places."""

    mode: Annotated[
        Literal["auto", "ask", "recall"],
        Meta(description="auto commits what is allowed; ask holds everything; recall extracts nothing"),
    ] = "auto"
    confinement: Annotated[
        Literal["required", "best-effort", "off"],
        Meta(description="what to do where the kernel cannot confine the sub-agent"),
    ] = "required"
    log: Annotated[
        Literal["logfmt", "json"],
        Meta(description="the format of `run`'s log on standard error, a line an event"),
    ] = "logfmt"
    memory: Memory = Memory()
    model: Model = Model()
    run: Run = Run()
    projects: Projects = Projects()
    agents: dict[str, Agent] = {}
    budget: Budget = Budget()
    keep: Keep = Keep()
    mqtt: Mqtt = Mqtt()
    fleet: Fleet = Fleet()
    config_file: Path = Path()
    data_dir: Path = Path()
    state_dir: Path = Path()

    def kept_since(self, now: datetime) -> tuple[datetime | None, datetime | None, datetime | None]:
        """Since when versions, audit rows and runs are kept; None for ever."""
        days = (self.keep.history_days, self.keep.audit_days, self.keep.runs_days)
        history, audit, runs = (None if each == "unlimited" else now - timedelta(days=each) for each in days)
        return history, audit, runs

    @property
    def memory_dir(self) -> Path:
        """Where memories live, absolute."""
        return Path(self.memory.dir).expanduser().absolute() if self.memory.dir else self.data_dir / "memory"
