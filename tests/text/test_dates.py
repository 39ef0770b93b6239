"""Dates in the formats of providers and pages."""

from datetime import date

import pytest

from kindly.text.dates import to_date

TODAY = date(2024, 3, 10)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-02-20", "2024-02-20"),
        ("2024-02-20T10:00:00Z", "2024-02-20"),
        ("2024/2/3", "2024-02-03"),
        ("20240220", "2024-02-20"),
        ("20.02.2024", "2024-02-20"),
        ("Feb 20, 2024", "2024-02-20"),
        ("February 20, 2024", "2024-02-20"),
        ("20 February 2024", "2024-02-20"),
        ("Tue, 20 Feb 2024 10:00:00 GMT", "2024-02-20"),
        ("3rd March 2024", "2024-03-03"),
        ("2 days ago", "2024-03-08"),
        ("a week ago", "2024-03-03"),
        ("5 hours ago", "2024-03-10"),
        ("1 month ago", "2024-02-09"),
        ("yesterday", "2024-03-09"),
        ("Just now", "2024-03-10"),
        ("9999 years ago", None),
        ("2024-13-40", None),
        ("20 Brumaire 2024", None),
        ("03/04/2024", None),
        ("2024", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_is_parsed_or_none(written: str | None, expected: str | None) -> None:
    assert to_date(written, TODAY) == expected
