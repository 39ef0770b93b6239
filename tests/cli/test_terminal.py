from io import StringIO

from rich.console import Console

from kindly.cli.terminal import print_findings
from kindly.server.render.results import (
    CitedPage,
    FindingResult,
    FindingsResult,
    PassageResult,
    ReadPage,
)

URL = "https://garden.example/bees"
PASSAGE = PassageResult("Bees dance for canary-key.", 0.91, ("Bees", "Dance"), 0, 20, f"{URL}#d")


def shown(result: FindingsResult, *, colour: bool = False) -> str:
    output = StringIO()
    console = Console(
        file=output, width=80, force_terminal=colour, color_system="standard" if colour else None
    )
    print_findings(console, result, lambda text: text.replace("canary-key", "***"))
    return output.getvalue()


def test_a_passage_is_framed_with_its_section_score_and_link() -> None:
    page = ReadPage(URL, "How bees find flowers", "http", "2026-01-01", "hash")
    text = shown(FindingsResult((FindingResult("Do bees dance?", True, (PASSAGE,)),), page))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:2] == ["How bees find flowers", f"{URL} · http"]
    assert "Do bees dance?" in lines
    assert "Bees > Dance" in text
    assert "0.91" in text
    assert PASSAGE.link in text


def test_a_passage_of_the_library_names_its_page() -> None:
    cited = CitedPage(URL, "How bees find flowers", "2026-01-01", "hash")
    found = PassageResult("Bees dance.", 0.9, ("Dance",), 0, 11, URL, cited)
    assert "How bees find flowers > Dance" in shown(
        FindingsResult((FindingResult("Do bees dance?", True, (found,)),))
    )


def test_words_of_the_question_are_highlighted_and_secrets_are_masked() -> None:
    result = FindingsResult((FindingResult("Who dances?", True, (PASSAGE,)),))
    assert "\x1b[1;35mdance\x1b[0m" in shown(result, colour=True)
    assert "canary-key" not in shown(result)
    assert "Bees dance for ***." in shown(result)


def test_a_question_without_an_answer_shows_its_note() -> None:
    result = FindingsResult((FindingResult("Why?", False, (), "The page does not say."),))
    assert shown(result).split("\n")[1:3] == ["Why?", "The page does not say."]
