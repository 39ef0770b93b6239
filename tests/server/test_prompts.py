"""Prompts: what is listed, what their arguments become, and what is refused."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from mcp_types.jsonrpc import INVALID_PARAMS

from kindly.server.prompts import MAX_ARGUMENT, PROMPTS, get_prompt, list_prompts


def text(name: str, **arguments: str) -> str:
    (message,) = get_prompt(name, arguments).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


def test_two_prompts_are_listed_with_their_arguments() -> None:
    listed = {
        prompt.name: [(one.name, one.required) for one in prompt.arguments or []]
        for prompt in list_prompts().prompts
    }
    assert listed == {
        "research": [("question", True)],
        "compare_pages": [("urls", True), ("question", False)],
    }


def test_the_arguments_are_in_the_text() -> None:
    assert "How do bees talk?" in text("research", question=" How do bees talk? ")
    pages = text("compare_pages", urls="https://a.org/ https://b.org/", question="price")
    assert "https://a.org/ https://b.org/" in pages
    assert "with regard to: price" in pages
    assert "with regard to" not in text("compare_pages", urls="https://a.org/")


def test_every_prompt_says_that_page_text_is_untrusted() -> None:
    filled = {"research": {"question": "x"}, "compare_pages": {"urls": "x"}}
    assert filled.keys() == {prompt.name for prompt in PROMPTS}
    for name, arguments in filled.items():
        assert "untrusted" in text(name, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("sing", {}, "Prompts: research, compare_pages"),
        ("research", None, "question is required"),
        ("research", {"question": "  "}, "question is required"),
        ("compare_pages", {"question": "x"}, "urls is required"),
        ("research", {"question": "x", "style": "y"}, "Allowed: question"),
        ("research", {"question": "x" * (MAX_ARGUMENT + 1)}, "longer than"),
    ],
)
def test_a_wrong_request_is_refused(name: str, arguments: dict[str, str] | None, said: str) -> None:
    with pytest.raises(MCPError) as caught:
        get_prompt(name, arguments)
    assert said in caught.value.message
    assert caught.value.code == INVALID_PARAMS
