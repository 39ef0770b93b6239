import pytest
from turbohtml import parse

from kindly.extract.visibility.revealed.streamed_parts import place_streamed_parts
from tests.support.html_pages import read

KEPT = "<p>This sentence of the page can be seen by everyone who opens it.</p>"
PART = '<div hidden id="S:0"><p>Late words</p></div>'
PLACE = '<!--$?--><template id="B:0"></template><p>Loading</p><!--/$-->'


def placed(markup: str) -> str:
    document = parse(markup, positions=False)
    place_streamed_parts(document, markup)
    document.remove("script, template, [hidden]")
    return " ".join(document.select("body")[0].stripped_strings)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (f'<p>a</p>{PLACE}<p>z</p>{PART}<script>$RC("B:0","S:0")</script>', "a Late words z"),
        (f'<p>a</p>{PLACE}<p>z</p>{PART}<script>$RR("B:0","S:0",[])</script>', "a Late words z"),
        (
            f'<p>a</p>{PLACE}<p>z</p><div hidden id="S:0"><p>Late</p> <template id="P:1"></template></div>'
            '<div hidden id="S:1"><p>inner</p></div>'
            '<script>$RS("S:1","P:1");$RC("B:0","S:0")</script>',
            "a Late inner z",
        ),
        (
            f'<p>a</p>{PLACE}<p>z</p><div hidden id="S:0"></div><script>$RC("B:0","S:0")</script>',
            "a z",
        ),
        (
            "<p>a</p><!--$?--><template id=\"B:0\"></template><!--$--><i>old</i><!--/$--><!--/$--><p>z</p>"
            f'{PART}<script>$RC("B:0","S:0")</script>',
            "a Late words z",
        ),
        (
            "<p>a</p><span id=afxph2>wait</span><p>z</p><div hidden id=afx2><p>Late</p></div><script>$afx(2)</script>",
            "a Late z",
        ),
    ],
    ids=["boundary", "with styles", "nested", "empty", "nested boundary", "Marko"],
)  # fmt: skip
def test_a_late_part_goes_to_its_place_and_the_fallback_goes(markup: str, text: str) -> None:
    assert placed(f"<body>{markup}") == text


@pytest.mark.parametrize(
    "markup",
    [
        f"{PLACE}{PART}",
        f"{PLACE}{PART}<script>other()</script>",
        f'{PLACE}{PART}<script>$RC("B:7","S:7")</script>',
        f'{PART}<script>$RC("B:0","S:0")</script>',
        f'{PLACE}{PART}<pre>$RC("B:0","S:0")</pre><script>other()</script>',
        '<div hidden id="S:0"><p>Late</p><template id="B:0"></template></div><script>$RC("B:0","S:0")</script>',
    ],
    ids=["no script", "another script", "another part", "no place", "as text", "inside itself"],
)  # fmt: skip
def test_a_hidden_part_that_no_script_moves_stays_hidden(markup: str) -> None:
    assert "Late" not in placed(f"<body>{KEPT}{markup}")


def test_parts_of_a_copy_without_scripts_are_placed_by_their_numbers() -> None:
    parts = "".join(
        f'<template id="B:{n}"></template><p>{n}</p><div hidden id="S:{n}"><p>Late {n}</p></div>'
        for n in range(3)
    )
    assert placed(f"<body>{parts}") == "Late 0 0 Late 1 1 Late 2 2"


def test_a_late_article_is_read_in_order() -> None:
    text = "<p>Bees see ultraviolet light, and the flowers that they visit show it to them.</p>" * 3
    body = f"<main>{KEPT}{PLACE}{KEPT.replace('This', 'Another')}</main>{PART.replace('Late words', text)}"
    found = read(f'<body>{body}<script>$RC("B:0","S:0")</script>').text
    assert found.index("This sentence") < found.index("Bees see") < found.index("Another")
    assert "Loading" not in found
