import pytest
from turbohtml import parse

from kindly.extract.visibility.revealed.panels import Panels, is_closed
from kindly.extract.visibility.style import Style

PANEL = "<div class=x id=p data-closed>Answer</div>"
FAQ = "<div class=faq-item><div class=question>Why {0}?</div><div class=faq-text data-closed>Because {0}</div></div>"
TABS = "<div class=tabs><ul><li>One<li>Two</ul><div class=tab-pane>a</div><div class=tab-pane data-closed>b</div></div>"


def opened(markup: str) -> list[str]:
    """The texts of the closed elements that can be opened."""
    document = parse(f"<body><main>{markup}</main>", positions=False)
    closed = document.select("[data-closed]")
    found = Panels(document, closed).among(closed)
    return [element.text for element in closed if element in found]


@pytest.mark.parametrize(
    "markup",
    [
        f"<button aria-controls=p>Why?</button><p>between</p>{PANEL}",
        f"<p><a data-toggle=collapse href='#p'>Why?</a></p><p>between</p>{PANEL}",
        f"<p><i data-bs-target='#p'>Why?</i></p><p>between</p>{PANEL}",
        f"<div role=button aria-expanded=false>Why?</div>{PANEL}",
        f"<h3><button aria-expanded=false>Why?</button></h3><div>{PANEL}</div>",
        f"{PANEL}<button aria-expanded=false>Read more</button>",
        "<h3 id=h><button>Why?</button></h3><p>between</p><div aria-labelledby=h data-closed>Answer</div>",
        "<ul><li role=tab>One</li></ul><div><div role=tabpanel data-closed>Answer</div></div>",
    ],
)
def test_a_panel_with_a_control_can_be_opened(markup: str) -> None:
    assert opened(markup) == ["Answer"]


def test_several_panels_that_are_named_so_need_no_state() -> None:
    assert opened(FAQ.format("a") + FAQ.format("b")) == ["Because a", "Because b"]
    assert opened(TABS) == ["b"]
    slides = "<div class=swiper-slide>a</div><div class=swiper-slide data-closed>b</div>"
    assert opened(f"<div class=swiper>{slides}</div>") == ["b"]


@pytest.mark.parametrize(
    "markup",
    [
        PANEL,
        f"<h2>Bees</h2>{PANEL}",
        f"<button>Subscribe</button>{PANEL}",
        FAQ.format("a"),
        f"<div class=tabs>{TABS.partition('</ul>')[2].partition('</div>')[2]}",
        f"<nav><button aria-controls=p>Menu</button></nav>{PANEL}",
        f"<button aria-controls=p></button>{PANEL}",
        f"<nav><button aria-expanded=false>Menu</button>{PANEL}</nav>",
        "<button aria-expanded=false>More</button><div class=dropdown-menu data-closed>Answer</div>",
        "<button aria-expanded=false>More</button><span class=sr-only data-closed>Answer</span>",
        f"<p aria-expanded=false>{'A long text that is no label. ' * 9}</p>{PANEL}",
        "<div role=tabpanel data-closed>Answer</div>",
        "<p class=note>seen</p><p class='note note-hidden' data-closed>Answer</p>",
        "<div class=swiper-slide>a</div><div class='swiper-slide swiper-slide-duplicate' data-closed>b</div>",
    ],
)  # fmt: skip
def test_other_closed_elements_cannot(markup: str) -> None:
    assert opened(markup) == []


@pytest.mark.parametrize(
    ("style", "closed"),
    [
        ({"display": "none"}, True),
        ({"height": "0", "overflow": "hidden"}, True),
        ({"max-height": "0px", "overflow": "hidden"}, True),
        ({"visibility": "hidden"}, True),
        ({"opacity": "0"}, True),
        ({"width": "1px", "height": "0", "overflow": "hidden"}, False),
        ({"width": "1px", "height": "1px", "overflow": "hidden"}, False),
        ({"display": "none", "clip": "rect(0,0,0,0)"}, False),
        ({"position": "absolute", "left": "-9999px", "opacity": "0"}, False),
        ({"color": "transparent"}, False),
        ({"font-size": "0"}, False),
    ],
)
def test_closed_means_hidden_as_panels_are(style: Style, closed: bool) -> None:
    element = parse("<div>a</div>").select("div")[0]
    assert is_closed(element, style) == closed
