import gzip
import json

import pytest

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from tests.support.html_pages import page, read
from tests.support.paths import SHARED_DATA

PROSE = "A sentence of the story that goes on for a while and says something. " * 6
CORPORA = sorted((SHARED_DATA / "extract").glob("*/dev.jsonl.gz"))
PAGES_PER_CORPUS = 8


def test_page_without_any_hint_is_read_whole() -> None:
    assert read("<div><div>One.</div><div>Two.</div></div>").text == "One.\n\nTwo."


def test_page_of_only_navigation_is_still_read() -> None:
    assert "Install" in read("<nav><a href=/i>Install</a> <a href=/u>Use</a></nav>").text


def test_boilerplate_name_on_the_whole_page_takes_nothing_away() -> None:
    body = f"<div class='menu sidebar'><p>{PROSE}</p></div>"
    assert "A sentence of the story" in read(body).text


def test_main_is_preferred_to_what_surrounds_it() -> None:
    body = f"<div><p>Outside words.</p></div><main><p>{PROSE}</p></main><div><p>More outside.</p></div>"
    assert "utside" not in read(body).text


def test_article_body_is_preferred_within_main() -> None:
    body = f"<main><p>Teaser line.</p><div itemprop=articleBody><p>{PROSE}</p><p>{PROSE}</p></div></main>"
    assert "Teaser" not in read(body).text


def test_tiny_main_is_not_believed() -> None:
    assert "A sentence" in read(f"<main><p>Hi.</p></main><div><p>{PROSE}</p></div>").text


def test_comments_go_below_an_article_and_stay_where_they_are_the_page() -> None:
    comment = "<div class=comment><p>I agree with all of this.</p></div>"
    article = f"<article><p>{PROSE}</p><p>{PROSE}</p></article><div id=comments>{comment}</div>"
    assert "I agree" not in read(article).text
    assert "I agree" in read(f"<h1>Question</h1><div id=comments>{comment * 9}</div>").text


def test_teasers_under_a_telling_heading_go() -> None:
    teasers = "<div><div><h3>Read next</h3></div><p>Other story with a summary.</p></div>"
    text = read(f"<article><p>{PROSE}</p><p>{PROSE}</p>{teasers}<p>The end.</p></article>").text
    assert "Other story" not in text
    assert "The end." in text


def test_telling_heading_of_the_story_itself_stays() -> None:
    body = f"<article><h2>Latest changes</h2><p>{PROSE}</p><div>Before <h3>Tags</h3> after</div></article>"
    text = read(body).text
    assert "Latest changes" in text
    assert "### Tags" in text


def test_link_list_goes_from_prose_and_stays_in_a_page_of_links() -> None:
    links = "".join(f"<li><a href='/{n}'>Story number {n}</a></li>" for n in range(9))
    assert "Story number" not in read(f"<article><p>{PROSE}</p><ul>{links}</ul></article>").text
    assert "Story number 8" in read(f"<main><h1>All stories</h1><ul>{links}</ul></main>").text


def test_title_outside_the_content_comes_first() -> None:
    body = f"<div><h1>The title</h1></div><div><article><p>{PROSE}</p></article></div>"
    assert read(body).text.startswith("# The title\n\n")


def test_site_header_goes_and_article_header_stays() -> None:
    body = f"<header>Site name</header><article><header><p>Lead of the story.</p></header><p>{PROSE}</p></article>"
    text = read(body).text
    assert "Site name" not in text
    assert "Lead of the story." in text


def test_long_page_loses_its_chrome_and_keeps_its_text() -> None:
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


def test_loose_text_that_is_not_content_goes_from_an_element_that_stays() -> None:
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


def test_frameset_has_no_body_and_does_not_break() -> None:
    with pytest.raises(KindlyError):
        read("<frameset><frame src=a></frameset>")


@pytest.mark.skipif(not CORPORA, reason="the extraction corpora are not beside the checkout")
def test_real_pages_give_text_or_a_named_refusal() -> None:
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
