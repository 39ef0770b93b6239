import re

import pytest

from kindly.fetch.browser.page_parts import (
    Content,
    read_content,
    scripts_and_notices,
    visible_markup,
)

NOTICE = re.compile(rb"loading")


def read(html: str, enough: int | None = None) -> Content:
    return read_content(visible_markup(html.lower().encode()), NOTICE, enough)


def waiting(html: str) -> set[str]:
    """Tag and names of the elements without text."""
    return {b".".join((one.tag, *sorted(one.names))).decode() for one in read(html).waiting}


@pytest.mark.parametrize(
    ("html", "chars", "all_chars"),
    [
        ("<p>four</p>", 4, 4),
        ("<p>a&nbsp; b</p>", 3, 3),
        ("<p>café</p>", 4, 4),
        ("<!doctype html><title>title</title><p>four</p>", 4, 4),
        ("<script>var a</script><style>p{}</style><!-- note --><p>four</p>", 4, 4),
        ("<noscript>text</noscript><svg><text>text</text></svg>", 0, 0),
        ("<nav>menu</nav><footer><p>foot</p></footer><p>four</p>", 4, 12),
        ("<div class='site-footer wide'>foot</div><p>four</p>", 4, 8),
        ("<div data-part=footer>four</div>", 4, 4),
        ("<div class=page-with-sidebar>four</div>", 4, 4),
        ("<p>four <a href=/>link</a></p><button>push</button>", 4, 12),
        ("<p>© 2026 Example</p><p>four</p>", 4, 18),
        ("<p>Loading…</p><p>four</p>", 4, 4),
        ("<div><nav>menu</div><p>four</p>", 4, 8),
        ("<p>four", 4, 4),
        ("four", 4, 4),
        ("<script>never closed <p>four</p>", 0, 0),
    ],
)
def test_text_in_menus_footers_and_links_is_not_content(
    html: str, chars: int, all_chars: int
) -> None:
    content = read(html)
    assert (content.chars, content.text_chars) == (chars, all_chars)


def test_pieces_links_pictures_and_fields_of_the_content_are_counted() -> None:
    content = read(
        "<nav><a href=/>x</a><img src=a></nav><a href=/>x</a><p>a</p><p>b</p><img src=a>"
        "<video></video><input name=q><input type=hidden><textarea></textarea>"
    )
    assert (content.texts, content.links, content.pictures, content.fields) == (2, 1, 5, 2)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div id=root></div>", {"div.root"}),
        ("<main class='a b'> </main>", {"main.a.b"}),
        ("<my-app slug=x></my-app>", {"my-app"}),
        (
            "<div id=app><div class=spinner></div><p>Loading…</p></div>",
            {"div.app", "div.spinner", "p"},
        ),
        ("<div id=app><!-- here --><script>x</script></div>", {"div.app"}),
        ("<div id=app>" + "word " * 20 + "</div>", set()),
        ("<div id=app>" + "<img src=a>" * 2 + "</div>", set()),
        ("<span id=app></span>", set()),
        ("<footer><div id=app></div></footer>", set()),
        ("<div id=app>", {"div.app"}),
    ],
)
def test_elements_without_text_are_found(html: str, expected: set[str]) -> None:
    assert waiting(html) == expected


def test_element_with_a_menu_is_not_bare() -> None:
    menu = "<nav>" + "word " * 20 + "</nav>"
    (outer, inner) = sorted(
        read(f"<div id=a>{menu}<div id=b></div></div>").waiting, key=lambda one: max(one.names)
    )
    assert (outer.bare, inner.bare) == (False, True)


def test_reading_ends_when_there_is_enough_content() -> None:
    assert read("<p>four</p>" * 100, enough=10).chars == 12


def test_scripts_are_those_with_code_and_notices_those_for_browsers_without() -> None:
    scripts, notices = scripts_and_notices(
        b"<script src=/a.js></script><script type=application/ld+json>{}</script>"
        b"<script type=module>import 'x'</script><noscript>enable scripts</noscript>"
    )
    assert [(one.attributes.strip(), one.code) for one in scripts] == [
        (b"src=/a.js", b""),
        (b"type=module", b"import 'x'"),
    ]
    assert notices == b"enable scripts"
