"""The composition root: opening an app is cheap, and its limits come from the settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from kindly.app import App, open_app
from kindly.errors import SettingsError
from kindly.net.tls import Tls
from kindly.redact import Redactor
from kindly.settings import Settings
from kindly.stages import Stages
from tests.support.served_world import BOTH, environment
from tests.support.site import running_site

pytestmark = pytest.mark.anyio


def an_app(tls: Tls | None = None) -> App:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # no stage is called here
    return App(stages, Redactor.of(()), 1_000, 5_000, 10.0, tls=tls or Tls())


async def test_an_app_without_a_call_creates_no_file(tmp_path: Path) -> None:
    async with running_site() as site:
        folder = tmp_path / "data"
        async with open_app(Settings.load(environment(site, folder, **BOTH))) as app:
            assert app.tokens_for(None) == 20_000
    assert not folder.exists()


@pytest.mark.parametrize(("requested", "tokens"), [(None, 1_000), (3_000, 3_000), (9_000, 5_000)])
async def test_the_size_of_an_answer_is_limited(requested: int | None, tokens: int) -> None:
    assert an_app().tokens_for(requested) == tokens


async def test_json_that_is_passed_on_may_fill_the_limit_of_the_host() -> None:
    assert an_app().tokens_for_raw() == 5_000
    assert replace(an_app(), raw_tokens=2_000).tokens_for_raw() == 2_000


async def test_warming_leaves_a_failure_to_the_first_call(tmp_path: Path) -> None:
    broken = Tls(tmp_path / "missing.pem")
    await an_app(broken).warm()
    with pytest.raises(SettingsError):
        await broken.context()


async def test_without_search_there_is_no_provider_status() -> None:
    app = an_app()
    await app.open_search()
    assert app.provider_status() == ()
