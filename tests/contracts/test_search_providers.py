"""How the two main providers are chosen and called; their fallback is in test_provider_fallback.py."""

import pytest

from kindly.search.providers import PROVIDERS
from kindly.settings import Settings
from tests.support.paths import ROOT

EXAMPLE = (ROOT / "packaging" / ".env.example").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SERPER, TAVILY = {"SERPER_API_KEY": "a-serper-key"}, {"TAVILY_API_KEY": "a-tavily-key"}


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        (SERPER | TAVILY, ["serper", "tavily"]),
        (TAVILY | SERPER, ["serper", "tavily"]),
        (SERPER, ["serper"]),
        (TAVILY, ["tavily"]),
        ({}, []),
        ({"SERPER_API_KEY": "", **TAVILY}, ["tavily"]),
    ],
    ids=["both", "both, turned round", "only Serper", "only Tavily", "none", "one is empty"],
)
def test_providers_are_those_with_a_key_and_serper_comes_first(
    environ: dict[str, str], names: list[str]
) -> None:
    assert [spec.name for spec in Settings.load(environ).configured()] == names


@pytest.mark.parametrize(
    ("name", "address", "variable"),
    [
        ("serper", "https://google.serper.dev", "SERPER_API_KEY"),
        ("tavily", "https://api.tavily.com", "TAVILY_API_KEY"),
    ],
)
def test_a_provider_is_asked_at_its_address_with_its_key(
    name: str, address: str, variable: str
) -> None:
    (spec,) = [spec for spec in PROVIDERS if spec.name == name]
    assert spec.base_url == address
    assert [need.name for need in spec.needs] == [variable]


@pytest.mark.parametrize("text", [README, EXAMPLE], ids=["README.md", ".env.example"])
def test_the_documents_name_the_key_and_the_order(text: str) -> None:
    assert "TAVILY_API_KEY" in text
    said = " ".join(text.replace("#", " ").split())
    assert "Serper" in said
    assert "Serper is primary and Tavily is the fallback" in said
