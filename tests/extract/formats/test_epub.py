import pytest

from kindly.errors import ExtractionFailed, InputError, MediaUnsupported, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.epub import read_epub
from kindly.models import Document, Format, Link
from tests.support.html_pages import page
from tests.support.office_files import whole_book
from tests.support.zip_files import epub

XHTML = (
    '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
    "<head><title>t</title></head><body>{}</body></html>"
)
FIRST = XHTML.format("<h1>Ebb</h1><p>Water goes out. <a href='https://l.example/'>more</a></p>")
SECOND = XHTML.format("<h1>Flood</h1><p hidden>secret</p><p>Water comes <b>in</b>.</p>")


def read(body: bytes, format: Format = "markdown") -> Document:
    return extract(page(body, media_type="application/octet-stream"), ExtractOptions(format))


def test_chapters_are_in_spine_order_without_hidden_text() -> None:
    document = read(epub({"b.xhtml": FIRST, "a.xhtml": SECOND}))
    assert document.text == (
        "# Ebb\n\nWater goes out. [more](https://l.example/)\n\n# Flood\n\nWater comes **in**."
    )
    assert document.media_type == "application/epub+zip"
    assert document.hidden_dropped == 1
    assert document.links == (Link("more", "https://l.example/"),)


def test_book_metadata_is_read_from_the_package() -> None:
    metadata = read(epub({"a.xhtml": FIRST})).metadata
    assert (metadata.title, metadata.author, metadata.language, metadata.published) == (
        "The Tide Book", "A. One, B. Two", "en", "2020-05-06",
    )  # fmt: skip


def test_book_as_text_has_no_markdown() -> None:
    assert read(epub({"a.xhtml": SECOND}), "text").text == "Flood\n\nWater comes in."


def test_escaped_chapter_name_is_found_and_a_missing_one_is_skipped() -> None:
    book = epub({"a b.xhtml": FIRST, "gone.xhtml": SECOND}, **{"OEBPS/a b__xhtml": SECOND})
    renamed = book.replace(b"OEBPS/gone.xhtml", b"OEBPS/lost.xhtml")
    assert read(renamed).text == "# Flood\n\nWater comes **in**."


def test_long_book_is_truncated_with_a_note() -> None:
    body = epub({"a.xhtml": FIRST, "b.xhtml": SECOND})
    book = Archive(body, url="https://h.example/", media_type="application/epub+zip")
    document = read_epub(book, ExtractOptions(), max_characters=10)
    assert document.partial
    assert document.text.endswith("— the book is truncated: 1 chapters were read —")


def test_book_without_text_has_no_content() -> None:
    with pytest.raises(NoContent):
        read(epub({"a.xhtml": XHTML.format("")}))


@pytest.mark.parametrize(
    "part",
    [
        {"OEBPS/book__opf": "<package"},
        {"META-INF/container__xml": "<container/>"},
        {"META-INF/container__xml": "<c><rootfile full-path='no.opf'/></c>"},
        {"META-INF/container__xml": "<?xml version='1.0' encoding='no-such'?><c/>"},
    ],
    ids=["package", "container", "nowhere", "encoding"],
)
def test_broken_book_is_unsupported(part: dict[str, str]) -> None:
    with pytest.raises(MediaUnsupported):
        read(epub({"a.xhtml": FIRST}, **part))


def test_entities_in_the_package_are_refused() -> None:
    bomb = '<!DOCTYPE p [<!ENTITY a "x">]><package>&a;</package>'
    with pytest.raises(ExtractionFailed):
        read(epub({"a.xhtml": FIRST}, **{"OEBPS/book__opf": bomb}))


def test_selector_on_a_book_is_an_input_error() -> None:
    with pytest.raises(InputError):
        extract(page(epub({"a.xhtml": FIRST})), ExtractOptions(selector="p"))


def test_book_with_everything_keeps_it() -> None:
    document = extract(page(whole_book(), media_type=""), ExtractOptions())
    assert document.links == (Link("the source", "https://l.example/x"),)
    assert (
        document.text
        == """\
— picture: Cover of The Tide Book —

# Contents

1. Causes
2. Heights

# Causes

The moon pulls[1] and the sun too[^2]. See the table and [the source](https://l.example/x).

## In detail

- springs
  - at new moon
- neaps
1. measure
2. compare

[^2]: A little.

# Heights

Heights in metres

| Region | Height | Height |
| --- | --- | --- |
| North | high | 4.1 |
| North | low | 0.3 |

```
for tide in tides:
    print(tide)
```

— picture: A tide gauge in the harbour —

The gauge

> Quoted words.

# Notes

Mostly."""
    )
