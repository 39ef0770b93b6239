"""The order of the sources."""

from pathlib import Path

from kindly.settings import Settings


def test_each_source_overrides_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text("port = 1\nhost_concurrency = 1\nconcurrency = 1\n", encoding="utf-8")
    environ = {"KINDLY_PORT": "2", "KINDLY_HOST_CONCURRENCY": "2", "KINDLY_CONFIG": str(file)}
    settings = Settings.load(environ, {"port": 3, "host": None})
    assert (settings.concurrency, settings.host_concurrency, settings.port) == (1, 2, 3)
    assert [
        settings.origin(name) for name in ("CONCURRENCY", "KINDLY_HOST_CONCURRENCY", "KINDLY_PORT")
    ] == ["file", "environment", "command line"]
