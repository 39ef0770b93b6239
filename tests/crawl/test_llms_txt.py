"""Lists of pages and whole documentations in one text file."""

from kindly.crawl.llms_txt import FullPage, links_of, pages_of

LIST = """# Project
> About.

## Docs
- [Intro](https://e.com/intro.md): begin here
- [Guide](/guide.md "The guide")
![logo](https://e.com/logo.png)
- https://e.com/bare
- [Intro again](https://e.com/intro.md)
"""
FULL = """# Intro
Source: https://e.com/intro

Hello.

```md
# Not a page
Source: https://e.com/not
```

---

# Guide

URL: https://e.com/guide

Do this.
## Details
More.
"""


def test_a_list_gives_its_links_once_and_in_order() -> None:
    assert links_of(LIST) == ["https://e.com/intro.md", "/guide.md", "https://e.com/bare"]


def test_a_full_text_is_split_where_it_names_a_source() -> None:
    intro, guide = pages_of(FULL)
    assert (intro.url, intro.title) == ("https://e.com/intro", "Intro")
    assert intro.text.startswith("# Intro\n\nHello.")
    assert intro.text.endswith("```")
    assert guide == FullPage("https://e.com/guide", "Guide", guide.text)
    assert guide.text.endswith("## Details\nMore.")
    assert "https://e.com/guide" not in guide.text


def test_a_text_without_sources_has_no_pages() -> None:
    assert pages_of("# One\n\nText.\n\n# Two\n\nText.") == []
