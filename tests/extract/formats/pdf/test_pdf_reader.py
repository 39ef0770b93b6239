import itertools
import subprocess
import sys

import numpy as np
import pytest

from kindly.errors import InputError, KindlyError, MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.pdf import pdf_reader as reader
from kindly.extract.formats.recognition_notes import HOW, scan_note
from kindly.extract.html import ExtractedText
from kindly.models import Format, Link, OutcomeKind
from kindly.text.page_marks import PAGE_MARK
from tests.support.html_pages import URL, page
from tests.support.pdf_files import PROSE, line, lines, long_file, pdf, read_pdf, scans, transparent
from tests.support.picture_files import recognised

GREY = np.full((80, 60), 128, np.uint8)
PICTURE = "q 612 0 0 792 0 0 cm /Im1 Do Q"


REPORT = "\n".join(
    (
        line("Annual Report", size=24, y=740),
        line("1 Tides", size=16, y=715),
        lines(PROSE, y=690, size=10),
        lines(["• high", "• low"], y=630, size=10),
    )
)


def test_headings_paragraphs_lists_and_pages_are_distinguished() -> None:
    document = read_pdf(REPORT, line("More of it.", size=10))
    assert document.text == (
        f"— page 1 —\n\n# Annual Report\n\n## 1 Tides\n\n{' '.join(PROSE)}\n\n- high\n- low\n\n"
        "— page 2 —\n\nMore of it."
    )
    assert (document.media_type, document.partial, document.hidden_dropped) == (
        "application/pdf",
        False,
        0,
    )


@pytest.mark.parametrize(
    ("format", "start"),
    [("text", "— page 1 —\n\nAnnual Report\n\n1 Tides"), ("html", "<p>— page 1 —</p><h1>Annual Report</h1>")],
)  # fmt: skip
def test_other_formats_have_the_same_parts(format: Format, start: str) -> None:
    assert read_pdf(REPORT, format=format).text.startswith(start)


def test_file_served_as_a_web_page_is_still_a_pdf() -> None:
    document = extract(page(pdf([REPORT]), media_type="text/html"), ExtractOptions())
    assert document.media_type == "application/pdf"


def test_junk_before_the_header_is_skipped_if_declared_as_pdf() -> None:
    body = b"\n\n" + pdf([REPORT])
    assert "Annual" in extract(page(body, media_type="application/pdf"), ExtractOptions()).text


def test_metadata_is_read_from_the_file() -> None:
    said = (
        "/Title (On Tides) /Author (A. B.) /Subject (Water) /CreationDate (D:20240102030405+01'00')"
    )
    metadata = read_pdf(REPORT, info=said).metadata
    assert (metadata.title, metadata.author, metadata.description, metadata.published) == (
        "On Tides", "A. B.", "Water", "2024-01-02T03:04:05+01:00",
    )  # fmt: skip


@pytest.mark.parametrize(
    "title", ["", "untitled", "Microsoft Word - a.docx", "report.pdf", "Document1"]
)
def test_first_heading_replaces_a_meaningless_title(title: str) -> None:
    assert read_pdf(REPORT, info=f"/Title ({title})").metadata.title == "Annual Report"


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("D:20240102030405Z", "2024-01-02T03:04:05+00:00"),
        ("D:20240102030405-05'30'", "2024-01-02T03:04:05-05:30"),
        ("D:202401020304", "2024-01-02T03:04:00"),
        ("D:20240102", "2024-01-02"),
        ("D:2024", "2024"),
        ("yesterday", None),
        ("", None),
    ],
)
def test_pdf_date_becomes_iso(date: str, iso: str | None) -> None:
    assert reader.iso_date(date) == iso


def test_word_broken_over_lines_is_joined() -> None:
    text = read_pdf(lines(["They spoke of hyphen-", "ation for a while."])).text
    assert text.endswith("They spoke of hyphenation for a while.")


def test_links_are_collected_once() -> None:
    content = line("see the tables")
    document = read_pdf(content, content, link="https://l.example/x")
    assert document.links == (Link("see the tables", "https://l.example/x"),)


def test_link_that_is_not_http_is_ignored() -> None:
    assert read_pdf(line("open"), link="file:///etc/passwd").links == ()


def test_scan_without_text_is_reported_with_its_page_count() -> None:
    with pytest.raises(NoContent) as caught:
        read_pdf(PICTURE, PICTURE, "")
    assert "3 pages" in caught.value.detail


def test_encrypted_file_needs_a_password() -> None:
    with pytest.raises(PageWalled) as caught:
        extract(page(pdf([REPORT], encrypted=True)), ExtractOptions())
    assert caught.value.kind is OutcomeKind.AUTH


@pytest.mark.parametrize(
    "body",
    [b"%PDF-1.7 ...", b"%PDF-", pdf([REPORT])[:100], pdf([])],
    ids=["stub", "mark", "cut", "no pages"],
)
def test_broken_file_is_unsupported(body: bytes) -> None:
    with pytest.raises(MediaUnsupported) as caught:
        extract(page(body, media_type="application/pdf"), ExtractOptions())
    assert caught.value.media_type == "application/pdf"


def test_file_truncated_anywhere_gives_text_or_a_named_error() -> None:
    whole = pdf([REPORT, REPORT])
    for end in range(0, len(whole), 97):
        try:
            assert extract(page(whole[:end], media_type="application/pdf"), ExtractOptions()).text
        except KindlyError:
            continue


def test_selector_on_a_pdf_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        extract(page(pdf([REPORT])), ExtractOptions(selector="main"))
    assert caught.value.field == "selector"


def test_long_file_is_truncated_with_a_note() -> None:
    body = pdf([line(f"Words {n}") for n in range(5)])
    reading = reader.read_pdf(body, ExtractOptions(), URL, limits=reader.PdfLimits(pages=2))
    assert reading.partial
    assert reading.text.endswith(
        "Words 1\n\n— the document is truncated: 2 of its 5 pages were read —"
    )


def test_page_with_too_much_text_is_truncated_with_a_note() -> None:
    body = pdf([lines(PROSE), lines(PROSE)])
    reading = reader.read_pdf(body, ExtractOptions(), URL, limits=reader.PdfLimits(characters=30))
    assert reading.partial
    assert len(reading.text) < 120


def test_page_with_far_too_much_text_is_truncated_and_the_next_is_read() -> None:
    body = pdf([lines(PROSE), line("The next page.")])
    limits = reader.PdfLimits(page_characters=50)
    reading = reader.read_pdf(body, ExtractOptions(), URL, limits=limits)
    assert reading.partial
    assert "It ends here" not in reading.text
    assert "The next page." in reading.text


READ_IN_LITTLE_MEMORY = """
import sys
from kindly.extract import ExtractOptions
from kindly.extract.formats.pdf import pdf_reader

limits = pdf_reader.PdfLimits(memory=1)
reading = pdf_reader.read_pdf(sys.stdin.buffer.read(), ExtractOptions(), "https://a.example/", limits=limits)
assert reading.partial
sys.stdout.write(reading.text)
"""


def test_file_that_takes_much_memory_is_truncated_with_a_note() -> None:
    body = pdf([lines(PROSE * 20, size=2.5) for _ in range(40)])
    # In a process of its own: this one may have free memory of earlier tests, and not grow.
    read = subprocess.run(
        [sys.executable, "-c", READ_IN_LITTLE_MEMORY], input=body, capture_output=True, check=True
    )
    assert b"of its 40 pages were read" in read.stdout


def test_slow_file_is_truncated_at_the_time_limit() -> None:
    ticks = itertools.count(0, 4.0)
    body = pdf([line(f"Words {n}") for n in range(9)])
    reading = reader.read_pdf(body, ExtractOptions(), URL, clock=lambda: next(ticks))
    assert reading.partial
    assert "of its 9 pages were read" in reading.text


QUESTION = "How many people did the shipyard in Lisbon employ?"
SAID = ("The shipyard in Lisbon employed 312 people and stood by", "the old harbour.")


def read_for(question: str, body: bytes, limits: reader.PdfLimits = reader.LIMITS) -> ExtractedText:
    options = ExtractOptions(seconds=300, questions=(question,))
    return reader.read_pdf(body, options, URL, limits=limits)


def test_of_a_long_file_the_pages_that_may_answer_a_question_are_read() -> None:
    extracted = read_for(QUESTION, long_file(500, {400: SAID}))
    read = PAGE_MARK.findall(extracted.text)
    assert {"1", "2", "400"} <= set(read)
    assert len(read) < 60
    start = extracted.text.index("— page 400 —")
    assert "employed 312 people" in extracted.text[start:].split("— page 401 —")[0]
    assert (extracted.excerpt, extracted.cut, extracted.partial) == (True, False, True)
    assert (
        extracted.note
        == f"{len(read)} of the file's 500 pages were read: those with words of the question."
    )


@pytest.mark.parametrize(
    ("question", "pages"),
    [("", 70), (QUESTION, 60)],
    ids=["without a question", "a file that is not long"],
)
def test_other_files_are_read_whole(question: str, pages: int) -> None:
    options = ExtractOptions(seconds=300, questions=(question,) if question else ())
    extracted = reader.read_pdf(long_file(pages, {}), options, URL)
    assert len(PAGE_MARK.findall(extracted.text)) == pages
    assert not extracted.excerpt


def test_long_file_of_little_text_is_read_whole() -> None:
    slides = pdf([line(f"Slide {number} on tides") for number in range(90)])
    assert not read_for("What are tides?", slides).excerpt


def test_answer_beyond_the_pages_that_are_ever_read_is_found() -> None:
    extracted = read_for(QUESTION, long_file(500, {400: SAID}), reader.PdfLimits(pages=300))
    assert "employed 312 people" in extracted.text
    assert extracted.cut


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MediaUnsupported) as caught:
        read_pdf(REPORT)
    assert "office" in caught.value.detail


def read_scans(*pages: str, ticks: float = 0.0, installed: bool = True) -> ExtractedText:
    """Pages with these texts; those with none are scans of "Words from a picture"."""
    clock = itertools.count(0, ticks)
    body = scans(*(content or GREY for content in pages))
    return reader.read_pdf(
        body,
        ExtractOptions(),
        URL,
        clock=lambda: next(clock),
        recogniser=lambda: (lambda *_: recognised("Words from a picture")) if installed else None,
    )


def test_page_without_text_is_read_by_character_recognition() -> None:
    read = read_scans(line("Typed words."), "")
    assert read.text == (
        "— page 1 —\n\nTyped words.\n\n— page 2 —\n\n"
        "— read by character recognition, 95 % sure —\n\nWords from a picture"
    )
    assert read.note == "Page 2 was read by character recognition, 95 % sure."
    assert not read.partial


STAMPS = [
    line("Downloaded from archive.example on 3 May 2021", y=20, size=8),
    line("412", x=300, y=760, size=10),
]


def read_stamped(*pages: str, installed: bool = True) -> ExtractedText:
    """Pages with these texts over a picture of the whole page."""
    return reader.read_pdf(
        pdf([f"{PICTURE}\n{content}" for content in pages]),
        ExtractOptions(),
        URL,
        recogniser=lambda: (lambda *_: recognised("Words from a picture")) if installed else None,
    )


@pytest.mark.parametrize("stamp", STAMPS, ids=["download", "page number"])
def test_scan_with_a_stamp_is_read_by_character_recognition(stamp: str) -> None:
    read = read_stamped(stamp)
    assert read.text == (
        "— page 1 —\n\n— read by character recognition, 95 % sure —\n\nWords from a picture"
    )


@pytest.mark.parametrize("stamp", STAMPS, ids=["download", "page number"])
def test_scan_with_a_stamp_counts_as_a_page_without_text(stamp: str) -> None:
    read = read_stamped(lines(PROSE), stamp, installed=False)
    assert read.note == (
        f"Page 2 has no text but pictures; to read it by character recognition, {HOW}."
    )
    with pytest.raises(NoContent):
        read_stamped(stamp, installed=False)


LAYER_NOTE = scan_note({}, [], layers=[1], installed=False)


@pytest.mark.parametrize("installed", [True, False])
def test_text_layer_of_a_scan_is_read_and_named(installed: bool) -> None:
    read = read_stamped(line("Words of the layer", mode=3), installed=installed)
    assert read.text == "— page 1 —\n\nWords of the layer"
    assert (read.note, read.partial) == (LAYER_NOTE, False)


def test_transparent_layer_is_read_if_there_is_no_character_recognition() -> None:
    layer = transparent(line("Words of the layer"))
    read = read_stamped(layer, installed=False)
    assert read.text == "— page 1 —\n\nWords of the layer"
    assert (read.note, read.partial) == (LAYER_NOTE, False)
    read = read_stamped(layer)
    assert read.text.endswith("\n\nWords from a picture")
    assert read.note == "Page 1 was read by character recognition, 95 % sure."


def test_transparent_layer_is_read_if_there_is_no_time_for_character_recognition() -> None:
    pages = [f"{PICTURE}\n{transparent(line('Words of the layer'))}"] * 3
    clock = itertools.count(0, 2.0)
    read = reader.read_pdf(
        pdf(pages),
        ExtractOptions(),
        URL,
        clock=lambda: next(clock),
        recogniser=lambda: lambda *_: recognised("Words from a picture"),
    )
    assert "Words from a picture" in read.text
    assert read.text.endswith("\n\nWords of the layer")
    assert "Pages 2–3 are pictures" in read.note


def test_places_of_a_transparent_layer_make_no_table() -> None:
    rows = [
        line(f"{cell} {row}", x=72 + 150 * column, y=600 - 20 * row)
        for row in range(6)
        for column, cell in enumerate(("name", "count", "share"))
    ]
    assert "|" in read_stamped("\n".join(rows), installed=False).text
    assert "|" not in read_stamped(transparent("\n".join(rows)), installed=False).text


@pytest.mark.parametrize(
    "content",
    [lines(PROSE), line("Annual report", size=30, y=500)],
    ids=["text over a picture", "title over a photograph"],
)
def test_page_with_text_over_a_picture_is_no_scan(content: str) -> None:
    read = read_stamped(content, installed=False)
    assert (read.note, read.partial) == ("", False)


def test_scans_for_which_there_is_no_time_are_named() -> None:
    read = read_scans("", "", "", "", ticks=2.0)
    assert read.partial
    assert read.note.startswith("Page 1 was read by character recognition, 95 % sure. Pages 2–4")
    assert "have no text but pictures; there was no time for character recognition." in read.note


def test_without_the_extra_the_note_says_how_to_get_it() -> None:
    read = read_scans(line("Typed words."), "", installed=False)
    assert read.text == "— page 1 —\n\nTyped words."
    assert read.note == (
        f"Page 2 has no text but pictures; to read it by character recognition, {HOW}."
    )
    assert read.partial
    assert not read_scans(line("One."), line("Two."), "", installed=False).partial


@pytest.mark.parametrize(
    ("installed", "ticks", "part"), [(False, 0.0, HOW), (True, 6.0, "no time")]
)
def test_file_of_scans_that_were_not_read_says_why(
    installed: bool, ticks: float, part: str
) -> None:
    with pytest.raises(NoContent) as caught:
        read_scans("", "", ticks=ticks, installed=installed)
    assert part in caught.value.detail


def test_pixel_bomb_is_refused_in_words() -> None:
    body = scans(line("Typed words."), GREY, claimed=30_000_000)
    read = reader.read_pdf(
        body, ExtractOptions(), URL, recogniser=lambda: lambda *_: recognised("never")
    )
    assert read.note == "Page 2 has pictures with too many pixels to read them."
    with pytest.raises(NoContent) as caught:
        reader.read_pdf(
            scans(GREY, claimed=30_000_000),
            ExtractOptions(),
            URL,
            recogniser=lambda: lambda *_: recognised("never"),
        )
    assert "too many pixels" in caught.value.detail
