"""How values are parsed from text."""

from kindly.settings import Settings


def test_lists_are_separated_by_commas() -> None:
    settings = Settings.load({"KINDLY_ALLOW_PRIVATE": "127.0.0.1:8080, wiki.corp ,"})
    assert settings.allow_private == ("127.0.0.1:8080", "wiki.corp")


def test_a_proxy_needs_no_scheme() -> None:
    proxy = Settings.load({"HTTPS_PROXY": "proxy.corp:3128"}).https_proxy
    assert proxy is not None
    assert proxy.get_secret_value() == "http://proxy.corp:3128"
