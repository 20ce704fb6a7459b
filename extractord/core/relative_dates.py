"""Relative dates of six languages, counted from the day on which they were said."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from extractord.core.folding import fold
from extractord.core.numerals import numbers

_WEEKDAYS = (
    "mondays? montags? lundis? lunes",
    "tuesdays? dienstags? mardis? martes",
    "wednesdays? mittwochs? mercredis? miercoles",
    "thursdays? donnerstags? jeudis? jueves",
    "fridays? freitags? vendredis? viernes",
    "saturdays? samstags? sonnabends? samedis? sabados?",
    "sundays? sonntags? dimanches? domingos?",
)
_HAN_WEEKDAYS = ("一 月", "二 火", "三 水", "四 木", "五 金", "六 土", "[日天] 日")
"""Chinese counts, Japanese names."""
_NEXT = (
    r"next|coming|nachste[nrsm]?|kommende[nrsm]?|prochaine?s?|proxim[oa]s?|que viene|下个?|下個?|来|翌|次の?"
)
_LAST = r"last|past|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|derniere?s?|pasad[oa]s?|上个?|上個?|先|前の"
_NEXT_WORD = re.compile(rf"(?:{_NEXT})")
_LAST_WORD = re.compile(rf"(?:{_LAST})")

_WEEK = r"weeks?|wochen?|semaines?|semanas?|周|週間?|星期"
_MONTH = r"months?|monat(?:e|en|s)?|mois|mes(?:es)?|个月|個月|か月|ヶ月|カ月|月"
_QUARTER = r"quarters?|quartals?|trimestres?|季度|四半期"
_YEAR = r"years?|jahre?[sn]?|ans?|annees?|anos?|年"
_DAYS = r"days?|tage?n?|jours?|dias?|天|日"
_DAYS_A_WEEK = 7
_FRIDAY, _SUNDAY = 4, 6
_MONTHS_A_YEAR = 12
_FAR = 1000
"""More units than this are no date that anybody means."""
_EARLIEST, _LATEST = 1100, 8900
"""Years from which so many units still lead to a date."""

_OFFSETS = (
    (-2, r"\bday before yesterday\b|\bvorgestern\b|\bavant.hier\b|\banteayer\b|前天|一昨日|おととい"),
    (2, r"\bday after tomorrow\b|\bubermorgen\b|\bapres.demain\b|\bpasado manana\b|[后後]天|明後日|あさって"),
    (0, r"\btoday\b|\btonight\b|\bheute\b|\baujourd.?hui\b|\bhoy\b|今天|今日|本日"),
    (1, r"\btomorrow\b|\bmorgen\b|\bdemain\b|\bmanana\b|明天|明日|あした"),
    (-1, r"\byesterday\b|\bgestern\b|\bhier\b|\bayer\b|昨天|昨日|きのう"),
)
_COUNTED = re.compile(
    r"(?P<before>\b(?:in|within|dans|en|dentro de|binnen|vor|il y a|hace)\s+)?"
    r"(?P<count>\d{1,4}|[^\W\d_]{1,20}|[一二两三四五六七八九十]{1,3})\s*"
    rf"(?:(?P<week>{_WEEK})|(?P<month>{_MONTH})|(?P<year>{_YEAR})|(?P<day>{_DAYS}))"
    r"(?:\s*(?P<after>ago\b|from now\b|later\b|以?[后後]|以?前))?"
)
_END = re.compile(
    r"(?:\bend of|\bende|\bfin(?:al(?:es)?)?(?: du| de| d')|\blate)\b(?P<between>(?:\W+\w+){0,3}?)\W+"
    rf"(?:(?P<week>{_WEEK})|(?P<month>{_MONTH})|(?P<quarter>{_QUARTER})|(?P<year>{_YEAR}))\b(?P<after>\W+\w+(?:\W+\w+)?)?"
    r"|(?P<han>(?:下个?|来|本|今|这个?)?)(?:(?P<hweek>[周週]末)|(?P<hmonth>月[底末])|(?P<hyear>年[底末]))"
    r"|\b(?P<gmonth>monatsende|month.end|eom)\b|\b(?P<gyear>jahresende|year.end|eoy)\b|\b(?P<gweek>weekend|wochenende|week-end|eow)\b"
)
_SPAN = re.compile(
    rf"(?P<first>{_NEXT}|{_LAST}|this|diese[rsnm]?|cette|ce|est[ea]|[本今这])\s*"
    rf"(?:(?P<week>{_WEEK})(?!の?[一二三四五六天日月火水木金土])|(?P<month>{_MONTH})|(?P<year>{_YEAR}))"
    rf"|\b(?P<fweek>semaine|semana)\s+(?P<wlast>{_NEXT}|{_LAST})|\b(?P<fmonth>mois|mes)\s+(?P<mlast>{_NEXT}|{_LAST})"
)


def _weekday(latin: str, counted: str, named: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?P<before>\b(?:{_NEXT}|{_LAST}))\W+)?\b(?:{latin.replace(' ', '|')})\b"
        rf"(?:\W+(?P<after>{_NEXT}|{_LAST})\b)?"
        rf"|(?P<han>[上下]个?|[来先]週の?|次の)?(?:(?:[周週]|星期|礼拜){counted}|{named}曜日?)"
    )


_WEEKDAY = tuple(_weekday(latin, *han.split()) for latin, han in zip(_WEEKDAYS, _HAN_WEEKDAYS, strict=True))


def relative_days(text: str, on: date) -> frozenset[date]:
    """Given words and the day on which they were said, return every day that they can mean.

    "Next Friday" is said of the coming one and of the one in the week after: both are given.
    A week gives each of its days, a month or year its first and last.
    """
    if not _EARLIEST <= on.year <= _LATEST:
        return frozenset()
    folded = fold(text)
    found = {day for read in (_offsets, _counted, _ends, _weekdays) for day in read(folded, on)}
    return frozenset(found.union(_spans(_END.sub(" ", folded), on)))


def _offsets(text: str, on: date) -> Iterator[date]:
    for days, pattern in _OFFSETS:
        if re.search(pattern, text):
            text = re.sub(pattern, " ", text)
            yield on + timedelta(days=days)


def _counted(text: str, on: date) -> Iterator[date]:
    for match in _COUNTED.finditer(text):
        past = (match["before"] or "").strip() in {"vor", "il y a", "hace"} or match["after"] in {
            "ago",
            "前",
            "以前",
        }
        if not (match["before"] or match["after"]):
            continue
        for value in numbers(match["count"]) | (
            {"1"} if match["count"] in {"a", "an", "einem", "einer"} else set()
        ):
            if not value.isdigit() or int(value) > _FAR:
                continue
            count = -int(value) if past else int(value)
            if match["day"] or match["week"]:
                days = count * (_DAYS_A_WEEK if match["week"] else 1)
                yield on + timedelta(days=days)
            else:
                months = count * (_MONTHS_A_YEAR if match["year"] else 1)
                yield _months_on(on, months)


def _ends(text: str, on: date) -> Iterator[date]:
    for match in _END.finditer(text):
        around = f"{match['between'] or ''} {match['after'] or ''} {match['han'] or ''}"
        ahead = 1 if _NEXT_WORD.search(around) else 0
        if match["week"] or match["hweek"] or match["gweek"]:
            monday = on - timedelta(days=on.weekday()) + timedelta(days=_DAYS_A_WEEK * ahead)
            for weekday in range(_FRIDAY, _SUNDAY + 1):
                yield monday + timedelta(days=weekday)
        elif match["month"] or match["hmonth"] or match["gmonth"]:
            yield _last_of(_months_on(on.replace(day=1), ahead))
        elif match["quarter"]:
            last = (on.month - 1) // 3 * 3 + 2 - (on.month - 1) + 3 * ahead
            yield _last_of(_months_on(on.replace(day=1), last))
        else:
            yield date(on.year + ahead, _MONTHS_A_YEAR, 31)


def _spans(text: str, on: date) -> Iterator[date]:
    for match in _SPAN.finditer(text):
        which = match["first"] or match["wlast"] or match["mlast"]
        ahead = 1 if _NEXT_WORD.fullmatch(which) else -1 if _LAST_WORD.fullmatch(which) else 0
        if match["week"] or match["fweek"]:
            monday = on - timedelta(days=on.weekday()) + timedelta(days=_DAYS_A_WEEK * ahead)
            for weekday in range(_DAYS_A_WEEK):
                yield monday + timedelta(days=weekday)
        elif match["year"]:
            yield date(on.year + ahead, 1, 1)
            yield date(on.year + ahead, _MONTHS_A_YEAR, 31)
        else:
            yield _months_on(on.replace(day=1), ahead)
            yield _last_of(_months_on(on.replace(day=1), ahead))


def _weekdays(text: str, on: date) -> Iterator[date]:
    for weekday, pattern in enumerate(_WEEKDAY):
        for match in pattern.finditer(text):
            which = match["before"] or match["after"] or match["han"] or ""
            coming = (weekday - on.weekday() - 1) % _DAYS_A_WEEK + 1
            if _LAST_WORD.match(which):
                ahead = (coming - _DAYS_A_WEEK, coming - 2 * _DAYS_A_WEEK)
            elif _NEXT_WORD.match(which):
                ahead = (coming, coming + _DAYS_A_WEEK)
            elif coming == _DAYS_A_WEEK:
                ahead = (0, coming)
            else:
                ahead = (coming, coming - _DAYS_A_WEEK)
            for days in ahead:
                yield on + timedelta(days=days)


def _months_on(day: date, months: int) -> date:
    """The same day so many months later, or the month's last where it is shorter."""
    year, month = divmod(day.year * _MONTHS_A_YEAR + day.month - 1 + months, _MONTHS_A_YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _last_of(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])
