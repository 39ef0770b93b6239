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


def test_json_of_a_vendor_may_fill_the_cap_of_the_host_unless_a_size_is_set() -> None:
    assert Settings.load({}).raw_tokens == CONTEXTS["agent"].max_tokens
    assert Settings.load({"KINDLY_CONTEXT": "codex"}).raw_tokens == CONTEXTS["codex"].max_tokens
    assert Settings.load({"KINDLY_MAX_TOKENS": "20000"}).raw_tokens == 20_000
    both = {"KINDLY_MAX_TOKENS": "50000", "KINDLY_CONTEXT": "codex"}
    assert Settings.load(both).raw_tokens == CONTEXTS["codex"].max_tokens
