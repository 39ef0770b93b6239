import gzip
import json

import pytest

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from tests.support.html_pages import page, read
from tests.support.paths import SHARED_DATA
from tests.support.shared_data import needs_shared

PROSE = "A sentence of the story that goes on for a while and says something. " * 6
CORPORA = sorted((SHARED_DATA / "extract").glob("*/dev.jsonl.gz"))
PAGES_PER_CORPUS = 8


def test_navigation_and_footer_of_a_long_page_are_removed() -> None:
    menu = "".join(f"<li><a href='/{n}'>Section {n}</a></li>" for n in range(12))
    prose = "".join(f"<p>Paragraph {n}. {PROSE}</p>" for n in range(8))
    text = read(
        f"<nav class=main-menu><ul>{menu}</ul></nav><article class=post-content><h1>The tides</h1>{prose}</article>"
        f"<div class=share-buttons><a href=#>Share</a></div><footer class=site-footer><ul>{menu}</ul></footer>"
    ).text
    assert text.startswith("# The tides")
    assert text.count("A sentence of the story") == 48
    assert "Section" not in text
    assert "Share" not in text


def test_boilerplate_text_is_removed_from_an_element_that_is_kept() -> None:
    prose = "".join(f"<p>{PROSE}</p>" for _ in range(8))
    shares = "".join(
        f"<a class='share-button social' href=#>{name}</a> " for name in ("Share", "Tweet", "Email")
    )
    text = read(
        "<nav><a href=/>Home</a></nav><div class=article-body><h1>The tides</h1>"
        f"{prose}{shares}</div><footer>Copyright</footer>"
    ).text
    assert "Tweet" not in text
    assert "A sentence of the story" in text


def test_frameset_without_a_body_is_refused() -> None:
    with pytest.raises(KindlyError):
        read("<frameset><frame src=a></frameset>")


@needs_shared(SHARED_DATA / "extract")
def test_real_pages_give_text_or_a_named_error() -> None:
    refused = total = 0
    for corpus in CORPORA:
        with gzip.open(corpus, "rt", encoding="utf-8") as lines:
            for _, line in zip(range(PAGES_PER_CORPUS), lines, strict=False):
                row = json.loads(line)
                total += 1
                try:
                    document = extract(
                        page(row["html"], url=row["url"] or "https://x.example/"), ExtractOptions()
                    )
                except KindlyError:
                    refused += 1
                else:
                    assert document.text.strip()
    assert refused <= total // 10
