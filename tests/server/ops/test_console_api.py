"""Answers and refusals of the console's API."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from kindly.errors import InputError, StoreUnavailable
from kindly.server.ops.console_api import Refusal, endpoint, json_body, running_app
from kindly.server.server_state import ServerState


async def echo(request: Request) -> dict[str, object]:
    return {"body": await json_body(request)}


def client_of(failure: Exception | None = None) -> TestClient:
    async def handle(request: Request) -> dict[str, object]:
        if failure is not None:
            raise failure
        return await echo(request)

    return TestClient(Starlette(routes=[Route("/", endpoint(handle), methods=["POST"])]))


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (Refusal("No.", 404), 404),
        (InputError("No.", field="since"), 400),
        (StoreUnavailable("No."), 503),
    ],
)
def test_a_failure_is_said_in_json(failure: Exception, status: int) -> None:
    answer = client_of(failure).post("/", json={})
    assert (answer.status_code, answer.json()) == (status, {"error": "No."})
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"a": 1}', "application/json", 200),
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"{}", "text/plain", 415),
    ],
    ids=["json", "broken", "deep", "another type"],
)
def test_only_json_is_taken(body: bytes, kind: str, status: int) -> None:
    answer = client_of().post("/", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status


def test_a_server_that_is_not_up_refuses() -> None:
    with pytest.raises(Refusal, match="try again"):
        running_app(ServerState("kindly", {}, lambda: None))
