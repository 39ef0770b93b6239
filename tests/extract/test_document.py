import hashlib
from dataclasses import replace

import pytest

from kindly.errors import (
    ExtractionFailed,
    MediaUnsupported,
    NoContent,
)
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from tests.support.html_pages import FETCHED_AT, SAMPLES, URL, page, read

SAMPLE_NAMES = sorted(path.stem for path in SAMPLES.glob("*.html"))


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_sample_page_gives_its_exact_markdown(name: str) -> None:
    source = (SAMPLES / f"{name}.html").read_bytes()
    document = extract(page(source, url=f"https://site.example/pages/{name}"), ExtractOptions())
    assert document.text + "\n" == (SAMPLES / f"{name}.md").read_text(encoding="utf-8")


def test_document_has_url_time_and_hash() -> None:
    document = read("<main><p>Some words.</p></main>")
    assert (document.url, document.fetched_at, str(document.how)) == (URL, FETCHED_AT, "http")
    assert (document.media_type, document.format, document.partial) == (
        "text/html",
        "markdown",
        False,
    )
    assert document.content_hash == hashlib.sha256(b"Some words.").hexdigest()


@pytest.mark.parametrize(
    "body",
    [
        "<main><p>Some words.</p>" + "<p>More words.</p>" * 100,
        "<main><p>Some words.</p>" + "<p>More words.</p>" * 200_000,
    ],
    ids=["paragraphs", "more elements than are read"],
)
def test_a_cut_page_is_read_and_says_so(body: str) -> None:
    document = extract(replace(page(body.encode()), cut=True), ExtractOptions())
    assert document.text.startswith("Some words.")
    assert (document.cut, document.partial) == (True, True)
    megabytes = f"{len(body) / 1_000_000:.3g} MB"
    assert document.note == (
        f"The page is larger than the size limit: only its beginning was read, up to {megabytes}."
    )


def test_a_cut_file_is_refused() -> None:
    cut = replace(page(b"%PDF-1.7\n" + bytes(1_000_000)), cut=True)
    with pytest.raises(ExtractionFailed, match="larger than the limit of 1 MB"):
        extract(cut, ExtractOptions())


@pytest.mark.parametrize(
    ("body", "media_type", "text", "title"),
    [
        ("# Head\n\n*as is*\n", "text/markdown", "# Head\n\n*as is*", "Head"),
        ("plain\r\n  lines\r\n", "text/plain", "plain\n  lines", ""),
        (
            '{"b":[1,"é"]}',
            "application/json",
            '```json\n{\n  "b": [\n    1,\n    "é"\n  ]\n}\n```',
            "",
        ),
        ("{not json", "application/json", "```json\n{not json\n```", ""),
        ("[" * 100_000, "application/json", "```json\n" + "[" * 100_000 + "\n```", ""),
        ("<note>`` ```</note>", "application/xml", "````xml\n<note>`` ```</note>\n````", ""),
        ("a\u200bb\ufeff", "text/plain", "ab", ""),
    ],
    ids=["markdown", "text", "json", "broken-json", "deep-json", "xml", "invisible"],
)
def test_text_formats_are_read(body: str, media_type: str, text: str, title: str) -> None:
    document = extract(page(body, media_type=media_type), ExtractOptions())
    assert (document.text, document.metadata.title) == (text, title)


def test_text_in_html_format_is_escaped() -> None:
    source = page('{"a": "<b>"}', media_type="application/json")
    document = extract(source, ExtractOptions(format="html"))
    assert document.text == '<pre>{\n  "a": "&lt;b&gt;"\n}</pre>'


@pytest.mark.parametrize(
    ("body", "media_type", "named"),
    [
        (b"%PDF-1.7 ...", "text/html", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "image/png"),
        (b"PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (b"\x00\x01\x02", "", "application/octet-stream"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "image/svg+xml"),
    ],
    ids=["pdf", "png", "docx", "unknown", "svg"],
)  # fmt: skip
def test_unsupported_type_is_reported_with_its_size(
    body: bytes, media_type: str, named: str
) -> None:
    with pytest.raises(MediaUnsupported) as caught:
        extract(page(body, media_type=media_type), ExtractOptions())
    assert caught.value.media_type == named
    assert f"{len(body)} bytes" in caught.value.detail


@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "application/json", ""])
def test_empty_body_has_no_content(media_type: str) -> None:
    with pytest.raises(NoContent):
        extract(page(b" \n ", media_type=media_type), ExtractOptions())
