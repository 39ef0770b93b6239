from dataclasses import replace

import pytest

from kindly.errors import ExtractionFailed, InputError, SelectorNotMatched
from kindly.extract import ExtractOptions, html
from kindly.extract.document import extract
from tests.support.html_pages import page, read


def test_selector_joins_outermost_matches() -> None:
    body = "<p class=a>one <b class=a>inner</b></p><nav><p>not this</p></nav><p class=a>two</p>"
    assert read(body, selector=".a").text == "one **inner**\n\ntwo"


def test_selector_may_match_boilerplate() -> None:
    assert (
        read("<nav>Menu words</nav><main><p>Body</p></main>", selector="nav").text == "Menu words"
    )


def test_invalid_selector_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        read("<p>text</p>", selector="p[")
    assert caught.value.field == "selector"


def test_selector_without_a_match_is_an_error() -> None:
    with pytest.raises(SelectorNotMatched) as caught:
        read("<p>text</p>", selector=".absent")
    assert caught.value.selector == ".absent"


def test_selector_does_not_reach_hidden_text() -> None:
    with pytest.raises(SelectorNotMatched):
        read("<p>text</p><p id=x hidden>secret</p>", selector="#x")


def test_deep_nesting_and_many_attributes_keep_their_text() -> None:
    attributes = " ".join(f"a{n}" for n in range(100_000))
    assert read("<div>" * 100_000 + "deep").text == "deep"
    assert read(f"<p {attributes}>wide</p>").text == "wide"


@pytest.mark.parametrize(
    "markup",
    [
        "<i></i>" * (html.MAX_ELEMENTS + 1),
        "<b>" * 200_000,
        "<p style='left:0'></p>" * (html.MAX_STYLED + 1),
        f"<p {'a=1 ' * 1_000_000}>wide</p>",
    ],
    ids=["elements", "nested", "styles", "attributes"],
)
def test_page_with_too_many_elements_is_refused(markup: str) -> None:
    with pytest.raises(ExtractionFailed):
        read(markup)


def test_shadow_root_content_replaces_unslotted_children() -> None:
    body = (
        "<main><p>Before it.</p><x-a><template shadowrootmode=open><p>Drawn <slot></slot> <slot name=n></slot></p>"
        "</template>plain <b slot=n>named</b> <i slot=other>unseen</i></x-a></main>"
    )
    text = " ".join(read(body).text.split())
    assert "Drawn plain" in text
    assert "**named**" in text
    assert "unseen" not in text


def test_noscript_is_read_only_if_it_is_most_of_the_page() -> None:
    crawler = "<p>" + "The whole thread for readers without scripts. " * 12 + "</p>"
    assert "whole thread" in read(f"<body><div id=x></div><noscript>{crawler}</noscript>").text
    assert "aside" not in read(f"<main>{crawler}</main><noscript>aside</noscript>").text


def test_invalid_base_url_is_ignored() -> None:
    body = "<base href='http://[bad'><main><p>go <a href='x'>there</a></p></main>"
    assert read(body).text == "go [there](https://site.example/pages/x)"


LINKS = "".join(f'<li><a href="/{n}">Answer {n}</a></li>' for n in range(30))


def test_composed_page_is_content_as_a_whole() -> None:
    """A thread about a missing page, answered with links only, is neither a soft 404 nor navigation."""
    markup = (
        "<title>404 Page not found</title><main><article><h1>404 Page not found</h1>"
        f"<p>{'Words about this. ' * 80}</p><ul>{LINKS}</ul></article></main>"
    )
    thread = replace(page(markup), composed=True)
    assert "Answer 29" in extract(thread, ExtractOptions()).text


@pytest.mark.parametrize("count", [3, html.MAX_PIECES + 3], ids=["few", "very-many"])
@pytest.mark.parametrize("form", ["\u00a0", "&nbsp;", "&#160;", "&#xa0;", "&#xA0;"])
def test_no_break_spaces_are_plain_spaces(form: str, count: int) -> None:
    assert read(f"<p>{f'a{form}' * count}b</p>").text == "a " * count + "b"


@pytest.mark.parametrize("inside", ["<iframe src=/x />", "<textarea>", "<style>", "<xmp>"])
def test_a_noscript_block_does_not_swallow_the_rest_of_the_page(inside: str) -> None:
    text = "<p>Bees see ultraviolet light, and the flowers that they visit show it to them.</p>" * 3
    found = read(f"<body><noscript>{inside}</noscript><main><h1>Bees</h1>{text}</main>").text
    assert "Bees see ultraviolet light" in found
    assert "<" not in found


def test_a_noscript_block_with_the_whole_page_is_read_as_markup() -> None:
    text = "<p>Bees see ultraviolet light, and the flowers that they visit show it to them.</p>" * 9
    found = read(
        f"<body><noscript><iframe src=/x /></noscript><noscript><h1>Bees</h1>{text}</noscript>"
    ).text
    assert "Bees see ultraviolet light" in found
    assert "<" not in found
