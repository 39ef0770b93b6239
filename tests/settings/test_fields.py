"""The fields of the settings."""

from kindly.settings import ENV_BY_FIELD


def test_every_setting_is_described() -> None:
    assert all(env.about.endswith(".") for env in ENV_BY_FIELD.values())
