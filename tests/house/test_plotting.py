from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from extractord.cli.plotting import bars, lines

LABELS = ("secret in prose", "deadline <b>")
SERIES = {"heuristic": (1.0, 2.5), "a & b": (3.0, None)}
CHARTS = [
    bars("Kept", LABELS, SERIES, unit="%", top=100),
    bars("Kept", LABELS, SERIES, lying=True),
    lines("Kept", LABELS, SERIES),
]


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_whole_svg_that_shows_its_labels_and_series(chart: str) -> None:
    root = ET.fromstring(chart)  # noqa: S314 - made here
    words = " ".join(root.itertext())
    assert root.tag.endswith("svg")
    assert all(word in words for word in (*LABELS, *SERIES, "Kept"))


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_has_no_script_no_link_and_loads_nothing(chart: str) -> None:
    assert "<script" not in chart
    assert not re.search(r"@import|url\(\s*['\"]?http|href=", chart)
    assert set(re.findall(r"https?://[^\s\"'<)]+", chart)) <= {"http://www.w3.org/2000/svg"}


def test_the_same_chart_is_the_same_text_and_another_has_another_id() -> None:
    assert bars("Kept", LABELS, SERIES) == bars("Kept", LABELS, SERIES)
    assert bars("Kept", LABELS, SERIES) != bars("False", LABELS, SERIES)


def test_a_chart_of_nothing_is_drawn_all_the_same() -> None:
    assert ET.fromstring(bars("Nothing", (), {})).tag.endswith("svg")  # noqa: S314 - made here
