"""The commands and their options. The code of a command is imported when it runs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args

import click

import kindly
from kindly.errors import InputError, KindlyError, NoProvider, SettingsError
from kindly.models import Category, SafeSearch, ShownFormat, TimeRange
from kindly.read.stores import PERSISTENT, choices
from kindly.redact import Redactor
from kindly.settings import (
    ContextName,
    ProfileName,
    Settings,
    limit_numeric_threads,
    why_not_combined,
)

F = TypeVar("F", bound=Callable[..., Any])

BAD_USAGE = 2


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def apply(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


def _choice(literal: object) -> click.Choice[str]:
    return click.Choice(get_args(literal))


class _ProfileChoice(click.Choice[str]):
    """The profiles; a combination that is not possible is refused with the reason."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if why := why_not_combined(value):
            self.fail(f"{value!r} is not possible: {why}.", param, ctx)
        return super().convert(value, param, ctx)


common = _options(
    click.option("--config", type=click.Path(path_type=Path), help="Settings file (TOML)."),
    click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"])),
)
shown = _options(
    click.option("--json", "as_json", is_flag=True, help="Print JSON for programs."),
    click.option("--max-tokens", type=click.IntRange(500, 100_000), help="Size of the answer."),
)


class ServerCommand(click.Command):
    """A command that accepts its options also after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Drop the first `--`, so that a wrapper can forward options."""
        if "--" in args:
            args = [*args]
            args.remove("--")
        return super().parse_args(ctx, args)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(kindly.__version__, prog_name="kindly")
def cli() -> None:
    """Search the web, fetch a page, and read only the part that answers."""


@cli.command("start-mcp-server", cls=ServerCommand)
@click.option(
    "--context", type=_choice(ContextName), help="The MCP client: sets answer size and deadline."
)
@click.option(
    "--profile", type=_ProfileChoice(get_args(ProfileName)), help="The set of tools to offer."
)
@click.option("--transport", type=click.Choice(["stdio", "http"]), help="Default: stdio.")
@click.option("--host", help="HTTP: address to listen on. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="HTTP: port. Default: 8000.")
@click.option(
    "--plain-names", is_flag=True, default=None, help="Replace dots in tool names by underscores."
)
@click.option("--max-tokens", type=click.IntRange(500, 1_000_000), help="Size of an answer.")
@common
def start_mcp_server(config: Path | None, **overrides: object) -> None:
    """Serve tools over MCP. Options may also follow a `--`."""
    settings = _settings(
        config, overrides, serving=True
    )  # first: an invalid setting is reported before the slow import
    from kindly.cli.serve import serve

    serve(settings)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


@cli.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--num-results", type=click.IntRange(1, 50), default=3, show_default=True)
@click.option("--site", help="Only this domain.")
@click.option("--time-range", type=_choice(TimeRange))
@click.option("--language", help="For example en.")
@click.option("--region", help="For example us.")
@click.option("--safe-search", type=_choice(SafeSearch))
@click.option("--category", type=_choice(Category), default="general", show_default=True)
@shown
@common
def search(query: tuple[str, ...], config: Path | None, **options: Any) -> None:
    """Search the web and read the pages found."""
    from kindly.cli.verbs import show_search

    settings = _settings(config, {"log_level": options.pop("log_level")})
    sys.exit(show_search(settings, " ".join(query), options))


@cli.command()
@click.argument("url")
@click.option("--selector", help="CSS selector: only these elements.")
@click.option("--format", type=_choice(ShownFormat), default="markdown", show_default=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where a screenshot is written."
)
@click.option("--cursor", help="Continue where the last answer stopped.")
@click.option("--links/--no-links", "include_links", default=True, show_default=True)
@click.option("--images/--no-images", "include_images", default=False, show_default=True)
@click.option("--refresh", is_flag=True, help="Ask the site even if the page is in the cache.")
@shown
@common
def fetch(url: str, config: Path | None, **options: Any) -> None:
    """Read one page as Markdown, or take a picture of it. Needs no key."""
    from kindly.cli.verbs import save_screenshot, show_page

    settings = _settings(config, {"log_level": options.pop("log_level")})
    output = options.pop("output")
    if (options["format"] == "screenshot") != (output is not None):
        raise click.UsageError("--format screenshot and --output FILE belong together.")
    if output is not None:
        sys.exit(save_screenshot(settings, url, output, as_json=options["as_json"]))
    sys.exit(show_page(settings, url, options))


@cli.command()
@click.argument("url")
@click.argument("question", nargs=-1, required=True)
@click.option("-n", "--max-results", type=click.IntRange(1, 50), default=8, show_default=True)
@click.option("--refresh", is_flag=True, help="Ask the site even if the page is in the cache.")
@shown
@common
def read(url: str, question: tuple[str, ...], config: Path | None, **options: Any) -> None:
    """Show only the passages of a page that answer a question. Needs no key."""
    from kindly.cli.verbs import show_reading

    settings = _settings(config, {"log_level": options.pop("log_level")})
    sys.exit(show_reading(settings, url, " ".join(question), options))


@cli.command()
@click.argument("question", nargs=-1, required=True)
@click.option("-n", "--max-results", type=click.IntRange(1, 50), default=8, show_default=True)
@click.option("--collection", default="", help="Only this collection: name or name@version.")
@click.option("--site", default="", help="Only pages of this domain.")
@click.option("--since", default="", help="Only pages fetched since a date, such as 2026-01-31.")
@shown
@common
def recall(question: tuple[str, ...], config: Path | None, **options: Any) -> None:
    """Search all pages read so far, or a part of them. Needs no network."""
    from kindly.cli.verbs import show_recall

    settings = _settings(config, {"log_level": options.pop("log_level")})
    sys.exit(show_recall(settings, " ".join(question), options))


@cli.command()
@click.argument("target")
@click.option("--since", default="", help="Since a date, such as 2026-01-31.")
@click.option("--refresh", is_flag=True, help="Ask the site first.")
@as_json
@common
def changes(target: str, config: Path | None, log_level: str | None, **options: Any) -> None:
    """Show which sections of TARGET changed: the address of a stored page, or a collection."""
    from kindly.cli.check_commands import show_changes

    sys.exit(show_changes(_settings(config, {"log_level": log_level}), target, **options))


@cli.command()
@click.argument("quote")
@click.argument("url", default="")
@click.option("--refresh", is_flag=True, help="Ask the site first.")
@as_json
@common
def verify(
    quote: str, url: str, config: Path | None, log_level: str | None, **options: bool
) -> None:
    """Say whether URL, or without it any stored page, says QUOTE: exact, near, altered, absent."""
    from kindly.cli.check_commands import show_verdict

    sys.exit(show_verdict(_settings(config, {"log_level": log_level}), quote, url, **options))


@cli.command()
@click.argument("origin", required=False)
@click.option("--name", default="", help="Name of the collection, or name@version.")
@click.option(
    "--include", multiple=True, metavar="GLOB", help="Only paths that match, such as /api/*."
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="No paths that match.")
@click.option("--max-pages", type=click.IntRange(1, 1_000_000), default=2_000, show_default=True)
@click.option(
    "--depth", type=click.IntRange(0, 100), default=10, show_default=True, help="Of links."
)
@click.option("--refresh", is_flag=True, help="Fetch again what changed in the collection ORIGIN.")
@click.option(
    "--from-lock",
    "lock",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Index the direct dependencies of uv.lock, package-lock.json or requirements.txt.",
)
@as_json
@common
def index(
    origin: str | None,
    lock: Path | None,
    config: Path | None,
    log_level: str | None,
    **options: Any,
) -> None:
    """Read a whole documentation into the library; the same command goes on after an interruption.

    ORIGIN is an address, a sitemap, an llms.txt, pypi:name@version, npm:name@version, git+<repository>/folder, a
    folder, or the name of a collection.
    """
    if (origin is None) == (lock is None):
        raise click.UsageError("Give either ORIGIN or --from-lock.")
    from kindly.cli import index_commands
    from kindly.read.crawls.collection import CrawlRules

    settings = _settings(config, {"log_level": log_level})
    names = ("include", "exclude", "max_pages", "depth")
    rules = CrawlRules(**{one: options.pop(one) for one in names})
    wanted = index_commands.IndexOptions(rules=rules, **options)
    if lock is not None:
        sys.exit(index_commands.index_lock(settings, lock, wanted))
    sys.exit(index_commands.index(settings, origin or "", wanted))


@cli.group()
@common
@click.pass_context
def library(context: click.Context, config: Path | None, log_level: str | None) -> None:
    """The library of pages read so far."""
    context.obj = _settings(config, {"log_level": log_level})


@library.command("list")
@click.option("-n", "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@as_json
@click.pass_obj
def library_list(settings: Settings, *, limit: int, as_json: bool) -> None:
    """List the latest pages."""
    from kindly.cli.library_commands import list_pages

    sys.exit(list_pages(settings, limit=limit, as_json=as_json))


@library.command("show")
@click.argument("url")
@as_json
@click.pass_obj
def library_show(settings: Settings, url: str, *, as_json: bool) -> None:
    """Show the chunks of one page."""
    from kindly.cli.library_commands import show_page

    sys.exit(show_page(settings, url, as_json=as_json))


@library.command("collections")
@as_json
@click.pass_obj
def library_collections(settings: Settings, *, as_json: bool) -> None:
    """List the collections: pages, size, age, origin."""
    from kindly.cli.index_commands import collections

    sys.exit(collections(settings, as_json=as_json))


@library.command("export")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--collection", help="Only this collection, as one file for `import`.")
@click.pass_obj
def library_export(settings: Settings, file: Path, collection: str | None) -> None:
    """Write all pages to FILE: JSON Lines, or Parquet if it ends in .parquet; - is standard output."""
    from kindly.cli.library_commands import export, export_one

    if collection is not None:
        sys.exit(export_one(settings, collection, file))
    sys.exit(export(settings, file))


@library.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.pass_obj
def library_import(settings: Settings, file: Path) -> None:
    """Add the collection in FILE, which `export --collection` wrote. Needs no network."""
    from kindly.cli.library_commands import import_one

    sys.exit(import_one(settings, file))


@library.command("forget")
@click.argument("url", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete every page.")
@click.option("--collection", help="Delete this collection with its pages.")
@click.pass_obj
def library_forget(
    settings: Settings, url: str | None, collection: str | None, *, everything: bool
) -> None:
    """Delete the page at URL, a collection, or all pages."""
    if [url is not None, collection is not None, everything].count(True) != 1:
        raise click.UsageError("Give an address, --collection or --all.")
    from kindly.cli.library_commands import forget, forget_one

    if collection is not None:
        sys.exit(forget_one(settings, collection))
    sys.exit(forget(settings, url))


@library.command("rebuild")
@click.pass_obj
def library_rebuild(settings: Settings) -> None:
    """Compute all vectors again with the configured model."""
    from kindly.cli.library_commands import rebuild

    sys.exit(rebuild(settings))


@library.command("move", help=f"Copy all pages into another STORE: {choices(PERSISTENT)}.")
@click.argument("store")
@click.pass_obj
def library_move(settings: Settings, store: str) -> None:
    """Copy all pages into another store."""
    from kindly.cli.library_commands import move

    sys.exit(move(settings, store))


@library.command("stats")
@as_json
@click.pass_obj
def library_stats(settings: Settings, *, as_json: bool) -> None:
    """Show how much the library holds, and where it is."""
    from kindly.cli.library_commands import stats

    sys.exit(stats(settings, as_json=as_json))


def _client_name(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """Check the name. The list of clients is imported only here: serving must not wait for it."""
    if value is None:
        return None
    from kindly.cli.clients import CLIENTS

    return click.Choice([client.name for client in CLIENTS]).convert(value, parameter, context)


@cli.command()
@click.argument("client", required=False, callback=_client_name)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="NAME",
    help="A setting for the entry; prompts for its value.",
)
@click.option("--from-env", is_flag=True, help="Take the value of each --key from the environment.")
@click.option("--http", metavar="URL", help="Connect to a running server instead of starting one.")
@click.option("--browser", is_flag=True, help="Install a browser driver too (extra `browser`).")
@click.option("--command", help="The command that starts Kindly. Default: as it was installed.")
@click.option("--file", type=click.Path(path_type=Path), help="Another configuration file.")
@click.option("--print", "print_only", is_flag=True, help="Print the entry; write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common
def setup(
    *,
    client: str | None,
    print_only: bool,
    config: Path | None,
    log_level: str | None,
    **options: Any,
) -> None:
    """Add Kindly to the configuration of CLIENT; without CLIENT, list all clients."""
    from kindly.cli.setup import SetupOptions, overview, set_up, show

    settings = _settings(config, {"log_level": log_level})
    if client is None:
        sys.exit(overview(settings))
    sys.exit((show if print_only else set_up)(settings, client, SetupOptions(**options)))


@cli.command()
@common
def demo(config: Path | None, log_level: str | None) -> None:
    """Replay a recorded search and show what answers: no key, no network."""
    from kindly.cli.demo import show

    sys.exit(show(_settings(config, {"log_level": log_level})))


@cli.command()
@click.option("--live/--no-live", default=True, show_default=True, help="Call each provider once.")
@as_json
@common
def doctor(*, live: bool, as_json: bool, config: Path | None, log_level: str | None) -> None:
    """Check settings, keys, providers, network, browser and store; print a fix for each problem."""
    from kindly.cli.doctor.report import examine

    settings = _settings(config, {"log_level": log_level})
    sys.exit(examine(settings, as_json=as_json, live=live, config=config))


def _settings(
    config: Path | None, overrides: dict[str, object], *, serving: bool = False
) -> Settings:
    from kindly.cli import logs

    settings = Settings.load(overrides=overrides, config=config)
    redactor = Redactor.of(settings.secrets())
    logs.configure(settings.log_level, redactor, settings.log_format, background=serving)
    return settings


def main() -> NoReturn:
    """Run the command line; an expected error is one line on standard error."""
    limit_numeric_threads()
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (SettingsError, InputError) as error:
        click.echo(f"kindly: {error.detail}", err=True)
        sys.exit(BAD_USAGE)
    except KindlyError as error:
        advice = " `kindly fetch` needs none." if isinstance(error, NoProvider) else ""
        click.echo(f"kindly: {error.detail}{advice}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(0)
