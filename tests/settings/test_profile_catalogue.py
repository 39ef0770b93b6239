import pytest

from kindly.plugin_settings import ProfileDefaults
from kindly.settings.profile_catalogue import DEFAULT_PROFILE, PROFILE_NAMES, profile_defaults


def test_the_default_profile_changes_nothing() -> None:
    assert profile_defaults(DEFAULT_PROFILE).settings == {}


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_profile_has_defaults(name: str) -> None:
    assert isinstance(profile_defaults(name), ProfileDefaults)
