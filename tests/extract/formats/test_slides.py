import io

import pytest

from kindly.errors import ExtractionFailed
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.office import OfficeLimits
from kindly.extract.formats.slides import read_slides
from kindly.models import Document, Link
from tests.support.html_pages import page
from tests.support.office_files import whole_presentation


def read(body: bytes) -> Document:
    return extract(page(body, media_type=""), ExtractOptions())


def opened(body: bytes) -> Archive:
    return Archive(body, url="https://h.example/", media_type="x")


def slides(count: int = 1) -> bytes:
    pptx = pytest.importorskip("pptx")
    show = pptx.Presentation()
    for _ in range(count):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = "Hello"
        frame = slide.placeholders[1].text_frame
        frame.text = "first"
        for text, level in (("second", 1), ("third", 0)):
            added = frame.add_paragraph()
            added.text, added.level = text, level
        slide.notes_slide.notes_text_frame.text = "say this"
    blank = show.slides.add_slide(show.slide_layouts[6])
    cells = blank.shapes.add_table(1, 2, 0, 0, 9, 9).table.rows[0].cells
    cells[0].text, cells[1].text = "a", "b"
    group = blank.shapes.add_group_shape()
    group.shapes.add_textbox(0, 90, 9, 9).text_frame.text = "in a group"
    show.slides.add_slide(show.slide_layouts[6])._element.set("show", "0")
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def test_slides_are_in_order_with_their_notes() -> None:
    document = read(slides())
    assert document.text == (
        "## Slide 1: Hello\n\n- first\n  - second\n- third\n\nNotes: say this\n\n"
        "## Slide 2\n\nin a group\n\n| a | b |\n| --- | --- |"
    ) or document.text == (
        "## Slide 1: Hello\n\n- first\n  - second\n- third\n\nNotes: say this\n\n"
        "## Slide 2\n\n| a | b |\n| --- | --- |\n\nin a group"
    )
    assert document.hidden_dropped == 1


def test_many_slides_are_truncated_with_a_note() -> None:
    document = read_slides(opened(slides(3)), ExtractOptions(), OfficeLimits(slides=2))
    assert document.partial
    assert "2 of 4 slides" in document.text


def test_presentation_with_too_much_markup_is_too_large() -> None:
    with pytest.raises(ExtractionFailed):
        read_slides(opened(slides()), ExtractOptions(), OfficeLimits(slides_markup=1_000))


def test_presentation_with_everything_keeps_it() -> None:
    pytest.importorskip("pptx")
    document = read(whole_presentation())
    assert document.links == (Link("the tables", "https://l.example/x"),)
    assert (
        document.text.replace("  \n", "<br>\n")
        == """\
## Slide 1: The Book of Tides

A survey

## Slide 2: Causes

- springs
  - at new moon
    - exactly
- neaps
- see [the tables](https://l.example/x)

Notes: Say this.<br>
Then that.

## Slide 3: Heights

| Region | Height | Height |
| --- | --- | --- |
| North | high | 4.1 |
| North | low | 0.3 |
| South | high | 3.2 |

— picture: A tide gauge in the harbour —

## Slide 4

A paragraph of words.

Another paragraph.

— a chart: Heights in metres —

|  | Height |
| --- | --- |
| North | 4.1 |
| South | 3.2 |

in a group"""
    )
