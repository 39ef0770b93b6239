import pytest

from kindly.budget import count_tokens
from kindly.read.chunk import split
from kindly.read.ranking.rank import ROWS_TOKENS, Index, Ranking

URL = "https://example.com/"
FILLER = "The harbour has a stone quay that leads from the gate to an old shed by the wall. " * 30
ROWS = "\n".join(
    f"| [Stop {number}](https://example.com/wiki/Stop_{number}) | {1900 + number} | {100 + number} |"
    for number in range(60)
)
PAGE = f"""# Tram line

{FILLER}

## Stations

| Station | Opened | Parking spaces |
| --- | --- | --- |
{ROWS}
| [Norwalk](https://example.com/wiki/Norwalk) | 1950 | 2,050 |
| [Quay](https://example.com/wiki/Quay) | 1890 | 7 |
| [Hill](https://example.com/wiki/Hill) | 1951 | 90 |

## Fares

{FILLER}
"""


def ask(question: str) -> Ranking:
    return Index(split(PAGE, URL), None).ask(question, None, limit=8, threshold=0.0)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("Which station has the most parking spaces?", "| Norwalk | 1950 | 2,050 |"),
        ("Which station has the fewest parking spaces?", "| Quay | 1890 | 7 |"),
        ("Which station opened first?", "| Quay | 1890 | 7 |"),
        ("How many parking spaces has the station Hill?", "| Hill | 1951 | 90 |"),
        ("Which station comes after Stop 37 on the tram line?", "| Stop 38 | 1938 | 138 |"),
        ("Which station comes before Stop 37 on the tram line?", "| Stop 36 | 1936 | 136 |"),
        ("Which stations have more than 158 parking spaces?", "| Stop 59 | 1959 | 159 |"),
    ],
)
def test_row_that_answers_comes_with_the_head_of_its_table(question: str, row: str) -> None:
    texts = [one.text for one in ask(question).passages]
    (found,) = [one for one in texts if row in one][:1]
    assert "| Station | Opened | Parking spaces |\n| --- | --- | --- |" in found


def test_rows_that_are_left_out_are_marked() -> None:
    texts = [one.text for one in ask("Which station has the most parking spaces?").passages]
    assert any("| … |" in one for one in texts)


def test_every_passage_of_rows_has_the_head() -> None:
    passages = ask("Which station has the most parking spaces?").passages
    rows = [one.text for one in passages if "| [Stop" in one.text or "| Stop" in one.text]
    assert rows
    assert all("| Station | Opened | Parking spaces |" in one for one in rows)


TICKETS = "\n".join(f"| Stop {number} | blue |" for number in range(60))
TWO = f"""# Tram line

{FILLER}

## Fares of the stations

| Station | Ticket |
| --- | --- |
{TICKETS}
| [Hill](https://example.com/wiki/Hill) | red |

{FILLER}

## Stations

| Station | Opened | Parking spaces |
| --- | --- | --- |
{ROWS}
| [Hill](https://example.com/wiki/Hill) | 1951 | 90 |
"""


def test_rows_of_two_tables_share_the_budget() -> None:
    index = Index(split(TWO, URL), None)
    question = "What ticket and how many parking spaces has the station Hill?"
    found = index.ask(question, None, limit=8, threshold=0.0).passages
    rows = [one.text for one in found if "| Hill |" in one.text]
    assert any("| Hill | red |" in one for one in rows)
    assert any("| Hill | 1951 | 90 |" in one for one in rows)
    assert (
        sum(count_tokens(one) for one in rows) <= 1.1 * ROWS_TOKENS
    )  # marks of left-out rows are not counted


BUILT = [
    f"| Hall {number} | A shed that {number % 7 + 3} men built in {1900 + number} for boats |"
    for number in range(5, 120)
]
BUILT[80] = "| Hall 85 | A shed that 5 men built in 1875 for boats |"
BUILT[90] = "| Hall 95 | A shed that 5 men built in 2024 for boats |"
SIGHTS = "\n".join(("# Sights", FILLER, "", "| Landmark | Summary |", "|---|---|", *BUILT))
PLACES = ("UK", "US", "Germany", "US Dance")
SINGLES = [f"| Song {number} | {number} | {number} | {number} | 50 |" for number in range(12, 120)]
SINGLES[88] = "| Song 100 | 100 | 100 | 100 | 2 |"
NAMES = " | ".join(f"Peak chart position {place}" for place in PLACES)
CHARTS = "\n".join(
    ("# Singles", FILLER, "", f"| Title | {NAMES} |", "|---|---|---|---|---|", *SINGLES)
)


@pytest.mark.parametrize(
    ("page", "question", "row"),
    [
        (SIGHTS, "Which landmark is the oldest?", "| Hall 85 |"),
        (SIGHTS, "Which landmark was built the longest ago?", "| Hall 85 |"),
        (SIGHTS, "Which is the newest landmark?", "| Hall 95 |"),
        (CHARTS, "Which song had the highest position on the US dance chart?", "| Song 100 |"),
    ],
)
def test_row_with_an_extreme_of_the_meant_column_is_found(
    page: str, question: str, row: str
) -> None:
    passages = Index(split(page, URL), None).ask(question, None, limit=8, threshold=0.0).passages
    assert any(row in one.text for one in passages if "| … |" in one.text)
