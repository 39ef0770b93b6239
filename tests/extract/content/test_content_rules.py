"""Rules for short pages, through the whole extraction of a page."""

from tests.support.html_pages import read

PROSE = "A sentence of the story that goes on for a while and says something. " * 6


def test_page_without_hints_is_kept_whole() -> None:
    assert read("<div><div>One.</div><div>Two.</div></div>").text == "One.\n\nTwo."


def test_page_of_only_navigation_is_kept() -> None:
    assert "Install" in read("<nav><a href=/i>Install</a> <a href=/u>Use</a></nav>").text


def test_boilerplate_name_on_the_whole_page_is_ignored() -> None:
    body = f"<div class='menu sidebar'><p>{PROSE}</p></div>"
    assert "A sentence of the story" in read(body).text


def test_main_is_preferred_to_its_surroundings() -> None:
    body = f"<div><p>Outside words.</p></div><main><p>{PROSE}</p></main><div><p>More outside.</p></div>"
    assert "utside" not in read(body).text


def test_article_body_is_preferred_within_main() -> None:
    body = f"<main><p>Teaser line.</p><div itemprop=articleBody><p>{PROSE}</p><p>{PROSE}</p></div></main>"
    assert "Teaser" not in read(body).text


def test_tiny_main_is_not_trusted() -> None:
    assert "A sentence" in read(f"<main><p>Hi.</p></main><div><p>{PROSE}</p></div>").text


def test_comments_below_an_article_are_removed_and_a_page_of_comments_is_kept() -> None:
    comment = "<div class=comment><p>I agree with all of this.</p></div>"
    article = f"<article><p>{PROSE}</p><p>{PROSE}</p></article><div id=comments>{comment}</div>"
    assert "I agree" not in read(article).text
    assert "I agree" in read(f"<h1>Question</h1><div id=comments>{comment * 9}</div>").text


def test_block_under_a_related_heading_is_removed() -> None:
    teasers = "<div><div><h3>Read next</h3></div><p>Other story with a summary.</p></div>"
    text = read(f"<article><p>{PROSE}</p><p>{PROSE}</p>{teasers}<p>The end.</p></article>").text
    assert "Other story" not in text
    assert "The end." in text


def test_related_heading_of_the_article_itself_is_kept() -> None:
    body = f"<article><h2>Latest changes</h2><p>{PROSE}</p><div>Before <h3>Tags</h3> after</div></article>"
    text = read(body).text
    assert "Latest changes" in text
    assert "### Tags" in text


def test_link_list_is_removed_from_prose_and_kept_in_a_page_of_links() -> None:
    links = "".join(f"<li><a href='/{n}'>Story number {n}</a></li>" for n in range(9))
    assert "Story number" not in read(f"<article><p>{PROSE}</p><ul>{links}</ul></article>").text
    assert "Story number 8" in read(f"<main><h1>All stories</h1><ul>{links}</ul></main>").text


def test_title_outside_the_content_is_moved_to_the_top() -> None:
    body = f"<div><h1>The title</h1></div><div><article><p>{PROSE}</p></article></div>"
    assert read(body).text.startswith("# The title\n\n")


def test_site_header_is_removed_and_article_header_is_kept() -> None:
    body = f"<header>Site name</header><article><header><p>Lead of the story.</p></header><p>{PROSE}</p></article>"
    text = read(body).text
    assert "Site name" not in text
    assert "Lead of the story." in text
