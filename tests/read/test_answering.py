"""Questions are answered from one page or from all, with or without vectors."""

import pytest

from tests.support.library_world import BEES, URL, LibraryWorld, document

pytestmark = pytest.mark.anyio

LONG = f"## Towns\n\n{'The town by the sea has rain and wind. ' * 90}\n\n{BEES}"
OFF_PAGE = "Which tax applies to imported steel pipes?"


@pytest.fixture
def world() -> LibraryWorld:
    return LibraryWorld()


async def test_passage_is_the_text_at_its_offsets(world: LibraryWorld) -> None:
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document(LONG))
    (finding,) = await library.ask(stored, ["What does the colony do in winter?"], 1)
    passage = finding.citations[0].passage
    assert "around the queen" in passage.text
    assert LONG[passage.start : passage.end] == passage.text
    assert passage.total == len(LONG)
    assert passage.section[0] == "Bees"
    assert passage.id in {chunk.id for chunk in stored.chunks}


async def test_question_that_the_page_does_not_answer_gets_the_closest_passages(
    world: LibraryWorld,
) -> None:
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document(LONG))
    (finding,) = await library.ask(stored, [OFF_PAGE], 8)
    assert not finding.answered
    assert 0 < len(finding.citations) <= 3
    assert all((one.passage.score or 0) < 0.72 for one in finding.citations)


async def test_short_page_is_given_whole_whether_it_answers_or_not(world: LibraryWorld) -> None:
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document())
    findings = await library.ask(stored, ["What does the colony do in winter?", OFF_PAGE], 8)
    assert [finding.answered for finding in findings] == [True, False]
    for finding in findings:
        (cited,) = finding.citations
        assert cited.passage.text.split() == BEES.split()


async def test_several_questions_are_embedded_at_once(world: LibraryWorld) -> None:
    library = world.library()
    stored, _ = await library.keep(URL, document())
    before = len(world.embedder.texts)
    findings = await library.ask(stored, ["waggle dance angle", "ultraviolet light"], 1)
    assert [finding.question for finding in findings] == ["waggle dance angle", "ultraviolet light"]
    assert world.embedder.texts[before:] == ["waggle dance angle", "ultraviolet light"]


async def test_without_embeddings_words_decide_and_the_reason_is_given_once(
    world: LibraryWorld,
) -> None:
    world.embedder.down = True
    library = world.library()
    stored, note = await library.keep(URL, document())
    findings = await library.ask(stored, ["waggle dance angle", "ultraviolet light"], 1)
    assert "waggle dance" in findings[0].citations[0].passage.text
    assert "by words alone" in note
    assert [finding.note for finding in findings] == ["", ""]


async def test_embeddings_that_fail_for_the_questions_are_noted_once(world: LibraryWorld) -> None:
    library = world.library()
    stored, note = await library.keep(URL, document())
    assert note == ""
    world.embedder.down = True
    questions = ["waggle dance angle", "ultraviolet light"]
    for first, second in (
        await library.ask(stored, questions, 1),
        await library.recall(questions, 1),
    ):
        assert "by words alone" in first.note
        assert second.note == ""


async def test_without_embeddings_the_closest_passages_are_given_as_well(
    world: LibraryWorld,
) -> None:
    world.embedder.down = True
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document(LONG))
    (finding,) = await library.ask(stored, ["zzz qqq xxx"], 2)
    assert not finding.answered
    assert 0 < len(finding.citations) <= 2


@pytest.mark.parametrize("limit", [2, 8])
async def test_question_without_words_gets_the_longest_parts(
    world: LibraryWorld, limit: int
) -> None:
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document(LONG))
    (finding,) = await library.ask(stored, ["???"], limit)
    assert not finding.answered
    assert len(finding.citations) == min(limit, 3)
    assert "longest parts" in finding.note


async def test_recall_gives_the_closest_passages_if_nothing_answers(world: LibraryWorld) -> None:
    library = world.library(chunk_tokens=64)
    await library.keep(URL, document(LONG))
    for question in (OFF_PAGE, "???"):
        (finding,) = await library.recall([question], 8)
        assert not finding.answered
        assert 0 < len(finding.citations) <= 3


async def test_recall_finds_the_page_among_others(world: LibraryWorld) -> None:
    library = world.library()
    await library.keep(URL, document())
    for name, text in {
        "steel": "# Steel\n\nSteel is an alloy of iron and carbon, made in furnaces at great heat.",
        "tea": "# Tea\n\nGreen tea is steeped at eighty degrees for two minutes, black tea longer.",
    }.items():
        await library.keep(f"https://example.com/{name}", document(text))
    bees, tea, nothing = await library.recall(
        [
            "what does the waggle dance tell?",
            "how hot is green tea steeped?",
            "quantum chromodynamics",
        ],
        2,
    )
    assert bees.citations[0].page.url == URL
    assert tea.citations[0].page.url.endswith("/tea")
    assert tea.citations[0].passage.total > 0
    assert not nothing.answered


async def test_ranked_gives_passages_of_any_score(world: LibraryWorld) -> None:
    library = world.library(chunk_tokens=64)
    stored, _ = await library.keep(URL, document())
    passages = await library.ranked(stored, "steel pipes", 10)
    assert len(passages) > 1
    assert {passage.total for passage in passages} == {len(BEES)}
