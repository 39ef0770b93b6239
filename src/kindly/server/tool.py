"""Tools and profiles. A tool is a name, an argument model, a result schema and one function."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kindly.budget import Deadline
from kindly.errors import KindlyError
from kindly.frozen import frozen
from kindly.models import CallOutcome, OutcomeKind
from kindly.plugin_settings import ProfileDefaults
from kindly.server.arguments import Arguments
from kindly.server.json_schema import Json
from kindly.stages import Progress

if TYPE_CHECKING:
    # A profile of one module is imported by settings, so it cannot import them at that time.
    from kindly.app import App
    from kindly.settings import Settings


@frozen
class ShownPage:
    """A page that an answer is from."""

    url: str
    title: str = ""


@frozen
class Output:
    """The result of a tool: text for the model, and the same as data for programs."""

    text: str
    structured: Json = field(default_factory=dict)
    """Empty for an error that has no shape of its own."""
    png: bytes = field(default=b"", repr=False)
    """A picture beside the text."""
    pages: tuple[ShownPage, ...] = ()
    """The pages that the text is from."""
    failed: bool = False
    outcome: CallOutcome = OutcomeKind.OK
    """How the call ended, for logs and metrics."""


@frozen
class Call:
    """What one call uses: the app, its deadline, and where it reports progress."""

    app: "App"
    deadline: Deadline
    progress: Progress
    page_tool: str = ""
    """The name of the tool that reads a known page, for advice; empty if this server offers none."""


@frozen
class Tool:
    """A tool as a profile offers it."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    output_schema: Json
    run: Callable[[Call, Any], Awaitable[Output]]
    open_world: bool = True
    """Whether a call may reach the network."""
    reads_page: bool = False
    """Whether it reads a known page: the advice after a failed search names it."""
    page_tool: str = ""
    """The name under which this server offers such a tool; set by the server."""
    failure: Callable[[KindlyError, Mapping[str, object]], Output] | None = None
    """An error and the arguments as sent → the answer, where the contract defines its shape."""


@frozen
class Profile:
    """A named set of tools, with everything that settings, help and docs need to know about it."""

    name: str
    instructions: str
    tools: tuple[Tool, ...]
    summary: str = ""
    """One line for help and docs."""
    tools_for: "Callable[[Settings], tuple[Tool, ...]] | None" = None
    """The tools as settings configure them, where limits and defaults can be set."""
    has_resources: bool = False
    """Whether it offers kept pages as resources, and prompts; not where a contract names all that is offered."""
    start: "Callable[[App], Coroutine[Any, Any, None]] | None" = None
    """Runs when the server starts, beside its calls."""
    defaults: ProfileDefaults = field(default_factory=ProfileDefaults)
    """Settings, providers and fetching behaviour that it changes."""
