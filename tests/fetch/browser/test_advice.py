import pytest

from kindly.fetch.browser.advice import DRIVER, install_chromium


@pytest.mark.parametrize(
    ("platform", "command"),
    [
        ("linux", "apt-get install chromium libatomic1"),
        ("darwin", "brew install --cask chromium"),
        ("win32", "winget install Google.Chrome"),
    ],
)
def test_the_command_that_installs_a_browser_is_the_platforms(platform: str, command: str) -> None:
    assert install_chromium(platform) == command


def test_the_driver_can_be_installed_with_uvx_or_pip() -> None:
    assert "uvx --from 'kindly-web-search-mcp-server[browser] @ git+https://" in DRIVER
    assert "pip install 'kindly-web-search-mcp-server[browser]'" in DRIVER
