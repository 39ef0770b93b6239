from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kindly.budget import count_tokens
from kindly.models import Chunk
from kindly.read.chunk import split

URL = "https://example.com/page"
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank number {}. "


def prose(count: int, first: int = 0) -> str:
    return "".join(SENTENCE.format(number) for number in range(first, first + count)).strip()


def lies_in_its_text(chunk: Chunk, text: str) -> bool:
    return chunk.text == text[chunk.start : chunk.end]


def test_ids_never_change() -> None:
    """With other chunk ids, an existing library would be embedded again."""
    text = (
        f"# Guide\n\n{prose(12)}\n\n## Setup\n\n{prose(60, 12)}\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )

    assert [(chunk.id[:12], chunk.section, chunk.start) for chunk in split(text, URL)] == [
        ("c981c86a14ac", ("Guide",), 0),
        ("eac1a37b135c", ("Guide", "Setup"), 900),
        ("133cf6106bdd", ("Guide", "Setup"), 2710),
        ("8b5dd5c0d902", ("Guide", "Setup"), 4510),
    ]


def test_same_text_gives_same_chunks() -> None:
    text = f"# A\n\n{prose(80)}"

    assert split(text, URL) == split(text, URL)


def test_id_depends_on_url_section_and_text() -> None:
    ids = {
        split(text, url)[0].id
        for text, url in [("# A\n\nx", URL), ("# B\n\nx", URL), ("# A\n\ny", URL), ("# A\n\nx", "")]
    }

    assert len(ids) == 4


def test_chunks_keep_within_the_size_and_overlap_by_an_eighth() -> None:
    text = prose(400)

    chunks = split(text, URL, size=256)

    assert all(chunk.tokens == count_tokens(chunk.text) <= 256 for chunk in chunks)
    assert all(lies_in_its_text(chunk, text) for chunk in chunks)
    shared = [count_tokens(text[after.start : before.end]) for before, after in pairwise(chunks)]
    assert all(0.10 * 256 - 1 <= one <= 0.15 * 256 + 1 for one in shared)


def test_long_sentence_overlaps_at_a_word() -> None:
    text = "word " * 900

    chunks = split(text, URL, size=128)

    assert all(chunk.text.startswith("word") and chunk.text.endswith("word") for chunk in chunks)
    assert all(chunk.tokens <= 128 for chunk in chunks)


def test_section_begins_a_chunk_and_names_its_headings() -> None:
    text = f"# Book\n\n{prose(20)}\n\n## One\n\n{prose(30, 20)}\n\n## Two\n\n{prose(9, 50)}"

    chunks = split(text, URL, size=1024)

    assert [chunk.section for chunk in chunks] == [("Book",), ("Book", "One"), ("Book", "Two")]
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# Book", "## One", "## Two"]


def test_small_sections_are_merged_under_what_they_share() -> None:
    text = "# Book\n\n## One\n\nFew words.\n\n## Two\n\nFew words more.\n\n## Three\n\nThe end."

    (chunk,) = split(text, URL)

    assert chunk.section == ("Book",)
    assert chunk.text == text


def test_chunk_names_the_page_that_it_begins_on() -> None:
    text = f"— page 1 —\n\n# Book\n\n{prose(40)}\n\n— page 2 —\n\n{prose(40, 50)}\n\n## Two\n\n{prose(40, 100)}"

    chunks = split(text, URL, size=256)

    assert [chunk.section for chunk in chunks if chunk.text.startswith("—")] == [
        ("p. 1",),
        ("Book", "p. 2"),
    ]
    assert chunks[-1].section == ("Book", "Two", "p. 2")


def test_duplicate_text_is_kept_once() -> None:
    same = "# Same\n\n" + prose(40)
    text = f"{same}\n\n{same}\n\n{same}"

    assert len(split(text, URL, size=2048)) == 1


@pytest.mark.parametrize(
    "block",
    [
        "```python\n" + "\n\n".join(f"def f{n}():\n    return {n}" for n in range(20)) + "\n```",
        "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | value {n} |" for n in range(20)),
    ],
    ids=["code", "table"],
)
def test_code_and_tables_stay_whole(block: str) -> None:
    text = f"{prose(20)}\n\n{block}\n\n{prose(20, 20)}"

    assert sum(block in chunk.text for chunk in split(text, URL, size=256)) == 1


def test_long_table_is_split_by_rows_under_its_head() -> None:
    head = "| name | value |\n|---|---|\n"
    rows = [f"| row {n} | some value of {n} |" for n in range(300)]
    text = head + "\n".join(rows)

    chunks = split(text, URL, size=256)

    assert len(chunks) > 3
    assert all(chunk.text.startswith(head) and chunk.tokens <= 256 for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.splitlines()[2:]] == rows
    assert all(chunk.text.endswith(text[chunk.start : chunk.end]) for chunk in chunks[1:])


@pytest.mark.parametrize(
    "table",
    [
        "\n".join(f"| {n} | no rule below the first row |" for n in range(200)),
        "| " + "wide " * 300 + "|\n|---|\n" + "\n".join(f"| {n} |" for n in range(50)),
    ],
    ids=["no rule", "head too wide to repeat"],
)
def test_odd_tables_lose_nothing(table: str) -> None:
    chunks = split(table, URL, size=128)

    assert all(chunk.tokens <= 128 for chunk in chunks)
    words = " ".join(chunk.text for chunk in chunks).split()
    assert set(table.split()) <= set(words)


def test_long_code_is_cut_between_lines() -> None:
    lines = [f"    line_{n} = compute({n})" for n in range(400)]
    text = "```\n" + "\n".join(lines) + "\n```"

    chunks = split(text, URL, size=128)

    assert all(chunk.tokens <= 128 and lies_in_its_text(chunk, text) for chunk in chunks)
    assert [line for chunk in chunks for line in chunk.text.splitlines()][1:-1] == lines


@pytest.mark.parametrize(
    "sentence",
    [
        "这是一个没有空格的句子，用来测试分块。",
        "これは空白のない文です。",
        "กรุงเทพมหานครเป็นเมืองหลวง ",
        "ប្រទេសកម្ពុជា។",
    ],
    ids=["chinese", "japanese", "thai", "khmer"],
)
def test_unspaced_scripts_are_split_at_sentences(sentence: str) -> None:
    text = "".join(f"{number}{sentence}" for number in range(100)).strip()

    chunks = split(text, URL, size=256)

    assert len(chunks) > 4
    assert all(chunk.tokens <= 256 for chunk in chunks)
    assert all(chunk.text.rstrip().endswith(sentence.strip()) for chunk in chunks)


@pytest.mark.parametrize(
    "text", ["", "\n\n \n", "#", "# \n##\n"], ids=["empty", "blank", "mark", "marks"]
)
def test_text_without_words_gives_at_most_its_marks(text: str) -> None:
    assert all(chunk.text.strip() for chunk in split(text, URL))


def test_only_headings_are_kept_as_text() -> None:
    assert [chunk.text for chunk in split("# One\n\n## Two", URL)] == ["# One\n\n## Two"]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "a " * 500_000,
        "# h\n" * 20_000,
        "| c |\n" * 20_000,
        "字" * 300_000,
        "```\n" * 20_001,
        ".\n" * 20_000,
        "\ud800" * 10_000,
    ],
    ids=["one word", "one line", "headings", "rows", "characters", "fences", "dots", "surrogates"],
)
def test_hostile_text_is_cut_all_the_same(text: str) -> None:
    chunks = split(text, URL)

    assert all(chunk.tokens <= 512 for chunk in chunks)


@given(st.text(alphabet="ab .\n#|`-字ก", max_size=400), st.integers(16, 64))
@settings(max_examples=200, deadline=None)
def test_any_text_is_covered_in_order_within_the_size(text: str, size: int) -> None:
    chunks = split(text, URL, size=size)

    assert all(chunk.tokens <= size for chunk in chunks)
    assert all(text[chunk.start : chunk.end] in chunk.text for chunk in chunks)
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
