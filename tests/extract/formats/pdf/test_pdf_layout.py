from kindly.extract.formats.pdf.pdf_layout import PageContent, layout
from tests.support.pdf_parts import NO_RULES, PAGE, grid, words

PROSE = [
    words("The tide rises twice a day and falls as often as it rises", bottom=700),
    words("because the moon goes around the earth and pulls the sea.", bottom=688),
]


def page(*lines: list) -> PageContent:  # type: ignore[type-arg]
    return PageContent(lines, NO_RULES, PAGE)


def test_page_number_is_left_out_and_text_is_joined() -> None:
    markup = layout([page(*PROSE, words("12", left=300, bottom=20))], {})
    assert markup == (
        "<p>— page 1 —</p><p>The tide rises twice a day and falls as often as it rises because the moon goes around "
        "the earth and pulls the sea.</p>"
    )


def test_table_stands_where_it_is_on_the_page() -> None:
    cells = [
        words(text, left=55 + 100 * (n % 2), bottom=645 - 20 * (n // 2))
        for n, text in enumerate(("Port", "Tide", "Hull", "high"))
    ]
    after = words("That was the table of ports and their tides.", bottom=560)
    content = PageContent([*PROSE, *cells, after], grid((50, 150, 250), (620, 640, 660)), PAGE)
    markup = layout([content], {})
    assert markup.index("sea.") < markup.index("<th>Port</th>") < markup.index("That was")
    assert markup.count("Hull") == 1


def test_empty_page_gives_nothing() -> None:
    assert layout([page()], {}) == ""
