"""The limits of each host application."""

import pytest

from kindly.settings import CONTEXTS, Settings


@pytest.mark.parametrize("context", list(CONTEXTS))
def test_a_context_limits_answer_and_call(context: str) -> None:
    settings = Settings.load({"KINDLY_CONTEXT": context})
    assert settings.default_tokens == min(20_000, settings.hosting.max_tokens)
    assert settings.hosting.deadline_s < 60


def test_a_configured_deadline_overrides_the_context() -> None:
    assert Settings.load({"KINDLY_DEADLINE_S": "5"}).hosting.deadline_s == 5
