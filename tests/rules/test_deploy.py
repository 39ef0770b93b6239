"""The files for Docker, Compose, nginx, Prometheus and Kubernetes name only what exists: files, settings, paths, ports.

No container engine runs here.
"""

import re
import tomllib
from typing import Any

import pytest
import yaml
from tools.settings_table import rows

from kindly.app import open_app
from kindly.cli.commands import cli
from kindly.server.http.asgi import PATH as MCP_PATH
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.ops import console, health
from kindly.server.profiles import profile_for
from kindly.server.server_state import ServerState
from kindly.settings import Settings
from tests.support.paths import ROOT

PACKAGING = ROOT / "packaging"
KNOWN = {row.split("`")[1] for row in rows()}
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text(encoding="utf-8"))
KINDLY: dict[str, Any] = COMPOSE["services"]["kindly"]
NGINX = (PACKAGING / "deploy" / "nginx.conf").read_text(encoding="utf-8")
KUBERNETES: dict[str, dict[str, Any]] = {
    part["kind"]: part
    for part in yaml.safe_load_all((PACKAGING / "deploy" / "kubernetes.yaml").read_text("utf-8"))
}
POD: dict[str, Any] = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
CONTAINER: dict[str, Any] = POD["containers"][0]
PASSED_ON = "openssl rand -hex 24"


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def paths() -> set[str]:
    """Every path of the server, except those that OAuth adds."""
    state = ServerState("kindly", {}, lambda: None)
    library = health.LibrarySize(state)
    routes = [*health.routes(state, library), *console.routes(state, library)]
    return {MCP_PATH, *(route.path for route in routes)}


def parses(words: list[str]) -> None:
    """The command line accepts these words."""
    command, *options = words
    with cli.commands[command].make_context(command, options) as context:
        assert context.command is cli.commands[command]


def test_the_image_copies_files_that_exist_and_are_not_ignored() -> None:
    ignored = (PACKAGING / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source.removeprefix("./")
        for line in instructions("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if f"!{name}" not in ignored] == []


def test_the_image_installs_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    always, if_asked = re.findall(r'"\.\[([\w,]+)\]"', DOCKERFILE)
    assert {*always.split(","), if_asked} <= set(project["optional-dependencies"])
    assert f'if [ -n "$OCR" ]; then /opt/kindly/bin/pip install ".[{if_asked}]"; fi' in DOCKERFILE
    (name,) = set(re.findall(r'^ENTRYPOINT \["tini", "--", "(\w+)"\]', DOCKERFILE, re.MULTILINE))
    assert name in project["scripts"]


def test_the_image_runs_as_a_user_that_owns_the_volume() -> None:
    (user,) = instructions("USER")
    (volume,) = instructions("VOLUME")
    assert user == "10001:10001"
    assert "useradd --uid 10001" in DOCKERFILE
    assert f"--owner=kindly --group=kindly --mode=0700 {volume}" in DOCKERFILE
    assert DOCKERFILE.index("USER") > DOCKERFILE.rindex("RUN")


def test_the_image_sets_settings_that_exist_and_starts_a_command_that_exists() -> None:
    (environ,) = [line for line in instructions("ENV") if "DATA_DIR" in line]
    names = set(re.findall(r"(\w+)=", environ))
    assert names - {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE"} <= KNOWN
    (command,) = re.findall(r'^CMD \["([\w-]+)"\]', DOCKERFILE, re.MULTILINE)
    parses([command])


def test_two_replicas_share_a_database_and_have_a_search_engine() -> None:
    services = COMPOSE["services"]
    assert KINDLY["deploy"]["replicas"] == 2
    assert set(services) == {"kindly", "proxy", "postgres", "searxng"}
    environ = KINDLY["environment"]
    assert "@postgres:5432/kindly" in environ["KINDLY_STORE"]
    assert environ["SEARXNG_BASE_URL"] == "http://searxng:8080"
    assert services["postgres"]["environment"]["POSTGRES_DB"] == "kindly"


def test_compose_sets_settings_that_exist_and_starts_a_command_that_exists() -> None:
    assert set(KINDLY["environment"]) <= KNOWN
    parses(KINDLY["command"])


def test_the_settings_of_compose_are_accepted_once_its_variables_are_filled_in() -> None:
    filled = {
        name: re.sub(r"\$\{(\w+):\?[^}]*\}", r"a-value", re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
        for name, text in KINDLY["environment"].items()
    }
    settings = Settings.load(filled, {"host": KINDLY["command"][-3]})
    server = build_server(lambda: open_app(settings), profile_for(settings))
    assert callable(build_http_app(server, settings))
    assert settings.browser_sandbox is False
    assert settings.store.get_secret_value() == "postgresql://kindly:a-value@postgres:5432/kindly"
    assert [spec.name for spec in settings.configured()] == ["searxng"]


def test_compose_mounts_files_that_exist_and_uses_what_it_defines() -> None:
    services = COMPOSE["services"]
    mounts = [mount for service in services.values() for mount in service.get("volumes", ())]
    for mount in mounts:
        source = mount.split(":")[0]
        assert source in COMPOSE["volumes"] or (PACKAGING / source).is_file(), mount
    networks = {name for service in services.values() for name in service["networks"]}
    assert networks == set(COMPOSE["networks"])
    needed = {name for service in services.values() for name in service.get("depends_on", ())}
    assert needed <= set(services)
    assert "healthcheck" in services["postgres"]


@pytest.mark.parametrize("restriction", ["read_only", "cap_drop", "security_opt", "tmpfs"])
def test_the_container_is_confined(restriction: str) -> None:
    assert KINDLY[restriction] in (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
        ["/tmp:size=512m,mode=1777"],  # noqa: S108 - a folder in memory of the container's own
    )


def test_only_the_proxy_publishes_a_port_and_only_on_loopback() -> None:
    ports = {name: service.get("ports") for name, service in COMPOSE["services"].items()}
    assert {name for name, listed in ports.items() if listed} == {"proxy"}
    assert all(port.startswith("127.0.0.1:") for port in ports["proxy"])
    assert COMPOSE["services"]["postgres"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"]


def test_the_variables_that_compose_needs_are_in_its_first_lines() -> None:
    text = (PACKAGING / "compose.yaml").read_text(encoding="utf-8")
    needed = set(re.findall(r"\$\{(\w+):\?", text))
    exported = set(re.findall(rf"(\w+)=\$\({PASSED_ON}\)", text))
    assert needed == exported


def test_probes_ask_for_paths_that_exist() -> None:
    (checked,) = re.findall(r"127\.0\.0\.1:8000(/\w+)", KINDLY["healthcheck"]["test"][-1])
    probes = [
        CONTAINER[kind]["httpGet"]["path"]
        for kind in ("startupProbe", "livenessProbe", "readinessProbe")
    ]
    assert {checked, *probes} <= paths()
    assert probes == ["/health", "/health", "/ready"]


def test_the_proxy_passes_on_paths_that_exist_to_the_port_that_is_listened_on() -> None:
    locations = set(re.findall(r"location (?:= )?(/[\w.]*)/? \{", NGINX)) - {"/", "/.well-known"}
    assert locations <= paths()
    (listens,) = re.findall(r"listen (\d+);", NGINX)
    assert COMPOSE["services"]["proxy"]["ports"] == [f"127.0.0.1:8080:{listens}"]
    servers = set(re.findall(r"server (\w+):(\d+)", NGINX))
    assert servers == {("kindly", KINDLY["command"][-1])}
    assert NGINX.count("{") == NGINX.count("}")
    assert "/metrics" not in NGINX.replace("#", "")


def test_prometheus_asks_each_replica_for_its_metrics() -> None:
    text = (PACKAGING / "deploy" / "prometheus.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["scrape_configs"]
    assert job["metrics_path"] in paths()
    (found,) = job["dns_sd_configs"]
    assert found["names"] == ["kindly"]
    assert found["port"] == int(KINDLY["command"][-1])


def test_kubernetes_sets_settings_that_are_accepted_and_starts_a_command_that_exists() -> None:
    data = KUBERNETES["ConfigMap"]["data"]
    assert set(data) <= KNOWN
    settings = Settings.load(data | {"KINDLY_HTTP_TOKEN": "a-value"})
    assert settings.port == CONTAINER["ports"][0]["containerPort"]
    parses(CONTAINER["args"])
    secret = re.findall(
        r"--from-literal=(\w+)", (PACKAGING / "deploy" / "kubernetes.yaml").read_text("utf-8")
    )
    assert set(secret) <= KNOWN


def test_kubernetes_runs_as_the_user_of_the_image_with_a_read_only_root() -> None:
    assert POD["securityContext"]["runAsUser"] == 10001
    assert POD["securityContext"]["runAsNonRoot"]
    assert CONTAINER["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    mounted = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert mounted == {"data": "/data", "tmp": "/tmp"}  # noqa: S108 - of the container's own
    assert set(mounted) == {volume["name"] for volume in POD["volumes"]}


def test_kubernetes_selectors_match_their_pods() -> None:
    labels = KUBERNETES["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert KUBERNETES["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert KUBERNETES["Service"]["spec"]["selector"] == labels
    assert KUBERNETES["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert KUBERNETES["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels


def test_the_search_engine_answers_in_json() -> None:
    settings = yaml.safe_load(
        (PACKAGING / "deploy" / "searxng" / "settings.yml").read_text("utf-8")
    )
    assert "json" in settings["search"]["formats"]
    assert settings["server"]["limiter"] is False


def test_the_scale_page_exports_the_variables_that_compose_needs() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (exported,) = re.findall(r"^export .+$", page, re.MULTILINE)
    assert exported in (PACKAGING / "compose.yaml").read_text(encoding="utf-8")


def test_files_named_on_the_operators_pages_exist() -> None:
    for name in ("operations", "scale"):
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        named = re.findall(r"`(packaging/[\w./]+)`", page)
        assert named
        assert [file for file in named if not (ROOT / file).is_file()] == []


def test_commands_on_the_operations_page_are_valid() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    commands = re.findall(r"(?:^|\s)kindly ([a-z-]+(?: --?\w+[ =]\S+)*)$", page, re.MULTILINE)
    assert commands
    for command in commands:
        parses(command.split())
