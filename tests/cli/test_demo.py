import pytest

from tests.support.processes import run_kindly as run

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_demo_gives_a_first_answer_without_key_or_network() -> None:
    """Other settings do not matter: everything comes from the recording."""
    done = await run({"BRAVE_API_KEY": "not-asked-for", "KINDLY_PROFILE": "pages"}, "demo")
    assert done.code == 0, done.err
    assert "1. How bees find flowers · http://garden.example/bees" in done.out
    assert "A forager that found food tells the others by a dance." in done.out
    assert "recommend our honey" not in done.out
    assert "no key, no network" in done.out
