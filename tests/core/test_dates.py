"""Dates and numbers in any notation, and relative ones from the day on which they were said."""

from __future__ import annotations

from datetime import date

import pytest

from extractord.core.dates import days_said, is_said, written_dates
from extractord.core.folding import fold
from extractord.core.numerals import numbers, spelt_numbers
from extractord.core.relative_dates import relative_days

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    "text",
    [
        "1 December 2026",
        "December 1st, 2026",
        "2026-12-01",
        "2026/12/1",
        "1.12.2026",
        "12/01/2026",
        "2026年12月1日",
        "1er décembre",
        "1. Dezember",
        "el 1 de diciembre de 2026",
        "am 1.12. ist",
        "Dec 1",
    ],
)
def test_a_date_is_the_same_in_every_notation(text: str) -> None:
    assert is_said((2026, 12, 1), days_said(text, MONDAY))
    assert not is_said((2026, 12, 2), days_said(text, MONDAY))


def test_a_two_figure_year_is_this_centurys() -> None:
    assert is_said((2026, 12, 1), days_said("01.12.26", MONDAY))


def test_a_date_without_a_year_said_at_no_known_time_fits_every_year() -> None:
    assert is_said((2031, 12, 1), days_said("1 December", None))
    assert not is_said((2031, 12, 1), days_said("1 December", MONDAY))


@pytest.mark.parametrize("text", ["version 1.12.3", "v3.11.2", "10:45", "no date", "31.2.2026", "99/99/2026"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert written_dates(fold(text)) == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("tomorrow", {"12-01"}),
        ("the day after tomorrow", {"12-02"}),
        ("next Friday", {"12-04", "12-11"}),
        ("by the end of the month", {"11-30"}),
        ("by the end of next month", {"12-31"}),
        ("last Tuesday", {"11-24", "11-17"}),
        ("in two weeks", {"12-14"}),
        ("a week ago", {"11-23"}),
        ("3 days ago", {"11-27"}),
        ("year-end", {"12-31"}),
        ("übermorgen", {"12-02"}),
        ("nächsten Freitag", {"12-04", "12-11"}),
        ("bis Ende des Monats", {"11-30"}),
        ("in drei Wochen", {"12-21"}),
        ("vor 2 Tagen", {"11-28"}),
        ("demain", {"12-01"}),
        ("vendredi prochain", {"12-04", "12-11"}),
        ("fin du mois", {"11-30"}),
        ("dans 3 jours", {"12-03"}),
        ("mañana", {"12-01"}),
        ("el próximo viernes", {"12-04", "12-11"}),
        ("fin de mes", {"11-30"}),
        ("dentro de dos semanas", {"12-14"}),
        ("明天", {"12-01"}),
        ("下周五", {"12-04", "12-11"}),
        ("月底", {"11-30"}),
        ("三天后", {"12-03"}),
        ("明日", {"12-01"}),
        ("来週の金曜日", {"12-04", "12-11"}),
        ("来月末", {"12-31"}),
        ("3日前", {"11-27"}),
        ("next week", {f"12-{day:02}" for day in range(7, 14)}),
        ("la semana pasada", {"11-23", "11-24", "11-25", "11-26", "11-27", "11-28", "11-29"}),
        ("this month", {"11-01", "11-30"}),
        ("le mois prochain", {"12-01", "12-31"}),
        ("next year", {"01-01", "12-31"}),
        ("in 3 months", {"02-28"}),
        ("in two years", {"11-30"}),
        ("by the end of the week", {"12-04", "12-05", "12-06"}),
        ("end of next quarter", {"03-31"}),
        ("before year-end", {"12-31"}),
        ("on Monday", {"11-30", "12-07"}),
        ("this Friday", {"11-27", "12-04"}),
        ("in 2000 days", set()),
        ("three days of work", set()),
        ("you may hold it", set()),
    ],
)
def test_a_relative_date_is_counted_from_the_day_it_was_said(text: str, days: set[str]) -> None:
    assert {f"{day:%m-%d}" for day in relative_days(text, MONDAY)} == days


@pytest.mark.parametrize("year", [1, 9999])
def test_no_day_is_too_far(year: int) -> None:
    assert relative_days("in 900 years", date(year, 1, 1)) == frozenset()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("three of twenty-five", {"3", "25"}),
        ("two hundred", {"200"}),
        ("dreiundzwanzig", {"23"}),
        ("quatre-vingt-dix-sept", {"97"}),
        ("treinta y cinco", {"35"}),
        ("三十五", {"35"}),
        ("一百二十三", {"123"}),
        ("十万", {"100000"}),
        ("2,000", {"2.000", "2000"}),
        ("1.10", {"1.10"}),
        ("5GB", {"5"}),
        ("cinq mille", {"5000"}),
        ("二〇二六", {"2026"}),
        ("quatre-vingts", {"80"}),
        ("v2 utf8", set()),
    ],
)
def test_a_number_is_the_same_in_figures_and_words(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_words_that_mean_other_things_need_no_number() -> None:
    assert list(spelt_numbers("once a cent 一, then two")) == [("two", 2)]
