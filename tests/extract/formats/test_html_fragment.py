import pytest

from kindly.extract import ExtractOptions
from kindly.extract.formats.html_fragment import (
    heading,
    note,
    paragraph,
    read_fragment,
    table,
    with_metadata,
)
from kindly.models import Link, Metadata

BASE = "https://x.example/book/"


def test_fragment_is_content_as_a_whole_without_hidden_text() -> None:
    markup = "<title>T</title><nav>Menu</nav><p>See <a href=a>it</a>.</p><p hidden>secret</p><script>x</script>"
    found = read_fragment(markup, ExtractOptions(), BASE)
    assert found.text == "Menu\n\nSee [it](https://x.example/book/a)."
    assert found.metadata.title == "T"
    assert found.links == (Link("it", "https://x.example/book/a"),)
    assert found.hidden_dropped == 1


def test_attributes_of_a_fragment_are_no_text() -> None:
    extracted = read_fragment("<p x-title=Secret>Seen.</p>", ExtractOptions(), BASE)
    assert extracted.text == "Seen."


def test_metadata_of_the_file_replaces_that_of_the_fragment() -> None:
    found = read_fragment("<p>a</p><p hidden>b</p>", ExtractOptions(), BASE)
    complete = with_metadata(found, Metadata(title="File"), hidden=2, partial=True)
    assert (complete.text, complete.metadata.title) == ("a", "File")
    assert (complete.hidden_dropped, complete.partial) == (3, True)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (paragraph("a < b\nc"), "<p>a &lt; b<br>c</p>"),
        (heading(" a\n b ", 2), "<h2>a b</h2>"),
        (note("cut"), "<p>— cut —</p>"),
        (
            table([["a", "<b>"], ["1", "2"]]),
            "<table data-file><thead><tr><th>a</th><th>&lt;b&gt;</th></tr></thead>"
            "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        ),
        (table([]), ""),
    ],
    ids=["paragraph", "heading", "note", "table", "empty-table"],
)
def test_plain_text_is_escaped_in_markup(markup: str, expected: str) -> None:
    assert markup == expected
