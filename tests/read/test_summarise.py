import pytest

from kindly.read.summarise import summarise

PAGE = """# Bees

![A bee](bee.png) **Bees** see [ultraviolet light](https://example.com/uv), so plain flowers carry guides for bees.

Share this page with all of your friends today.

- A forager tells other bees of the colony about food by a `waggle` dance.
- In winter the colony of bees forms a ball around the queen and shivers on honey.

```
bees = colony.count_bees()
```

| bees | colony | honey, and the bees of the colony once more |
|---|---|---|

In winter the colony of bees forms a ball around the queen and shivers on honey!
"""


@pytest.mark.parametrize("limit", [80, 200, 500])
def test_summary_keeps_within_its_limit(limit: int) -> None:
    assert 0 < len(summarise(PAGE * 3, limit=limit)) <= limit


def test_summary_is_prose_in_page_order_without_marks() -> None:
    summary = summarise(PAGE)

    assert summary.index("Bees see ultraviolet light") < summary.index("waggle dance")
    assert not {"*", "`", "|", "[", "#"} & set(summary)


def test_same_thing_is_said_once() -> None:
    assert summarise(PAGE).count("shivers") == 1


def test_question_decides_what_is_said_first() -> None:
    summary = summarise(PAGE, limit=90, question="What does the colony do in winter?")

    assert "shivers" in summary


def test_question_without_words_changes_nothing() -> None:
    assert summarise(PAGE, question="?!") == summarise(PAGE)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 500, ""),
        ("Too short.", 500, "Too short."),
        ("word " * 100, 20, "word word word word…"),
        ("word " * 100, 0, ""),
    ],
    ids=["empty", "short", "one long sentence", "no room"],
)
def test_edges(text: str, limit: int, expected: str) -> None:
    assert summarise(text, limit=limit) == expected


def test_file_names_keep_their_underscores() -> None:
    text = "The function read_page_now of the module __init__ reads _exactly_ one page at a time."

    assert "read_page_now" in summarise(text)
