from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.models import Chunk, Passage
from kindly.read.chunk import split
from kindly.read.ranking import answer_model, static_model
from kindly.read.ranking.rank import CLOSEST, LEFTOVER_TOKENS, SIZES, Index, Ranking

URL = "https://example.com/bees"
FILLER = (
    "The garden has a stone path that leads from the gate to an old shed by the wall. "
    "Tools hang in rows, and a window looks out over beds of lettuce and beans. "
)
BEES = f"""# Keeping bees

Bees see ultraviolet light, so a flower that looks plain to us may carry bright guides for them.

{FILLER * 6}

## Dance

A forager that found food tells the others by a waggle dance whose angle points the way from the sun.

{FILLER.replace("garden", "orchard") * 6}

## Winter

In winter the colony forms a ball around the queen and shivers to keep warm on stored honey.

{FILLER.replace("garden", "meadow") * 6}
"""
WINTER = "How does the colony keep warm in winter?"
OFF_PAGE = "Which team won the 1998 football world cup in Paris?"


def ask(text: str, question: str, *, limit: int = 8, threshold: float = 0.72) -> Ranking:
    return Index(split(text, URL), None).ask(question, None, limit=limit, threshold=threshold)


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        (WINTER, "shivers to keep warm"),
        ("What light do bees see?", "ultraviolet"),
        ("how do foragers tell where food is", "waggle dance"),
    ],
)
def test_best_passage_holds_the_answer(question: str, evidence: str) -> None:
    ranking = ask(BEES, question)

    assert ranking.answered
    assert evidence in ranking.passages[0].text


def test_passages_lie_where_they_say_and_never_overlap() -> None:
    passages = ask(BEES, WINTER, threshold=0.0).passages

    assert all(one.text == BEES[one.start : one.end] for one in passages)
    spans = sorted((one.start, one.end) for one in passages)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_scores_are_between_zero_and_one_and_fall() -> None:
    scores = [one.score or 0 for one in ask(BEES, WINTER).passages]

    assert scores == sorted(scores, reverse=True)
    assert 0.72 <= scores[0] < 1


def test_page_that_does_not_answer_gives_the_closest_passages_below_the_threshold() -> None:
    ranking = ask(BEES * 3, OFF_PAGE)

    assert not ranking.answered
    assert 0 < len(ranking.passages) <= CLOSEST
    assert all((one.score or 0) < answer_model.THRESHOLD for one in ranking.passages)


@pytest.mark.parametrize("paragraphs", [2, 6, 40])
@pytest.mark.parametrize("sentences", [1, 3])
def test_word_in_every_sentence_counts_as_the_topic(paragraphs: int, sentences: int) -> None:
    more = " The log grows, and a checkpoint copies it back." * (sentences - 1)
    text = "\n\n".join(
        f"WAL mode lets readers continue while a writer appends {n} pages.{more}"
        for n in range(paragraphs)
    )

    assert ask(text, "What does WAL mode do?").answered


@pytest.mark.parametrize(
    ("threshold", "answered"), [(0.0, True), (1.0, False)], ids=["zero", "one"]
)
def test_threshold_lets_through_what_reaches_it(threshold: float, answered: bool) -> None:
    assert ask(BEES, WINTER, threshold=threshold).answered is answered
    assert ask(BEES, OFF_PAGE, threshold=threshold).answered is answered


def test_limit_is_kept() -> None:
    assert len(ask(BEES, WINTER, limit=1).passages) == 1


def test_passage_names_the_headings_above_it() -> None:
    (best, *_) = ask(BEES, WINTER).passages

    assert best.section == ("Keeping bees", "Winter")


def test_headings_inside_a_chunk_are_named_too() -> None:
    text = "# Book\n\n## One\n\nApples grow on trees.\n\n### Deep\n\nPears do as well.\n\n## Two\n\nFish swim."

    index = Index(split(text, URL), None)

    (chunk,) = index.chunks
    assert chunk.section == ("Book",)
    assert ask(text, "Do fish swim?", threshold=0.0).passages[0].section[0] == "Book"


def test_copies_of_a_passage_are_returned_once() -> None:
    same = "In winter the colony forms a ball around the queen and shivers to keep warm. "
    text = "\n\n".join(
        f"# Part {name}\n\n{same * 9}\n\n{FILLER * 4}" for name in ("one", "two", "three")
    )
    text += f"\n\n# End\n\n{FILLER.replace('garden', 'park')}"

    passages = ask(text, WINTER, threshold=0.0).passages

    assert sum("shivers" in one.text for one in passages) < 3


def test_passages_stay_within_their_size() -> None:
    rest = " ".join(
        f"Plot {n} has bed {n * 7}, gate {n * 11} and shed {n * 13}." for n in range(900)
    )

    passages = ask(f"{BEES}\n\n{rest}", WINTER, threshold=0.0).passages

    assert len(passages) == 8
    assert all(len(one.text) / 4 <= max(SIZES) + 2 * LEFTOVER_TOKENS + 1 for one in passages)


def test_little_that_would_be_left_of_a_chunk_is_taken_in() -> None:
    sentence = "Plot {} has a bed of beans, a gate to the lane and a shed with some tools. "
    count = SIZES[0] * 4 // len(sentence) + 1
    text = "".join(sentence.format(n) for n in range(count)).strip()

    (best, *others) = ask(text, "Which plot has a shed?", threshold=0.0).passages

    assert len(text) / 4 > SIZES[0]
    assert best.text == text
    assert not others


def test_what_is_left_of_a_good_window_comes_before_worse_ones() -> None:
    sentence = "Plot {} has a bed of beans, a gate to the lane and a shed with some tools. "
    index = Index(split("".join(sentence.format(n) for n in range(200)), URL), None)
    first = index.chunks[0]
    windows = index.windows()
    inside = [number for number, (_, end) in enumerate(windows) if end <= first.end]
    scores = np.zeros(len(windows), dtype=np.float32)
    scores[inside[0]], scores[inside[-1]] = 5, 4.9

    (best, second) = index.spans(scores, 2)

    assert best[1] < second[1] == first.end


def test_rows_of_a_long_table_come_with_its_head() -> None:
    head = "| city | inhabitants |\n|---|---|\n"
    text = head + "\n".join(f"| Town{n} | {n * 1000 + 7} |" for n in range(400))

    (best, *_) = ask(text, "How many inhabitants has Town333?", threshold=0.0).passages

    assert best.text.startswith(head)
    assert "| Town333 | 333007 |" in best.text
    assert "| Town333 | 333007 |" in text[best.start : best.end]


@pytest.mark.parametrize("question", ["", "???", " \n "], ids=["empty", "marks", "blank"])
def test_question_without_words_is_not_answered(question: str) -> None:
    assert ask(BEES, question) == Ranking((), answered=False)


@pytest.mark.parametrize("text", ["", "…"], ids=["empty", "marks"])
def test_page_without_words_does_not_answer(text: str) -> None:
    ranking = ask(text, WINTER)

    assert not ranking.answered
    assert ranking.passages == ()


def test_endless_question_is_read_in_part() -> None:
    assert ask(BEES, WINTER + " honey" * 100_000).passages


def test_chunks_of_many_pages_are_ranked_together() -> None:
    other = "https://example.com/other"
    chunks = [*split(BEES, URL), *split(BEES.replace("winter", "summer"), other)]

    ranking = Index(chunks, None).ask(WINTER, None, limit=4)

    ids = {chunk.id: chunk.url for chunk in chunks}
    assert ids[ranking.passages[0].id] == URL


class Server:
    """Another model's vectors: the chosen chunk is the question's only neighbour."""

    def __init__(self, chunks: tuple[Chunk, ...], chosen: int) -> None:
        self.question: NDArray[np.float32] = np.eye(3, dtype=np.float32)[0]
        self.rows = np.tile(np.eye(3, dtype=np.float32)[1], (len(chunks), 1))
        self.rows[chosen] = self.question


def test_vectors_of_a_server_move_their_chunk_up() -> None:
    chunks = split(
        "\n\n".join(f"# {n}\n\n" + FILLER.replace("garden", f"g{n}") * 9 for n in range(9)), URL
    )
    server = Server(chunks, len(chunks) - 1)

    plain = Index(chunks, None).ask("stone path", None, limit=9, threshold=0.0)
    moved = Index(chunks, server.rows).ask("stone path", server.question, limit=9, threshold=0.0)

    def place(passages: tuple[Passage, ...]) -> int:
        return [one.id for one in passages].index(chunks[-1].id)

    assert place(moved.passages) < place(plain.passages)


def test_vectors_of_the_local_model_change_nothing() -> None:
    chunks = split(BEES, URL)
    model = static_model.load()
    index = Index(chunks, model.embed([one.text for one in chunks]))

    with_vectors = index.ask(WINTER, model.embed([WINTER])[0], limit=8)

    assert with_vectors == index.ask(WINTER, None, limit=8)


@pytest.mark.parametrize("evidence", [-1e9, -3.0, 0.0, 3.0, 1e9])
def test_scale_rises_with_evidence_and_is_the_threshold_at_zero(evidence: float) -> None:
    assert 0 < answer_model.on_scale(evidence) <= 1
    assert (answer_model.on_scale(evidence) >= answer_model.THRESHOLD - 1e-9) is (evidence >= 0)


@pytest.mark.parametrize(
    ("question", "text", "evidence"),
    [
        ("黑豹队的防守丢了多少分？", "黑豹队的防守只丢了308分，在联赛中排名第六。", "308"),
        (
            "パンサーズの守備は何点を失ったか",
            "パンサーズの守備はわずか308点しか失わなかった。",
            "308",
        ),
        ("Сколько очков уступила защита?", "Защита уступила всего 308 очков за сезон.", "308"),
        ("पैंथर्स ने कितने अंक दिए?", "पैंथर्स की रक्षा ने सिर्फ 308 अंक दिए।", "308"),
        ("ทีมรับยอมแพ้กี่คะแนน", "ทีมรับยอมแพ้เพียง 308 คะแนน", "308"),
    ],
    ids=["chinese", "japanese", "russian", "hindi", "thai"],
)
def test_languages_find_their_answer(question: str, text: str, evidence: str) -> None:
    page = f"{FILLER * 12}\n\n{text}\n\n{FILLER * 12}"

    assert evidence in ask(page, question, threshold=0.0).passages[0].text


def test_sentence_that_two_chunks_share_is_returned_whole() -> None:
    filler = "The garden of plot {} has a path, a gate, a shed and a bed of beans in it. "
    clubs = "The clubs are, in one long list, " + ", ".join(f"club {n}" for n in range(60))
    text = "".join(filler.format(n) for n in range(17)) + f"{clubs} and the Rovers of football. "
    text += "".join(filler.format(n) for n in range(30, 60))

    index = Index(split(text, URL), None)
    (best, *_) = index.ask("Which Rovers are there?", None, limit=8, threshold=0.0).passages

    assert any(clubs not in one.text and "Rovers" in one.text for one in index.chunks)
    assert f"{clubs} and the Rovers" in best.text


def test_all_of_a_short_page_is_returned_if_it_fits() -> None:
    passages = ask(BEES, WINTER, threshold=0.0).passages

    shown = "".join(one.text for one in passages)
    assert all(one in shown for one in ("ultraviolet", "waggle dance", "shivers to keep warm"))
