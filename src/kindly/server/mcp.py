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
from kindly.budget import Deadline, count_tokens
from kindly.errors import Busy, CallTimeout, KindlyError
from kindly.redact import Redactor
from kindly.server.ops.telemetry import observed
from kindly.server.render.failures import UNEXPECTED, sentence
from kindly.server.server_state import ServerState
from kindly.server.tool import Call, Output, Profile, Tool
from kindly.stages import Progress

logger = logging.getLogger(__name__)

Context = ServerRequestContext[App]
OpenApp = Callable[[], AbstractAsyncContextManager[App]]

GRACE_S = 2.0
"""How long after its deadline a call is stopped by force."""


class KindlyServer(Server[App]):
    """The MCP server, with its desk for the pages beside it."""

    def __init__(self, desk: ServerState, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.desk = desk


def build_server(open_app: OpenApp, profile: Profile, *, plain_names: bool = False) -> KindlyServer:
    """The server that offers a profile's tools; the app is opened when it starts and closed when it ends."""
    tools = {
        (tool.name.replace(".", "_") if plain_names else tool.name): tool for tool in profile.tools
    }
    listed = [_listed(name, tool) for name, tool in tools.items()]

    desk = ServerState(profile.name, tools)
    listed_once = anyio.Event()

    @asynccontextmanager
    async def lifespan(_: Server[App]) -> AsyncIterator[App]:
        async with open_app() as app, anyio.create_task_group() as tasks:
            tasks.start_soon(_warm_after, listed_once, app)
            desk.app = app
            try:
                yield app
            finally:
                desk.app = None
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
        return await answer(tool, params.arguments, app, _Progress(context))

    return KindlyServer(
        desk,
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


async def answer(
    tool: Tool, arguments: dict[str, Any] | None, app: App, progress: Progress
) -> types.CallToolResult:
    """What a client gets for a call; it is counted, traced and logged."""
    with observed(app, tool.name) as current:
        current.outcome, result = await _outcome(tool, arguments, app, progress, current.id)
        current.failed = bool(result.is_error)
        (block,) = result.content
        current.tokens = count_tokens(block.text) if isinstance(block, types.TextContent) else 0
    return result


async def _outcome(
    tool: Tool, arguments: dict[str, Any] | None, app: App, progress: Progress, call: str
) -> tuple[str, types.CallToolResult]:
    """Run a tool. The one place where an unforeseen exception ends: in the log, and as a plain sentence."""
    try:
        wanted = tool.arguments.parse(arguments)
        deadline = Deadline.after(app.deadline_s)
        with anyio.fail_after(app.deadline_s + GRACE_S):
            async with app.room.taken():
                output = await tool.run(Call(app, deadline, progress), wanted)
    except KindlyError as error:
        outcome = "busy" if isinstance(error, Busy) else error.kind.value
        return outcome, _failed(tool, error, arguments, app.redactor)
    except TimeoutError:
        late = CallTimeout(
            f"No answer within {app.deadline_s:.0f} seconds.", limit_s=app.deadline_s
        )
        return late.kind.value, _failed(tool, late, arguments, app.redactor)
    except Exception:
        logger.exception("unforeseen error", extra={"tool": tool.name, "call": call})
        return "error", _failure(UNEXPECTED, app.redactor)
    return str(output.structured.get("status", "ok")), _result(output, app.redactor)


def _failed(
    tool: Tool, error: KindlyError, arguments: dict[str, Any] | None, redactor: Redactor
) -> types.CallToolResult:
    """An error in the shape that the tool's contract has for it, else as a sentence."""
    if tool.failure is not None:
        return _result(tool.failure(error, arguments or {}), redactor)
    return _failure(sentence(error), redactor)


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
