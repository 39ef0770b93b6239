"""The tool `recall` as profiles offer it."""

import pytest
from pydantic import ValidationError

from kindly.server.profiles import load_profile
from kindly.server.recall_tool import RecallArguments, recall_tool


def test_every_profile_that_asks_the_library_asks_it_in_the_same_way() -> None:
    tools = [
        next(tool for tool in load_profile(name).tools if tool.name == "recall")
        for name in ("kindly", "library")
    ]
    assert {(tool.arguments, tool.run, tool.open_world) for tool in tools} == {
        (RecallArguments, tools[0].run, False)
    }


def test_the_words_are_those_of_the_profile() -> None:
    tool = recall_tool("Title", "About it.")
    assert (tool.title, tool.description) == ("Title", "About it.")


@pytest.mark.parametrize("question", ["", [], ["x"] * 11, "x" * 2_001], ids=str)
def test_questions_are_bounded(question: object) -> None:
    with pytest.raises(ValidationError):
        RecallArguments.model_validate({"question": question})
