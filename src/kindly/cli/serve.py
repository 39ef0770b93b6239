"""`start-mcp-server`: settings → a running server. Over stdio the first answers come before the SDK is imported."""

import os
import sys
from pathlib import Path

from kindly.server.early_answers import EarlyAnswers
from kindly.server.profiles import load_answers, options_of
from kindly.settings import Settings

LISTING_FIELDS = frozenset({"default_results", "max_results"})
"""Settings that change what tools are listed, beside the options of the profile."""
OPENING_FIELDS = frozenset({"cassette", "otel", "otel_endpoint"})
"""Settings with which opening the app can fail, which must be known before the first answer."""

STDOUT = 1


def serve(settings: Settings) -> None:
    """Serve until the client disconnects or the process is stopped."""
    early = early_answers_for(settings)
    if early is None or early.serve():
        _serve_with_sdk(settings, early)


def _serve_with_sdk(settings: Settings, early: EarlyAnswers | None) -> None:
    import anyio

    from kindly.app import open_app
    from kindly.server.mcp import build_server, serve_stdio
    from kindly.server.profiles import profile_for

    server = build_server(
        lambda: open_app(settings, many_pages=True),
        profile_for(settings),
        plain_names=settings.plain_names,
    )
    if settings.transport == "http":
        from kindly.server.http.asgi import serve_http

        serve_http(server, settings)
    else:
        anyio.run(serve_stdio, server, early)


def early_answers_for(settings: Settings) -> EarlyAnswers | None:
    """What can be answered before the SDK is imported; None if answers depend on settings, or over HTTP."""
    options = {option.field_name for option in options_of(settings.profile)}
    if any(map(settings.is_set, LISTING_FIELDS | OPENING_FIELDS | options)):
        return None
    if settings.transport != "stdio" or sys.platform == "win32":
        return None
    answers = load_answers(settings.profile, plain_names=settings.plain_names)
    source = None if answers is None else _claimed_input()
    return None if answers is None or source is None else EarlyAnswers(answers, source, STDOUT)


def _claimed_input() -> int | None:
    """Standard input as another descriptor, so that no child process can read it; None if that is not possible."""
    import fcntl

    try:
        source = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
    except OSError:
        return None
    return source
