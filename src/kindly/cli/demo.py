"""`demo`: a first answer on any machine. Serves one ordinary page on loopback and reads it as an agent would."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

import anyio
import click
from anyio.abc import SocketAttribute, SocketStream

from kindly import pipeline
from kindly.app import open_app
from kindly.budget import Deadline, count_tokens
from kindly.errors import KindlyError
from kindly.extract.options import ExtractOptions
from kindly.models import Document
from kindly.settings import Settings


def show(settings: Settings) -> int:
    """Print the page as a model would get it, and what was left out."""
    body = files("kindly.cli").joinpath("demo.html").read_bytes()
    document = anyio.run(_read, settings, body)
    if isinstance(document, KindlyError):
        raise document
    before, after = count_tokens(body.decode()), count_tokens(document.text)
    click.echo(document.text)
    click.echo(
        f"\n{before} tokens of HTML became {after} of Markdown; "
        f"{document.hidden_dropped} piece of invisible text was left out."
    )
    return 0


async def _read(settings: Settings, body: bytes) -> Document | KindlyError:
    with tempfile.TemporaryDirectory() as folder:
        async with _served(body) as address:
            opened = {"allow_private": (address,), "data_dir": Path(folder)}
            async with open_app(settings.model_copy(update=opened)) as app:
                try:
                    return await pipeline.fetch(
                        app.stages, f"http://{address}/", ExtractOptions(), Deadline.after(30)
                    )
                except KindlyError as error:
                    return error
    raise AssertionError("unreachable")


@asynccontextmanager
async def _served(body: bytes) -> AsyncIterator[str]:
    """The page at a free port of loopback; gives `host:port`."""

    async def answer(stream: SocketStream) -> None:
        async with stream:
            request = await stream.receive()
            found = request.startswith(b"GET / ")
            status, content = (b"200 OK", body) if found else (b"404 Not Found", b"")
            await stream.send(
                b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n"
                b"Connection: close\r\n\r\n%s" % (status, len(content), content)
            )

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        yield f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()
