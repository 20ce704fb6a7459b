import pytest
from msgspec.structs import replace

from extractord.core.records import Entry, Exchange, Origin, Project, Role, ToolCall
from extractord.core.touches import Touches, is_read_tool, placed, touches

ROOTS, HOME = ("/home/dev/memory", "/mnt/memory"), "/home/dev"
PROMPT = Entry(id="1", agent="pi", session="s", role=Role.USER, origin=Origin.HUMAN, text="what do we know")
SHOP = Project(slug="shop-0123456789abcdef", identity="shop", directory="/home/dev/shop")


def call(*paths: str, name: str = "read", writes: bool = False, ok: bool | None = True) -> ToolCall:
    return ToolCall(id="c", name=name, paths=paths, writes=writes, ok=ok)


def of(*calls: ToolCall, origin: Origin = Origin.SYNTHETIC) -> Touches:
    reply = Entry(id="2", agent="pi", session="s", role=Role.ASSISTANT, origin=origin, calls=calls)
    exchange = Exchange(agent="pi", session="s", key="1", entries=(PROMPT, reply), ended=True)
    return touches(exchange, ROOTS, HOME)


def test_a_read_of_a_memory_is_an_opening_however_the_path_is_spelt() -> None:
    assert of(
        call("~/memory/user/a.md"), call("/mnt/memory/projects/x/b/c.md", "/home/dev/memory/user/a.md")
    ) == (Touches(opened=("user/a.md", "projects/x/b/c.md")))


@pytest.mark.parametrize(
    "made",
    [
        call("/home/dev/memory/user/MEMORY.md"),
        call("/home/dev/memory/user"),
        call("/home/dev/memory/user/*.md", name="bash"),
        call("/home/dev/shop/README.md"),
        call("/home/dev/memory/user/a.md", ok=False),
        call("/home/dev/memory/user/a.md", writes=True, ok=False),
        call("/memory/user/a.md"),
        call("/etc/passwd", name="mcp__extractord__memory_read"),
    ],
)
def test_an_index_a_folder_a_pattern_a_failure_and_a_file_elsewhere_are_none(made: ToolCall) -> None:
    assert of(made) == Touches()


def test_a_write_is_no_opening_and_a_copied_call_is_neither() -> None:
    written = call("/home/dev/memory/user/a.md", name="write", writes=True)
    assert of(written) == Touches(written=("user/a.md",))
    assert of(written, call("/home/dev/memory/user/b.md"), origin=Origin.COPIED) == Touches()


@pytest.mark.parametrize(
    "name", ["memory_read", "mcp__extractord__memory_read", "memoryread", "extractord_memory_read"]
)
def test_our_servers_tool_opens_a_memory_of_the_sessions_project(name: str) -> None:
    made = call("/memory/project/ops/a.md", name=name)
    assert is_read_tool(name)
    found = of(made, replace(made, paths=("/memory/user/b.md",)))
    assert found == Touches(opened=("/memory/project/ops/a.md", "/memory/user/b.md"))
    assert [placed(place, SHOP) for place in (*found.opened, "user/c.md")] == [
        "projects/shop-0123456789abcdef/ops/a.md",
        "user/b.md",
        "user/c.md",
    ]
    assert not is_read_tool("memory_search")
