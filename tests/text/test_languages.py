"""Language codes of ISO 639-1."""

import pytest
from pydantic_core import PydanticCustomError

from kindly.text.languages import LANGUAGES, known_language


def test_all_languages_of_the_standard_are_known() -> None:
    assert len(LANGUAGES) == 185
    assert {"en", "de", "zh", "ja", "ar", "zu"} <= LANGUAGES


@pytest.mark.parametrize("code", ["en", "pt-BR"])
def test_a_known_code_is_accepted(code: str) -> None:
    assert known_language(code) == code


@pytest.mark.parametrize("code", ["xx", "english", ""])
def test_an_unknown_code_is_refused(code: str) -> None:
    with pytest.raises(PydanticCustomError):
        known_language(code)
