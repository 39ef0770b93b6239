"""A page that lacks content says what is missing; a complete one says nothing."""

import pytest

from kindly.models import Document, OutcomeKind
from tests.support.html_pages import read

MENU = "<nav><a href='/'>Home</a> <a href='/shop'>Shop</a> <a href='/help'>Help</a></nav>"
FOOTER = "<footer><p>© 2026 The Shop Company, all rights reserved.</p></footer>"
SCRIPT = "<script src='/app.js'></script>"
BEGINNING = (
    "<h1>The harbour</h1><p>Shares fell sharply on Monday as traders weighed the news from the harbour. "
    "Few had expected that the talks would end without a result after eleven days of work.</p>"
)
ARTICLE = (
    f"{BEGINNING}<p>"
    + "The ships waited outside for a week, and their crews counted the days of the strike. " * 45
    + "</p>"
)


def data(fields: str) -> str:
    return f'<script type="application/ld+json">{{"@type": "NewsArticle", {fields}}}</script>'


def cards(price: str, kind: str = "product-price") -> str:
    """A grid of products, each with a place for its price."""
    names = ("Wooden chair", "Round table", "Reading lamp", "Tall bookcase")
    return "".join(
        f"<li class='card'><h3><a href='/p/{name[0]}'>{name}</a></h3><p>{name} made of oiled oak, "
        f"with a warranty of five years.</p><span class='{kind}'>{price}</span></li>"
        for name in names
    )


def shown(body: str) -> Document:
    return read(f"<html><body>{MENU}<main>{body}</main>{FOOTER}{SCRIPT}</body></html>")


LONG_BODY = "The ships waited outside the harbour. " * 90
SKELETONS = "<div class='skeleton'></div>" * 4


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(BEGINNING + data('"wordCount": 900'), "much longer", id="declared words"),
        pytest.param(BEGINNING + data('"wordCount": "900"'), "much longer", id="words as text"),
        pytest.param(
            BEGINNING + data(f'"articleBody": "{LONG_BODY}"'), "much longer", id="declared body"
        ),
        pytest.param(
            BEGINNING + data('"isAccessibleForFree": false'), "subscribers", id="not free"
        ),
        pytest.param(BEGINNING + "<button>Read more</button>", "button", id="button"),
        pytest.param(BEGINNING + "<a href='/all'>Continue reading…</a>", "button", id="link"),
        pytest.param(
            f"<article>{BEGINNING}</article><button>Weiterlesen</button>", "button", id="German"
        ),
        pytest.param(f"<ul>{cards('')}</ul>", "Prices", id="empty prices"),
        pytest.param(
            f"<ul>{cards('<i class=bar></i>')}</ul>", "Prices", id="prices with empty boxes"
        ),
        pytest.param(f"<ul>{cards('{{ item.price }}')}</ul>", "placeholders", id="placeholders"),
        pytest.param(f"{BEGINNING}<p>Loading…</p>", "load", id="loading"),
        pytest.param(BEGINNING + SKELETONS, "load", id="skeletons"),
    ],
)
def test_what_a_page_lacks_is_said(body: str, words: str) -> None:
    document = shown(body)

    assert document.outcome.kind is OutcomeKind.PARTIAL
    assert words in document.note
    assert document.text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BEGINNING, id="short"),
        pytest.param(ARTICLE + data('"wordCount": 700'), id="as long as declared"),
        pytest.param(BEGINNING + data('"wordCount": 90'), id="declared as short"),
        pytest.param(
            BEGINNING + data('"wordCount": 900') + data('"wordCount": 800'), id="several articles"
        ),
        pytest.param(ARTICLE + data('"isAccessibleForFree": false'), id="long, not free"),
        pytest.param(
            BEGINNING + "<button aria-expanded=false>Read more</button>", id="text to unfold"
        ),
        pytest.param(BEGINNING + "<button class=hidden>Read more</button>", id="hidden button"),
        pytest.param(
            BEGINNING + "<p>That is all there is to say about it today.</p>"
            "<aside><p>Another story</p><a href='/b'>Read more</a></aside>",
            id="another story",
        ),
        pytest.param((BEGINNING + "<a href='/1'>Read more</a>") * 3, id="a list of teasers"),
        pytest.param(f"<ul>{cards('$12.50')}</ul>", id="prices"),
        pytest.param(f"<ul>{cards('$12.50')}{cards('', 'old-price')}</ul>", id="no old prices"),
        pytest.param(
            BEGINNING + "<p>Write <code>{{ name }}</code> there.</p><pre>{{ price }}</pre>",
            id="code",
        ),
        pytest.param(f"{ARTICLE}<p>Loading…</p>", id="a box beside a long text"),
        pytest.param(BEGINNING + SKELETONS[:28], id="one box"),
        pytest.param(f"{BEGINNING}<footer>{SKELETONS}</footer>", id="boxes in a footer"),
    ],
)
def test_a_complete_page_is_not_called_partial(body: str) -> None:
    document = shown(body)

    assert (document.outcome.kind, document.note) == (OutcomeKind.OK, "")


def test_only_what_is_for_subscribers_is_protected() -> None:
    assert shown(BEGINNING + data('"isAccessibleForFree": false')).protected
    assert not shown(BEGINNING + data('"wordCount": 900')).protected
