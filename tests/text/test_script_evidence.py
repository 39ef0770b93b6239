"""Evidence that a page needs JavaScript: extraction and fetch recognise the same words."""

import pytest

from kindly.extract.walls import patterns
from kindly.fetch.browser import need

REQUESTS = [
    "Please enable JavaScript",
    "JavaScript is currently disabled",
    "JavaScript is not supported",
    "This site needs JavaScript",
    "Your browser supports JavaScript",
    "Bitte JavaScript einschalten",
    "Activez JavaScript",
    "请启用 JavaScript",
]


@pytest.mark.parametrize("sentence", REQUESTS)
def test_a_request_for_javascript_is_known_to_both_stages(sentence: str) -> None:
    assert patterns.SCRIPT_TEXT.search(sentence)
    assert need.ASKS_FOR_SCRIPT.search(sentence.lower().encode())


@pytest.mark.parametrize("sentence", ["JavaScript is not Java", "A book about JavaScript"])
def test_an_ordinary_sentence_about_javascript_is_no_request(sentence: str) -> None:
    assert not patterns.SCRIPT_TEXT.search(sentence)
    assert not need.ASKS_FOR_SCRIPT.search(sentence.lower().encode())


@pytest.mark.parametrize("words", ["Loading…", "One moment", "Redirecting...", "加载中"])
def test_a_loading_text_is_known_to_both_stages(words: str) -> None:
    assert patterns.LOADING_TEXT.match(words)
    assert need.LOADING_TEXT.match(words.lower().encode())


@pytest.mark.parametrize("name", ["root", "__next", "vue-app", "gatsby-focus-wrapper"])
def test_an_element_that_a_framework_fills_is_known_to_both_stages(name: str) -> None:
    markup = f'<div id="{name}"></div>'
    assert patterns.SHELL_MARKUP.search(markup)
    assert need.MOUNT_NAME.match(name.encode())


@pytest.mark.parametrize(
    "script", ["axios.get(u)", "document.getElementById(i)", "location.assign(u)"]
)
def test_a_script_that_renders_is_known_to_both_stages(script: str) -> None:
    markup = f"<script>{script}</script>"
    assert patterns.DRAWING_SCRIPT.search(markup)
    assert need.RENDERING.search(markup.lower().encode())
