"""Dates in the formats of providers and pages → `2024-02-20`; None if the date is ambiguous. Pure."""

import re
from datetime import date, timedelta

ISO = re.compile(r"\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
COMPACT = re.compile(r"\s*(\d{4})(\d{2})(\d{2})(?!\d)")
DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\.? ([A-Za-z]{3,9})\.?,? (\d{4})\b")
MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")
DOTTED = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
AGO = re.compile(
    r"\b(\d{1,4}|an?) (second|minute|min|hour|day|week|month|year)s? ago\b", re.IGNORECASE
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
TODAY = {"today", "just now"}
YESTERDAY = "yesterday"
MAX_LENGTH = 60


def to_date(text: str | None, today: date) -> str | None:
    """The date in ISO format; an age such as "2 days ago" is counted back from `today`."""
    written = (text or "")[:MAX_LENGTH].strip()
    found = _ymd(written) or _named(written) or _ago(written, today)
    return found.isoformat() if found else None


def _ymd(text: str) -> date | None:
    if match := ISO.match(text) or COMPACT.match(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := DOTTED.match(text):
        return _date(int(match[3]), int(match[2]), int(match[1]))
    return None


def _named(text: str) -> date | None:
    if match := DAY_FIRST.search(text):
        return _date(int(match[3]), _month(match[2]), int(match[1]))
    if match := MONTH_FIRST.search(text):
        return _date(int(match[3]), _month(match[1]), int(match[2]))
    return None


def _ago(text: str, today: date) -> date | None:
    lowered = text.lower()
    if lowered in TODAY:
        return today
    if lowered == YESTERDAY:
        return today - timedelta(days=1)
    match = AGO.search(text)
    if match is None:
        return None
    count = int(match[1]) if match[1].isdecimal() else 1
    try:
        return today - timedelta(days=count * DAYS.get(match[2].lower(), 0))
    except OverflowError:
        return None


def _month(name: str) -> int:
    """The month's number; 0, which is no month, if unknown."""
    short = name[:3].lower()
    return MONTHS.index(short) + 1 if short in MONTHS else 0


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
