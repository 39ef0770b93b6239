import pytest

from tests.support.html_pages import rendered


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<p>a<sup><a href='#fn1' id=r1>1</a></sup></p><ol><li id=fn1>Note. <a href='#r1'>↩</a></li></ol>",
            "a[^1]\n\n[^1]: Note.",
        ),
        (
            "<p>a<sup class=reference><a href='#c'><span>[</span>2<span>]</span></a></sup></p><ol><li id=c>"
            "<span class=mw-cite-backlink><a href='#r'>^</a></span> <span>Ref.</span></li><li>rest</li></ol>",
            "a[^2]\n\n[^2]: Ref.\n\nrest",
        ),
        (
            "<p>a<a class=footnote-ref href='#x'><sup>1</sup></a></p><div id=x><sup>1</sup><p>Note.</p>"
            "</div>",
            "a[^1]\n\n[^1]: Note.",
        ),
        (
            "<p>a<a class=footnote-reference href='#n' id=r>[1]</a></p><aside id=n><span class=label>"
            "<span>[</span><a role=doc-backlink href='#r'>1</a><span>]</span></span><p>Note.</p></aside>",
            "a[^1]\n\n[^1]: Note.",
        ),
        (
            "<p>a<sup><a href='#n'>1</a></sup></p><section><h2 class=sr-only>Footnotes</h2>\n<ol><li id=n>"
            "<p>Note.</p></li></ol></section>",
            "a[^1]\n\n[^1]: Note.",
        ),
        (
            "<p>a<sup><a href='#n'>1</a></sup> b<sup><a href='#n'>1</a></sup></p><div id=n><i class=backrefs>"
            "(<a href='#r'>1</a>,<a href='#s'>2</a>)</i><p>Note. <a class=backref href='#s'>↩<sup>2</sup></a></p>"
            "</div>",
            "a[^1] b[^1]\n\n[^1]: Note.",
        ),
        ("<p>a<sup><a href='#n'>*</a></sup></p><p><a name=n>*</a> Note.</p>", "a[^1]\n\n[^1]: \\* Note."),
        ("<p>a.<sup>1</sup></p><hr><p><sup>1</sup> Note.</p>", "a.[^1]\n\n---\n\n[^1]: Note."),
        ("<p>a.<sup>1</sup></p><p><b><sup>1</sup> Late:</b> Note.</p>", "a.[^1]\n\n[^1]: **Late:** Note."),
        ("<p>a<sup><a href='#gone'>3</a></sup></p>", "a[3]"),
        ("<p>a<sup><a href='#h'>1</a></sup></p><h2 id=h>Head</h2>", "a[1]\n\n## Head"),
        (
            "<p>a<sup><a href='#n'>1</a></sup> b<sup><a href='#m'>1</a></sup></p><p id=n>One.</p><p id=m>"
            "Two.</p>",
            "a[^1] b[^2]\n\n[^1]: One.\n\n[^2]: Two.",
        ),
        ("<p>a <a href='#top'>1</a></p><p id=top>Top.</p>", "a 1\n\nTop."),
        ("<p id=self>a<sup><a href='#self'>1</a></sup></p>", "a[1]"),
        ("<p>x<sup>(a)</sup> y.<sup>long words</sup></p>", "x(a) y.long words"),
    ],
    ids=[
        "list", "encyclopedia", "mark within the link", "brackets around the mark", "unseen heading", "two references",
        "named anchor", "loose", "loose in bold", "note not here",
        "heading", "same mark twice", "plain link", "itself", "no note",
    ],
)  # fmt: skip
def test_footnotes_become_markdown_footnotes(markup: str, text: str) -> None:
    assert rendered(markup) == text
