"""Charts as SVG text that takes on the ink of the page around it: no script, no link, nothing loaded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

import pygal
from pygal.style import Style

Series = Mapping[str, Sequence[float | None]]
"""Values by the name of their series, one for each label; None where there is none."""

_COLOURS = ("#4086cc", "#d1722b", "#3f9a65", "#b9578d", "#94823a", "#7878b5")
"""Seen on white as on black."""
_INK, _GUIDE = "currentColor", "rgba(128,128,128,.28)"
_SCRIPT = re.compile(r"<script\b.*?</script>|<!--.*?-->|\sxmlns:xlink=\"[^\"]*\"", re.DOTALL)
_SIZE = (900, 380)
_LONG_LABEL, _MANY_LABELS = 12, 6


def bars(
    title: str,
    labels: Sequence[str],
    series: Series,
    *,
    unit: str = "",
    top: float | None = None,
    lying: bool = False,
    size: tuple[int, int] = _SIZE,
) -> str:
    """Given a title, labels and series, return a bar chart as SVG.

    `unit` is written behind each value, `top` is the axis' end, `lying` bars go to the right and take
    the height that they need; `size` is width and height.
    """
    kind = pygal.HorizontalBar if lying else pygal.Bar
    return _drawn(kind, title, labels, series, unit, top, size)


def lines(
    title: str,
    labels: Sequence[str],
    series: Series,
    *,
    unit: str = "",
    top: float | None = None,
    size: tuple[int, int] = _SIZE,
) -> str:
    """Given a title, labels and series, return a line chart as SVG; a None leaves a gap."""
    return _drawn(pygal.Line, title, labels, series, unit, top, size)


def _drawn(
    kind: Callable[..., pygal.Graph],
    title: str,
    labels: Sequence[str],
    series: Series,
    unit: str,
    top: float | None,
    size: tuple[int, int],
) -> str:
    lying = kind is pygal.HorizontalBar
    crowded = len(labels) > _MANY_LABELS or any(len(label) > _LONG_LABEL for label in labels)
    chart = kind(
        js=[],
        disable_xml_declaration=True,
        style=_style(),
        title=title,
        width=size[0],
        height=max(260, 120 + len(labels) * 18 * max(1, len(series))) if lying else size[1],
        margin=12,
        show_legend=len(series) > 1,
        legend_at_bottom=True,
        x_label_rotation=35 if crowded and not lying else 0,
        truncate_label=-1,
        truncate_legend=-1,
        range=(0, top) if top is not None else None,
        include_x_axis=True,
        value_formatter=lambda value: _spelt(value, unit),
    )
    chart.uuid = "chart-" + hashlib.sha256(repr((title, labels, series)).encode()).hexdigest()[:12]
    order = slice(None, None, -1) if lying else slice(None)  # the first label stands on top
    chart.x_labels = list(labels)[order]
    for name, values in series.items():
        chart.add(name, list(values)[order])
    return _SCRIPT.sub("", chart.render(is_unicode=True))


def _spelt(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return f"{number} {unit}".rstrip()


def _style() -> Style:
    return Style(
        background="transparent",
        plot_background="transparent",
        foreground=_INK,
        foreground_strong=_INK,
        foreground_subtle=_GUIDE,
        guide_stroke_color=_GUIDE,
        guide_stroke_dasharray="none",
        major_guide_stroke_color=_GUIDE,
        major_guide_stroke_dasharray="none",
        opacity=".85",
        colors=_COLOURS,
        font_family="system-ui, sans-serif",
        title_font_size=18,
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=13,
        tooltip_font_size=12,
        transition="0s",
    )
