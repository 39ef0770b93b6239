"""`doctor` and the embedder: the local model, and a server on loopback, working and broken."""

import json
from pathlib import Path

import pytest

from kindly.cli.doctor.model import local_model, remote_model
from kindly.settings import Settings
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


def settings(folder: Path, **environ: str) -> Settings:
    return Settings.load({"DATA_DIR": str(folder), "KINDLY_CONFIG": "/dev/null", **environ})


async def test_the_local_model_works(tmp_path: Path) -> None:
    (result,) = await local_model(settings(tmp_path))
    assert (result.check, result.state) == ("model", "ok")
    assert "wordllama" in result.detail
    assert await remote_model(settings(tmp_path)) == []


async def test_an_embedding_server_is_called_only_by_the_live_check(tmp_path: Path) -> None:
    remote = settings(tmp_path, EMBEDDING_SERVER_URL="http://127.0.0.1:9")
    assert await local_model(remote) == []


async def test_an_embedding_server_works_or_is_a_problem(site: Site, tmp_path: Path) -> None:
    data = {"data": [{"index": 0, "embedding": [0.6, 0.8]}]}
    site.add(
        "/v1/embeddings",
        Answer(json.dumps(data).encode(), 200, {"Content-Type": "application/json"}),
    )
    chosen = settings(tmp_path, EMBEDDING_SERVER_URL=site.url("/v1"))
    (result,) = await remote_model(chosen)
    assert (result.state, result.check) == ("ok", "model")
    assert "2 dimensions" in result.detail
    site.add("/v1/embeddings", Answer(status=500))
    (broken,) = await remote_model(chosen)
    assert broken.state == "problem"
    assert "EMBEDDING_SERVER_URL" in broken.fix
