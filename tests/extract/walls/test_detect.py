import gzip
import itertools
import json

import pytest
from _pytest.mark import ParameterSet

from kindly.errors import KindlyError, NeedsBrowser, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.models import OutcomeKind
from tests.support.html_pages import page, read
from tests.support.paths import DATA, SHARED_DATA
from tests.support.shared_data import needs_shared

CORPUS = SHARED_DATA / "extract" / "wcxb" / "dev.jsonl.gz"
ARTICLE = (
    "<p>"
    + "The company sells a service that checks browsers before a page is shown to them. " * 30
    + "</p>"
)
TEASER = (
    "<p>"
    + "Shares fell sharply on Monday as traders weighed the news from the harbour. " * 8
    + "</p>"
)
LOCKED = (
    '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false,'
    '"hasPart":{"cssSelector":".paywall"}}</script>'
)
SHAPES = [
    json.loads(line)
    for line in (DATA / "media" / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
]


def shapes(*outcomes: str) -> list[ParameterSet]:
    """The saved shapes of pages with one of these outcomes."""
    return [
        pytest.param(shape["outcome"], whole(shape["html"]), id=shape["name"])
        for shape in SHAPES
        if shape["outcome"] in outcomes
    ]


def whole(body: str) -> str:
    """A shape with its long parts put in."""
    for name, part in (
        ("{ARTICLE4}", ARTICLE * 4),
        ("{ARTICLE}", ARTICLE),
        ("{TEASER}", TEASER),
        ("{LOCKED}", LOCKED),
    ):
        body = body.replace(name, part)
    return f"<html>{body}</html>"


@pytest.mark.parametrize(
    ("wall", "body"), shapes("blocked", "consent", "auth", "paywalled", "not_found")
)
def test_wall_is_reported_by_kind(wall: str, body: str) -> None:
    with pytest.raises(PageWalled) as caught:
        read(body)
    is_consent = wall == "consent"
    assert caught.value.kind is OutcomeKind("blocked" if is_consent else wall)
    assert ("consent" in caught.value.detail) is is_consent


@pytest.mark.parametrize(("_", "body"), shapes("needs_browser"))
def test_app_shell_needs_a_browser(_: str, body: str) -> None:
    with pytest.raises(NeedsBrowser) as caught:
        read(body)
    assert caught.value.kind is OutcomeKind.EMPTY


@pytest.mark.parametrize("body", ["", "<p> </p>", "<img src=x>", "<script>var x</script>"])
def test_page_without_text_has_no_content(body: str) -> None:
    with pytest.raises(NoContent) as caught:
        read(f"<html><body>{body}</body></html>")
    assert not isinstance(caught.value, NeedsBrowser)


@pytest.mark.parametrize(("_", "body"), shapes("ok"))
def test_page_about_walls_is_content(_: str, body: str) -> None:
    document = read(body)
    assert document.text
    assert not document.partial


@pytest.mark.parametrize(
    "body",
    [
        f"<article>{TEASER}<p>Already a subscriber? Log in.</p></article>",
        f"{LOCKED}<article>{TEASER}<div class='paywall'></div></article>",
        f"{LOCKED}<article>{TEASER * 4}<p>Subscribe to continue reading.</p></article>",
    ],
    ids=["mentioned", "locked", "locked and mentioned"],
)
def test_teaser_of_a_paid_article_is_partial(body: str) -> None:
    document = read(f"<html><title>Harbour</title>{body}</html>")
    assert document.partial
    assert "Shares fell" in document.text


def test_selected_part_is_checked_by_its_own_text_only() -> None:
    body = "<script>window._cf_chl_opt={}</script><p id=a>Short but asked for.</p>"
    assert read(body, selector="#a").text == "Short but asked for."


@needs_shared(CORPUS)
def test_real_pages_are_not_walls() -> None:
    walled: list[str] = []
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, 0, 480, 8):
            saved = json.loads(line)
            try:
                extract(page(saved["html"]), ExtractOptions())
            except KindlyError as error:
                if saved["truth"]["text"] and "Anubis" not in saved["truth"]["text"]:
                    walled.append(f"{saved['id']}: {type(error).__name__} {error.kind}")
    assert walled == []
