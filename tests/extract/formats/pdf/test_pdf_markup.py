from kindly.extract.formats.pdf.pdf_blocks import Kind, PdfBlock
from kindly.extract.formats.pdf.pdf_headings import Styles
from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.pdf_markup import document_markup
from kindly.extract.formats.pdf.pdf_words import Font, Word
from tests.support.pdf_parts import at, stacked, words

STYLES = Styles(10)
MONO = Font("Courier", mono=True)


def block(kind: Kind, *lines: Line, page: int = 1) -> PdfBlock:
    edge = max(line.right for line in lines)
    return PdfBlock(kind, lines, page=page, edge=edge, start=min(line.left for line in lines))


def html(*pages: list[PdfBlock]) -> str:
    return document_markup(pages, STYLES, numbered=False)


def test_items_further_to_the_right_are_nested() -> None:
    items = [
        block("item", at(f"• {text}", left=left))
        for text, left in (("a", 50), ("b", 70), ("c", 50))
    ]
    assert html(items) == "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"


def test_numbered_items_keep_their_numbers() -> None:
    assert html([block("item", at("3. c")), block("item", at("4. d"))]) == (
        '<ol start="3"><li>c</li><li>d</li></ol>'
    )


def test_contents_have_no_leader_dots() -> None:
    assert (
        html([block("entry", at("1.1 Tides . . . . . . 7"))]) == "<ul><li>1.1 Tides · 7</li></ul>"
    )


def test_code_keeps_indentation_and_empty_lines() -> None:
    lines = [
        at("if a:", bottom=100, font=MONO),
        at("return b", left=70, bottom=88, font=MONO),
        at("end", bottom=64, font=MONO),
    ]
    assert html([block("code", *lines)]) == "<pre><code>if a:\n    return b\n\nend</code></pre>"


def test_code_that_goes_on_in_the_next_column_is_one_block() -> None:
    first, more = at("if a:", bottom=60, font=MONO), at("return b", left=320, bottom=700, font=MONO)
    after = PdfBlock("code", (more,), page=1, edge=400, start=300)
    assert html([block("code", first), after]) == "<pre><code>if a:\n    return b</code></pre>"


def test_line_break_is_kept_where_the_next_word_would_have_fitted() -> None:
    lines = stacked(["Tide Office", "Hull", "a line that is much longer than the others"])
    assert html([block("paragraph", *lines)]) == (
        "<p>Tide Office<br>Hull<br>a line that is much longer than the others</p>"
    )


def test_sentence_goes_on_over_the_page() -> None:
    first = block("paragraph", at("The tide in the harbour of Hull rises until", bottom=60))
    note = block("note", at("1 A note.", bottom=40, size=8))
    second = block("paragraph", at("noon and falls again.", bottom=700), page=2)
    assert html([first, note], [second]) == (
        "<p>The tide in the harbour of Hull rises until noon and falls again.</p><p>1 A note.</p>"
    )


def test_broken_word_is_joined() -> None:
    last = words("hyphen", bottom=60)[0]._replace(broken=True)
    first = block("paragraph", Line.of([last]))
    assert (
        html([first], [block("paragraph", at("ation", bottom=700), page=2)]) == "<p>hyphenation</p>"
    )


def test_link_is_put_around_its_words() -> None:
    linked = [word._replace(link="https://a.example/?b&c") for word in words("the tables", left=70)]
    line = Line.of([Word("see", 50, 0, 65, 10, 10), *linked])
    assert html([block("paragraph", line)]) == (
        '<p>see <a href="https://a.example/?b&amp;c">the tables</a></p>'
    )


def test_lines_of_a_cover_are_no_headings() -> None:
    cover = [
        block("heading", at(text, size=size))
        for text, size in (("Title", 30), ("Name", 14), ("Other", 14), ("Last", 14))
    ]
    assert html(cover) == "<h1>Title</h1><p>Name</p><p>Other</p><h2>Last</h2>"


def test_nothing_is_joined_over_a_page_that_was_left_out() -> None:
    first = block("code", at("a", font=MONO))
    second = block("code", at("b", font=MONO), page=3)
    assert html([first], [], [second]) == "<pre><code>a\nb</code></pre>"
    apart = document_markup([[first], [], [second]], STYLES, numbered=False, unread=frozenset({1}))
    assert apart == "<pre><code>a</code></pre><pre><code>b</code></pre>"


def test_page_begins_with_a_note() -> None:
    assert document_markup([[], [block("paragraph", at("text"))]], STYLES) == (
        "<p>— page 2 —</p><p>text</p>"
    )


def test_formula_is_marked_and_has_its_scripts() -> None:
    line = Line.of(
        [
            Word("a", 50, 0, 55, 10, 10),
            Word("2", 55, 6, 58, 12, 6, glued=True),
            *words("= 12", left=62),
        ]
    )
    assert html([block("formula", line)]) == "<p><code>a^2 = 12</code></p>"
