"""The MCP server: a profile and an app → a server that lists and calls tools, and serving it over stdio."""

import base64
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

import kindly
from kindly.app import App
from kindly.server.early_answers import Answered, EarlyAnswers
from kindly.server.handover import AnswersOnce
from kindly.server.run_call import run_call
from kindly.server.server_state import AppHolder, ServerState
from kindly.server.surrogates import RepairedStream
from kindly.server.tool import Output, Profile, Tool

Context = ServerRequestContext[App]
OpenApp = Callable[[], AbstractAsyncContextManager[App]]

MAX_QUOTED_NAME = 60
PNG = "image/png"
LINKS_SINCE = "2025-06-18"
"""The first version of the protocol in which answers may have links to resources."""


class KindlyServer(Server[App]):
    """The MCP server, and the state that the HTTP pages beside it read."""

    def __init__(self, state: ServerState, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.state = state


def build_server(open_app: OpenApp, profile: Profile, *, plain_names: bool = False) -> KindlyServer:
    """A server that offers the profile's tools. The app is opened when it starts and closed when it stops."""
    tools = _named(profile.tools, plain_names=plain_names)
    instructions = profile.instructions
    for name, tool in tools.items():
        instructions = instructions.replace(tool.name, name)
    listed = [_listed(name, tool) for name, tool in tools.items()]
    holder = AppHolder()
    was_listed = anyio.Event()
    reads_resources = anyio.Event()
    """Set once a client has asked for resources: the others would pay for links that they do not follow."""

    @asynccontextmanager
    async def lifespan(_: Server[App]) -> AsyncIterator[App]:
        async with open_app() as app, anyio.create_task_group() as tasks:
            tasks.start_soon(_warm_up, was_listed, app)
            if profile.start is not None:
                tasks.start_soon(profile.start, app)
            with holder.holding(app):
                yield app
            tasks.cancel_scope.cancel()

    async def list_tools(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        was_listed.set()
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        app = context.lifespan_context
        tool = tools.get(params.name)
        if tool is None:
            name = app.redactor.text(params.name)[:MAX_QUOTED_NAME]
            text = f"Unknown tool {name!r}. Tools: {', '.join(tools)}."
            return _result(Output(text, failed=True))
        output = await run_call(tool, params.arguments, app, _Progress(context))
        if not reads_resources.is_set() or context.protocol_version < LINKS_SINCE:
            return _result(output)
        from kindly.server import page_resources

        return _result(output, page_resources.links(app, output.pages))

    return KindlyServer(
        ServerState(profile.name, tools, holder),
        kindly.SERVER_NAME,
        version=kindly.__version__,
        title="Kindly",
        instructions=instructions,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **(_resource_handlers(reads_resources) if profile.has_resources else {}),
    )


def _resource_handlers(reads_resources: anyio.Event) -> dict[str, Any]:
    """The handlers for kept pages and prompts; they say when a client reads resources.

    Their modules are imported at the first request.
    """

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        from kindly.server import page_resources

        reads_resources.set()
        cursor = params.cursor if params else None
        return await page_resources.list_pages(context.lifespan_context, cursor)

    async def list_templates(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        from kindly.server import page_resources

        return types.ListResourceTemplatesResult(resource_templates=[page_resources.TEMPLATE])

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        from kindly.server import page_resources

        reads_resources.set()
        return await page_resources.read_page(context.lifespan_context, params.uri)

    async def list_prompts(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        from kindly.server import prompts

        return prompts.list_prompts()

    async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        from kindly.server import prompts

        return prompts.get_prompt(params.name, params.arguments)

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
    }


def _named(tools: Sequence[Tool], *, plain_names: bool) -> dict[str, Tool]:
    """The tools by the names that clients use; each knows the name of the one that reads a page."""
    named = {(tool.name.replace(".", "_") if plain_names else tool.name): tool for tool in tools}
    page_tool = next((name for name, tool in named.items() if tool.reads_page), "")
    return {name: replace(tool, page_tool=page_tool) for name, tool in named.items()}


async def _warm_up(was_listed: anyio.Event, app: App) -> None:
    """Prepare for the first call once a client has listed the tools."""
    await was_listed.wait()
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


class _Progress:
    """Reports progress to a client that asked for it."""

    def __init__(self, context: Context) -> None:
        self._session = context.session

    async def __call__(self, done: float, total: float, message: str) -> None:
        await self._session.report_progress(done, total, message)


def _result(output: Output, links: Sequence[types.ResourceLink] = ()) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=output.text)]
    if output.png:
        data = base64.b64encode(output.png).decode("ascii")
        content.append(types.ImageContent(type="image", data=data, mime_type=PNG))
    return types.CallToolResult(
        content=[*content, *links],
        structured_content=output.structured or None,
        is_error=output.failed,
    )


async def serve_stdio(server: Server[App], early: EarlyAnswers | None = None) -> None:
    """Serve one client over standard input and output until it closes its end. `early` began the conversation."""
    everything = anyio.wrap_file(early.everything()) if early else None
    async with stdio_server(everything) as (incoming, outgoing):
        await serve_streams(server, incoming, outgoing, early.answered if early else ())


async def serve_streams(
    server: Server[App], incoming: Any, outgoing: Any, answered: Sequence[Answered] = ()
) -> None:
    """Serve one client over a pair of streams. The first messages of `incoming` may be answered already."""
    replay = AnswersOnce(answered, outgoing)
    options = server.create_initialization_options()
    await server.run(RepairedStream(incoming, replay), replay, options)
