"""Verdicts and changes as text and data: fenced, cut to the budget."""

from dataclasses import replace

import pytest

from kindly.crawl.page_checks import ChangesReport, PageChanges, QuoteReport
from kindly.models import StoredPageInfo
from kindly.read.evidence.quotes import QuoteMatch, Verdict, check_quote
from kindly.read.evidence.section_changes import compare
from kindly.server.render.checked_pages import changes_output, quote_output
from kindly.server.render.fence import NO_FENCE, Fence
from kindly.server.render.formatting import larger_size
from tests.support.stored_pages import NOON

URL = "https://e.com/bees"
TEXT = "# Bees\n\nA bee visits 50 flowers on each trip.\n"
PAGE = StoredPageInfo(URL, "Bees", NOON, "hash", len(TEXT), collection="bees@2")
FENCE = Fence("token")


def report(quote: str) -> QuoteReport:
    return QuoteReport(quote, check_quote(quote, TEXT), PAGE)


def test_an_exact_quote_has_its_place_and_a_fenced_passage() -> None:
    output = quote_output(report("a bee visits 50 flowers"), FENCE)
    data = output.structured
    assert (data["verdict"], data["section"], data["collection"]) == ("exact", ["Bees"], "bees@2")
    assert data["link"].startswith(f"{URL}#:~:text=")
    assert "<<<web-page token" in data["passage"]
    assert output.text.startswith("Verdict: exact.\nBees · bees@2\n")


def test_differences_are_listed() -> None:
    output = quote_output(report("A bee visits 70 flowers on each trip"), NO_FENCE)
    assert "- number: quoted “70”, the page has “50”" in output.text
    assert "<<<web-page" not in output.text


def test_an_altered_quote_names_the_date() -> None:
    altered = replace(
        report("x"), match=QuoteMatch(Verdict.ALTERED, "said so"), former_at=NOON.replace(year=2020)
    )
    output = quote_output(altered, FENCE)
    assert "The version of 2020-" in output.text
    assert output.structured["former_at"].startswith("2020-")


def test_an_absent_quote_has_no_place() -> None:
    output = quote_output(QuoteReport("x", QuoteMatch(Verdict.ABSENT)), FENCE)
    assert (output.text, output.structured) == ("Verdict: absent.", {"verdict": "absent"})


def changed(count: int) -> ChangesReport:
    found = tuple(compare(TEXT, TEXT.replace("50", "60")))
    pages = tuple(
        PageChanges(replace(PAGE, url=f"{URL}{number}"), NOON, found) for number in range(count)
    )
    return ChangesReport("bees", pages, (replace(PAGE, url=f"{URL}-new"),), count + 5, "A note.")


def test_changes_are_shown_by_section() -> None:
    output = changes_output(changed(1), FENCE, 2_000)
    (page,) = output.structured["changed"]
    (section,) = page["sections"]
    assert (section["change"], section["section"]) == ("altered", ["Bees"])
    assert "-A bee visits 50" in section["diff"]
    assert output.structured["new"] == [f"{URL}-new"]
    assert output.text.startswith("1 of 6 pages changed; 1 are new. A note.")
    assert "altered: Bees" in output.text


@pytest.mark.parametrize("tokens", [400, 1_000])
def test_pages_that_do_not_fit_are_counted(tokens: int) -> None:
    output = changes_output(changed(40), FENCE, tokens)
    shown = len(output.structured["changed"])
    assert 0 < shown < 40
    assert f"{40 - shown} more changed pages did not fit." in output.text
    assert larger_size(output.text, output.structured) <= tokens
