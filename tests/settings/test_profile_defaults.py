import pytest

from kindly.search.providers import PROVIDERS
from kindly.server.profiles import PROFILE_NAMES
from kindly.settings.profile_defaults import (
    DEFAULT_PROFILE,
    ProfileDefaults,
    preferred_first,
    profile_defaults,
)


def test_a_default_is_dropped_if_the_user_sets_what_makes_it_unnecessary() -> None:
    defaults = ProfileDefaults({"A": 1, "B": 2}, dropped_if_set={"A": "C"})
    assert defaults.beside(()) == {"A": 1, "B": 2}
    assert defaults.beside({"C", "D"}) == {"B": 2}


def test_the_default_profile_changes_nothing() -> None:
    assert profile_defaults(DEFAULT_PROFILE).settings == {}


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_profile_has_defaults(name: str) -> None:
    assert isinstance(profile_defaults(name), ProfileDefaults)


def test_the_preferred_provider_comes_first_and_no_other_is_lost() -> None:
    names = [spec.name for spec in PROVIDERS]
    assert preferred_first("brave")[0] == "brave"
    assert sorted(preferred_first("brave")) == sorted(names)
