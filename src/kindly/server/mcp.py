"""A profile and an app → an MCP server, and its life over stdio. Tool calls come in, `Output`s or sentences go out."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

import kindly
from kindly.app import App
from kindly.budget import Deadline
from kindly.errors import KindlyError, ProviderTimeout
from kindly.redact import Redactor
from kindly.server.failures import UNEXPECTED, sentence
from kindly.server.tool import Call, Output, Profile, Tool

logger = logging.getLogger(__name__)

Context = ServerRequestContext[App]
OpenApp = Callable[[], AbstractAsyncContextManager[App]]

GRACE_S = 2.0
"""How long after its deadline a call is stopped by force."""


def build_server(open_app: OpenApp, profile: Profile, *, plain_names: bool = False) -> Server[App]:
    """The server that offers a profile's tools; the app is opened when it starts and closed when it ends."""
    tools = {
        (tool.name.replace(".", "_") if plain_names else tool.name): tool for tool in profile.tools
    }
    listed = [_listed(name, tool) for name, tool in tools.items()]

    listed_once = anyio.Event()

    @asynccontextmanager
    async def lifespan(_: Server[App]) -> AsyncIterator[App]:
        async with open_app() as app, anyio.create_task_group() as tasks:
            tasks.start_soon(_warm_after, listed_once, app)
            yield app
            tasks.cancel_scope.cancel()

    async def list_tools(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        listed_once.set()
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        app = context.lifespan_context
        tool = tools.get(params.name)
        if tool is None:
            known = ", ".join(tools)
            return _failure(f"Unknown tool {params.name[:60]!r}. There are: {known}.", app.redactor)
        return await _answer(tool, params.arguments, app, context)

    return Server(
        kindly.SERVER_NAME,
        version=kindly.__version__,
        title="Kindly",
        instructions=profile.instructions,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _warm_after(listed_once: anyio.Event, app: App) -> None:
    """Get ready once somebody has looked at the tools: he is about to call one."""
    await listed_once.wait()
    await app.warm()


def _listed(name: str, tool: Tool) -> types.Tool:
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.schema_for_clients(),
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=tool.open_world),
    )


async def _answer(
    tool: Tool, arguments: dict[str, Any] | None, app: App, context: Context
) -> types.CallToolResult:
    """Run a tool. The one place where an unforeseen exception ends: in the log, and as a plain sentence."""
    began = anyio.current_time()
    try:
        wanted = tool.arguments.parse(arguments)
        deadline = Deadline.after(app.deadline_s)
        with anyio.fail_after(app.deadline_s + GRACE_S):
            async with app.room.taken():
                output = await tool.run(Call(app, deadline, _Progress(context)), wanted)
    except KindlyError as error:
        _log(tool, error.outcome.value, began)
        if tool.failure is not None:
            return _result(tool.failure(error, arguments or {}), app.redactor)
        return _failure(sentence(error), app.redactor)
    except TimeoutError:
        _log(tool, "timeout", began)
        late = (
            f"No answer within {app.deadline_s:.0f} seconds. Ask for fewer results, or try again."
        )
        if tool.failure is not None:
            return _result(tool.failure(ProviderTimeout(late), arguments or {}), app.redactor)
        return _failure(late, app.redactor)
    except Exception:
        logger.exception("unforeseen error", extra={"tool": tool.name})
        return _failure(UNEXPECTED, app.redactor)
    _log(tool, output.structured.get("status", "ok"), began)
    return _result(output, app.redactor)


def _log(tool: Tool, outcome: str, began: float) -> None:
    """One line a call, without what was asked or found."""
    took_ms = round((anyio.current_time() - began) * 1000)
    logger.info("call", extra={"tool": tool.name, "outcome": outcome, "took_ms": took_ms})


class _Progress:
    """Passes progress on to the client, if it asked for it."""

    def __init__(self, context: Context) -> None:
        self._session = context.session

    async def __call__(self, done: float, total: float, message: str) -> None:
        await self._session.report_progress(done, total, message)


def _result(output: Output, redactor: Redactor) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=redactor.text(output.text))],
        structured_content=redactor.value(output.structured),
        is_error=output.failed,
    )


def _failure(text: str, redactor: Redactor) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=redactor.text(text))], is_error=True
    )


async def serve_stdio(server: Server[App]) -> None:
    """Serve one client over standard input and output until it closes its end."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
