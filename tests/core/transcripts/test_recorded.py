from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.transcripts.recorded import (
    absolute,
    clean,
    instant,
    parts,
    patch_paths,
    script_reads,
    script_writes,
    shell_reads,
    shell_writes,
    shortened,
    text_key,
)

CWD = "/home/dev/shop"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("a.md", CWD, "/home/dev/shop/a.md"),
        ("./x/../a.md", CWD, "/home/dev/shop/a.md"),
        ("../memory/a.md", CWD, "/home/dev/memory/a.md"),
        ("/a//b/./c/", CWD, "/a/b/c"),
        ("/../a", CWD, "/a"),
        ("/", CWD, "/"),
        ("~/memory/a.md", CWD, "/home/dev/memory/a.md"),
        ("~/a.md", "/Users/ann/x", "/Users/ann/a.md"),
        ("~/a.md", "/root", "/root/a.md"),
        ("~/a/../b.md", "/srv/shop", "~/b.md"),
        ("~", "/srv/shop", "~"),
        ("~/a.md", None, "~/a.md"),
        ("$HOME/a.md", CWD, "/home/dev/a.md"),
        ("${HOME}/a.md", CWD, "/home/dev/a.md"),
        ("a/../../b", None, "../b"),
        ("file:///home/dev/a.md", None, "/home/dev/a.md"),
        ("C:\\work\\..\\a.md", CWD, "C:/a.md"),
        ("x\\a.md", "C:\\work", "C:/work/x/a.md"),
    ],
)
def test_a_recorded_path_becomes_absolute_where_it_can(path: str, cwd: str | None, expected: str) -> None:
    assert absolute(path, cwd) == expected


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("cat >> /m/log.md <<'EOF'\nline > x\nrm y\nEOF", ["/m/log.md"]),
        ("cat <<EOF > a.md\nit's \"open\nEOF\necho hi > b.md", ["a.md", "b.md"]),
        ("cat <<-A <<B > a.md\n> x\n\tA\n> y\nB\n", ["a.md"]),
        ("tee -a ~/memory/log.md <<< hi", ["/home/dev/memory/log.md"]),
        ("echo hi | tee a.md b.md", ["a.md", "b.md"]),
        ("sed -i 's/a/b/' z.md", ["z.md"]),
        ("sed -i '' -e 's/a/b/' z.md", ["z.md"]),
        ("perl -pi -e 's/a/b/' z.md", ["z.md"]),
        ("mv notes.md /m/", ["notes.md", "/m/notes.md"]),
        ("mv notes.md /m/n.md", ["notes.md", "/m/n.md"]),
        ("cp -t /m a.md b.md", ["/m/a.md", "/m/b.md"]),
        ("cp a.md", []),
        ("rm -f a.md && touch b.md; truncate -s 0 c.md", ["a.md", "b.md", "c.md"]),
        ("dd if=/dev/zero of=a.bin bs=1", ["a.bin"]),
        (
            "cd ../memory && (cd x; cat > y.md) && cat > z.md",
            ["/home/dev/memory/x/y.md", "/home/dev/memory/z.md"],
        ),
        ("cd && echo x > a.md", ["/home/dev/a.md"]),
        ('M=/m; echo x > "$M/a b.md" 2>&1 >/dev/null', ["/m/a b.md"]),
        ("export M=/m && echo x > ${M}/a.md", ["/m/a.md"]),
        ("echo x > $UNKNOWN", []),
        ("bash -lc 'cd /m && echo hi > q.md'", ["/m/q.md"]),
        ("bash -c", []),
        ('sh -c \'sh -c "sh -c \\"echo > a.md\\""\'', ["a.md"]),
        ("sudo FOO=1 tee /m/a.md", ["/m/a.md"]),
        ("for f in 1; do echo $f &> out.txt; done", ["out.txt"]),
        ("make 2> err.txt", ["err.txt"]),
        ("grep x > a.md # > b.md", ["a.md"]),
        ("echo a#b > c\\ d.md", ["c d.md"]),
        ("Set-Content notes.md x", ["notes.md"]),
        ("apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.md\n*** End Patch\nE\n", ["a.md"]),
        ("diff <(sort a) <(sort b) > out", ["out"]),
        ("git commit -m \"x -> y > z\" && echo 'a > b'", []),
        ("ls -la && git status", []),
        ("echo hi >", []),
    ],
)
def test_what_a_command_would_change_is_found(command: str, writes: list[str]) -> None:
    assert list(shell_writes(command, CWD)) == [absolute(path, CWD) for path in writes]


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("cat a.md b.md", ["a.md", "b.md"]),
        ("sed -n '1,20p' a.md", ["a.md"]),
        ("sed -e p a.md", ["a.md"]),
        ("grep -n foo a.md", ["a.md"]),
        ("wc -l < a.md", ["a.md"]),
        ("head -n 20 a.md | tee b.md", ["a.md"]),
        ("cp a.md /m/b.md", ["a.md"]),
        ("cd /m; cat a.md", ["/m/a.md"]),
        ("echo a.md", []),
    ],
)
def test_what_a_command_reads_is_found(command: str, reads: list[str]) -> None:
    assert list(shell_reads(command, CWD)) == [absolute(path, CWD) for path in reads]


def test_a_patch_names_its_files_once_each() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: /m/a.md\n+x\n*** Update File: b.md \n*** Move to: c.md\r\n"
        "*** Delete File: d.md\n*** Update File: b.md\n*** End Patch"
    )
    assert patch_paths(patch, CWD) == ("/m/a.md", f"{CWD}/b.md", f"{CWD}/c.md", f"{CWD}/d.md")


def test_a_program_is_scanned_for_commands_and_patches() -> None:
    program = (
        'const p = "*** Begin Patch\\n*** Add File: a.md\\n+\\u00e9\\n*** End Patch";\n'
        "await tools.apply_patch(p);\n"
        "await tools.exec_command({cmd: `mv n.md ${process.env.HOME}/memory/n.md`, 'workdir': '/w'});\n"
        "await tools.exec_command({\"cmd\": 'cat b.md'});"
    )
    assert script_writes(program, CWD) == ("/w/n.md", "~/memory/n.md", f"{CWD}/a.md")
    assert script_reads(program, CWD) == (f"{CWD}/b.md",)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-30T12:00:00Z", NOON),
        ("2026-11-30T13:00:00+01:00", NOON),
        ("2026-11-30T12:00:00", NOON),
        (1796040000, NOON),
        (1796040000000, NOON),
        (1796040000.0, NOON),
        ("yesterday", None),
        (True, None),
        (None, None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_an_instant_is_read_from_text_seconds_or_milliseconds(
    value: object, expected: datetime | None
) -> None:
    assert instant(value) == expected


def test_injected_memory_stands_apart_from_what_is_around_it() -> None:
    text = "before <extractord-memory id=m1>x</extractord-memory> after <extractord-memory id=m2>open"
    assert list(parts(text)) == [
        ("before", False),
        ("<extractord-memory id=m1>x</extractord-memory>", True),
        ("after", False),
        ("<extractord-memory id=m2>open", True),
    ]
    assert list(parts("<extractord-memory>x</extractord-memory>")) == [
        ("<extractord-memory>x</extractord-memory>", True)
    ]
    assert list(parts("no memory")) == [("no memory", False)]


def test_a_long_output_keeps_head_and_tail_and_says_what_is_gone() -> None:
    text = "h" * 40_000 + "t" * 40_000
    cut = shortened(text)
    assert cut == "h" * 32_768 + "\n[… 14464 characters left out …]\n" + "t" * 32_768
    assert shortened("short") == "short"


def test_a_lone_surrogate_is_replaced_and_a_key_is_the_same_for_a_copy() -> None:
    assert clean("a\ud800b") == "a\ufffdb"
    assert text_key("a\ud800", 0) == text_key("a\ufffd", 0)
    assert len({text_key("a", 0), text_key("a", 1), text_key("b", 0)}) == 3


@settings(max_examples=150)
@given(st.text(alphabet="ab/~.<>|&;()'\"\\$#{}` \n-=*:", max_size=60), st.sampled_from([CWD, None, "/root"]))
def test_no_command_and_no_program_is_too_odd(text: str, cwd: str | None) -> None:
    for path in (*shell_writes(text, cwd), *script_writes(text, cwd), *shell_reads(text, cwd)):
        assert path.startswith(("/", "~")) or cwd is None
    script_reads(text, cwd)
    absolute(text, cwd)


@pytest.mark.parametrize(
    "odd",
    ["${", "$(", "'", '"', "\\", "<<A ", "> a", "cd a;", "( ", "A=$A$A;", '"\\', "x" * 7, "` ", "a: ", " "],
)
def test_no_command_takes_for_ever(odd: str) -> None:
    began = time.process_time()
    shell_writes("echo > a;" + odd * (100_000 // len(odd)), CWD)
    script_writes(odd * (100_000 // len(odd)), CWD)
    patch_paths("*** Add File: " + odd * (100_000 // len(odd)), CWD)
    list(parts("<extractord-memory " * 10_000 + odd))
    assert time.process_time() - began < 4
