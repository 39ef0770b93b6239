"""The catalogue of embedders: which one is used."""

from pathlib import Path

from kindly.read import embedders
from kindly.read.embedders import EMBEDDERS, embedder_for
from kindly.settings import Settings

FOLDER = Path(embedders.__file__).parent


def test_every_embedder_is_in_the_catalogue() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert {spec.name for spec in EMBEDDERS} == modules | packages


def test_only_the_last_embedder_is_a_default() -> None:
    assert [not spec.options for spec in EMBEDDERS] == [False] * (len(EMBEDDERS) - 1) + [True]


def test_the_setting_of_an_embedder_selects_it() -> None:
    assert embedder_for({}).name == "local"
    assert embedder_for({"EMBEDDING_SERVER_URL": "http://x.example"}).name == "openai"
    remote = Settings.load({"EMBEDDING_SERVER_URL": "http://127.0.0.1:9"})
    assert (Settings.load({}).embedder_spec.name, remote.embedder_spec.name) == ("local", "openai")
