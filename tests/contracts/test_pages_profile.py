"""What profile `pages` promises: `web.search` and `web.readFromPage`, their parameters, answers and settings."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kindly.app.reader import library_policy
from kindly.app.stage_settings import fetch_limits
from kindly.budget import count_tokens
from kindly.errors import InputError, SettingsError
from kindly.models import Query
from kindly.read.chunk import split
from kindly.read.embedders.openai.embedder import BATCH
from kindly.read.stores.duckdb import FILE
from kindly.search.providers.google import to_params, to_windows
from kindly.server.profiles.pages.profile import PROFILE, ReadFromPageInput, SearchInput
from kindly.settings import Settings, revealed
from tests.support.html_pages import read

TOOLS = {tool.name: tool for tool in PROFILE.tools}


def test_there_are_exactly_these_two_tools() -> None:
    assert list(TOOLS) == ["web.search", "web.readFromPage"]


@pytest.mark.parametrize(
    ("model", "names", "required"),
    [
        (
            SearchInput,
            {"query", "resultsPerQuery", "region", "language", "safeSearch"},
            ["query"],
        ),
        (
            ReadFromPageInput,
            {"url", "query", "forceRefresh", "maxResults", "includeMetadata"},
            ["url", "query"],
        ),
    ],
    ids=["SearchInput", "ReadFromPageInput"],
)
def test_no_parameter_is_missing_or_added(
    model: type[Any], names: set[str], required: list[str]
) -> None:
    schema = model.schema_for_clients()
    assert set(schema["properties"]) == names
    assert schema["required"] == required


@pytest.mark.parametrize("model", [SearchInput, ReadFromPageInput])
def test_a_query_is_a_string_or_a_list_of_strings_in_the_schema_too(model: type[Any]) -> None:
    (one, many) = model.schema_for_clients()["properties"]["query"]["oneOf"]
    assert (one["type"], many["type"], many["items"]["type"]) == ("string", "array", "string")


ACCEPTED: dict[str, tuple[type[Any], dict[str, object], dict[str, object]]] = {
    "query: z.union([z.string(), …])": (SearchInput, {"query": "a"}, {"query": "a"}),
    "… z.array(z.string())": (SearchInput, {"query": ["a", "b"]}, {"query": ["a", "b"]}),
    "an array as text": (SearchInput, {"query": '["a", "b"]'}, {"query": ["a", "b"]}),
    "resultsPerQuery default 10": (SearchInput, {"query": "a"}, {"resultsPerQuery": 10}),
    "resultsPerQuery min 1": (
        SearchInput,
        {"query": "a", "resultsPerQuery": 1},
        {"resultsPerQuery": 1},
    ),
    "resultsPerQuery max 50": (
        SearchInput,
        {"query": "a", "resultsPerQuery": "50"},
        {"resultsPerQuery": 50},
    ),
    "region optional": (SearchInput, {"query": "a", "region": "us"}, {"region": "us"}),
    "language optional": (SearchInput, {"query": "a", "language": "en"}, {"language": "en"}),
    "region any string": (
        SearchInput,
        {"query": "a", "region": "South Tyrol"},
        {"region": "South Tyrol"},
    ),
    "language any string": (
        SearchInput,
        {"query": "a", "language": "none"},
        {"language": "none"},
    ),
    "region null": (SearchInput, {"query": "a", "region": None}, {"region": None}),
    "safeSearch null": (SearchInput, {"query": "a", "safeSearch": None}, {"safeSearch": None}),
    "safeSearch off": (SearchInput, {"query": "a", "safeSearch": "off"}, {"safeSearch": "off"}),
    "safeSearch moderate": (
        SearchInput,
        {"query": "a", "safeSearch": "moderate"},
        {"safeSearch": "moderate"},
    ),
    "safeSearch strict": (
        SearchInput,
        {"query": "a", "safeSearch": "strict"},
        {"safeSearch": "strict"},
    ),
    "safeSearch optional": (SearchInput, {"query": "a"}, {"safeSearch": None}),
    "url and query": (
        ReadFromPageInput,
        {"url": "https://example.com/", "query": "q"},
        {"url": "https://example.com/", "query": "q"},
    ),
    "forceRefresh default false": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q"},
        {"forceRefresh": False},
    ),
    "maxResults default 8": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q"},
        {"maxResults": 8},
    ),
    "maxResults max 50": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": ["q", "r"], "maxResults": 50},
        {"maxResults": 50, "query": ["q", "r"]},
    ),
    "includeMetadata default false": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q"},
        {"includeMetadata": False},
    ),
}


@pytest.mark.parametrize("row", ACCEPTED.values(), ids=ACCEPTED)
def test_input_is_accepted(row: tuple[type[Any], dict[str, object], dict[str, object]]) -> None:
    model, given, expected = row
    wanted = model.parse(given)
    assert {name: getattr(wanted, name) for name in expected} == expected


REFUSED: dict[str, tuple[type[Any], dict[str, object], str]] = {
    "no query": (SearchInput, {}, "query"),
    "empty query": (SearchInput, {"query": ""}, "query"),
    "empty list": (SearchInput, {"query": []}, "query"),
    "list with a number's object": (SearchInput, {"query": [{}]}, "query"),
    "resultsPerQuery 0": (SearchInput, {"query": "a", "resultsPerQuery": 0}, "resultsPerQuery"),
    "resultsPerQuery 51": (SearchInput, {"query": "a", "resultsPerQuery": 51}, "resultsPerQuery"),
    "resultsPerQuery 1.5": (SearchInput, {"query": "a", "resultsPerQuery": 1.5}, "resultsPerQuery"),
    "safeSearch high": (SearchInput, {"query": "a", "safeSearch": "high"}, "safeSearch"),
    "unknown argument": (SearchInput, {"query": "a", "num": 3}, "num"),
    "safeSearch none": (SearchInput, {"query": "a", "safeSearch": "none"}, "safeSearch"),
    "safeSearch null, as text": (SearchInput, {"query": "a", "safeSearch": "null"}, "safeSearch"),
    "safeSearch empty": (SearchInput, {"query": "a", "safeSearch": ""}, "safeSearch"),
    "no url": (ReadFromPageInput, {"query": "q"}, "url"),
    "maxResults 0": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q", "maxResults": 0},
        "maxResults",
    ),
    "maxResults 51": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q", "maxResults": 51},
        "maxResults",
    ),
    "forceRefresh maybe": (
        ReadFromPageInput,
        {"url": "https://e.com/", "query": "q", "forceRefresh": "maybe"},
        "forceRefresh",
    ),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_input_is_refused_by_name(row: tuple[type[Any], dict[str, object], str]) -> None:
    model, given, name = row
    with pytest.raises(InputError, match=name):
        model.parse(given)


OUTPUTS: dict[str, tuple[str, dict[str, object]]] = {
    "SearchOutput": (
        "web.search",
        {"queries": [{"query": "a", "result": {"kind": "customsearch#search"}}]},
    ),
    "ReadFromPageOutput, whole": (
        "web.readFromPage",
        {
            "url": "https://example.com/",
            "title": "Example",
            "lastCrawled": "2026-01-01T00:00:00+00:00",
            "queries": [
                {
                    "query": "q",
                    "results": [{"id": "x", "text": "t", "score": 0.9, "sectionPath": ["A"]}],
                }
            ],
            "note": "n",
        },
    ),
    "ReadFromPageOutput, least": (
        "web.readFromPage",
        {"url": "https://example.com/", "lastCrawled": "2026-01-01T00:00:00Z", "queries": []},
    ),
    "RelevantChunk without sectionPath": (
        "web.readFromPage",
        {
            "url": "https://example.com/",
            "lastCrawled": "2026-01-01T00:00:00Z",
            "queries": [{"query": "q", "results": [{"id": "x", "text": "t", "score": 1}]}],
        },
    ),
}


@pytest.mark.parametrize("row", OUTPUTS.values(), ids=OUTPUTS)
def test_a_promised_answer_fits_our_schema(row: tuple[str, dict[str, object]]) -> None:
    tool, output = row
    jsonschema.validate(output, TOOLS[tool].output_schema)


DEFAULTS: dict[str, tuple[str, object]] = {
    "SIMILARITY_THRESHOLD default 0.72": ("similarity_threshold", 0.72),
    "EMBEDDING_TOKENS_SIZE default 512": ("embedding_tokens_size", 512),
    "REQUEST_TIMEOUT_MS default 20000": ("request_timeout_ms", 20_000),
    "CONCURRENCY default 2": ("concurrency", 2),
    "GOOGLE_SAFE_SEARCH default off": ("google_safe_search", "off"),
    "Robots policy: Ignored": ("respect_robots_txt", False),
}


@pytest.mark.parametrize("row", DEFAULTS.values(), ids=DEFAULTS)
def test_default_of_the_profile(row: tuple[str, object]) -> None:
    name, value = row
    assert getattr(Settings.load({"KINDLY_PROFILE": "pages"}), name) == value


def test_database_is_duckdb_where_it_is_installed() -> None:
    settings = Settings.load({"KINDLY_PROFILE": "pages"})
    assert settings.store.get_secret_value() == "duckdb"


def test_what_is_set_goes_before_what_the_profile_takes_for_granted() -> None:
    environ = {
        "KINDLY_PROFILE": "pages",
        "CONCURRENCY": "5",
        "RESPECT_ROBOTS_TXT": "1",
        "KINDLY_STORE": "sqlite",
    }
    settings = Settings.load(environ)
    assert settings.concurrency == 5
    assert settings.respect_robots_txt
    assert settings.store.get_secret_value() == "sqlite"


def test_one_wrong_query_of_several_is_named_apart_from_the_list() -> None:
    with pytest.raises(InputError, match="at least 1 character"):
        SearchInput.parse({"query": ["a", ""]})
    with pytest.raises(InputError, match="at least 1 item"):
        SearchInput.parse({"query": []})


CHUNK = {"id": "x", "text": "t", "score": 0.5}


@pytest.mark.parametrize("name", CHUNK)
def test_a_chunk_without_one_of_its_fields_breaks_the_schema(name: str) -> None:
    chunk = {key: value for key, value in CHUNK.items() if key != name}
    page = {
        "url": "https://example.com/",
        "lastCrawled": "2026-01-01T00:00:00Z",
        "queries": [{"query": "q", "results": [chunk]}],
    }
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(page, TOOLS["web.readFromPage"].output_schema)


CHANGED: dict[str, tuple[str, str, object]] = {
    "DATA_DIR": ("data_dir", "/tmp/mpc-search", Path("/tmp/mpc-search")),  # noqa: S108 - a value
    "SIMILARITY_THRESHOLD": ("similarity_threshold", "0.5", 0.5),
    "EMBEDDING_TOKENS_SIZE": ("embedding_tokens_size", "256", 256),
    "REQUEST_TIMEOUT_MS": ("request_timeout_ms", "5000", 5_000),
    "CONCURRENCY": ("concurrency", "4", 4),
    "GOOGLE_SAFE_SEARCH": ("google_safe_search", "strict", "strict"),
    "EMBEDDING_SERVER_URL": ("embedding_server_url", "http://e.example", "http://e.example"),
    "EMBEDDING_MODEL_NAME": ("embedding_model_name", "bge-m3", "bge-m3"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_variable_can_be_set(name: str) -> None:
    field, text, value = CHANGED[name]
    assert getattr(Settings.load({"KINDLY_PROFILE": "pages", name: text}), field) == value


def test_the_keys_are_read_and_kept_secret() -> None:
    environ = {
        "KINDLY_PROFILE": "pages",
        "GOOGLE_API_KEY": "canary-google-1",
        "GOOGLE_SEARCH_ENGINE_ID": "engine-1",
        "EMBEDDING_SERVER_API_KEY": "canary-embedder-1",
    }
    settings = Settings.load(environ)
    assert [spec.name for spec in settings.configured()] == ["google"]
    assert revealed(settings.options["EMBEDDING_SERVER_API_KEY"]) == "canary-embedder-1"
    assert {"canary-google-1", "canary-embedder-1"} <= set(settings.secrets())
    assert "canary" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_SAFE_SEARCH", "active"),
        ("SIMILARITY_THRESHOLD", "1.5"),
        ("EMBEDDING_TOKENS_SIZE", "0"),
        ("REQUEST_TIMEOUT_MS", "soon"),
        ("CONCURRENCY", "0"),
        ("EMBEDDING_SERVER_URL", "not an address"),
    ],
)
def test_a_value_that_is_wrong_is_named_at_start(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.load({"KINDLY_PROFILE": "pages", name: value})


def test_settings_reach_what_they_are_for() -> None:
    environ = {
        "KINDLY_PROFILE": "pages",
        "EMBEDDING_TOKENS_SIZE": "256",
        "SIMILARITY_THRESHOLD": "0.6",
        "REQUEST_TIMEOUT_MS": "5000",
    }
    settings = Settings.load(environ)
    policy = library_policy(settings)
    assert (policy.chunk_tokens, policy.threshold, policy.cosine_threshold) == (256, 0.6, 0.6)
    limits = fetch_limits(settings)
    assert (limits.timeout_s, limits.concurrency, limits.respect_robots) == (5, 2, False)


@pytest.mark.parametrize(
    ("level", "safe"), [("off", "off"), ("moderate", "active"), ("strict", "active")]
)
def test_safe_search_is_mapped_as_promised(level: Any, safe: str) -> None:
    query = Query("cats", safe_search=level)
    assert to_params(query, next(to_windows(query)))["safe"] == safe


def test_the_database_lies_where_promised() -> None:
    assert FILE == "db/kindly.duckdb"


def test_embeddings_are_asked_for_in_batches_of_32() -> None:
    assert BATCH == 32


BEES = (
    "# Bees\n\nBees see ultraviolet light.\n\n## Dance\n\n"
    + "A forager that found food tells the others by a dance. " * 12
    + "\n\n## Food\n\n"
    + "They eat nectar and pollen of many flowers, all summer long. " * 12
)
URL = "https://example.com/bees"
GOLDEN = [
    "45d82b037fff2c7d96563f0b0bf7b44695076ce2434a5ee0420e511af1749127",
    "1a31f8825c60b39297b9aca2e74abe41abcddb33f6159b6a2c26f85c1839e711",
    "808e97fdd6ba6c11096658abc546e114116cfd27e179542711974b48b485186b",
    "8ca175164c49680a89b89deb7617bd207b077a2895ee8bc9980b368889354fa5",
]


def test_chunk_ids_are_golden() -> None:
    assert [chunk.id for chunk in split(BEES, URL, size=128)] == GOLDEN


def test_a_chunk_id_is_the_hash_of_address_headings_and_text() -> None:
    for chunk in split(BEES, URL, size=128):
        key = f"{URL}|{' > '.join(chunk.section)}|{chunk.text}"
        assert chunk.id == sha256(key.encode()).hexdigest()


def test_chunks_follow_headings_within_their_size_and_overlap_by_an_eighth() -> None:
    chunks = split(BEES, URL, size=128)
    assert [chunk.section for chunk in chunks] == [
        ("Bees",),
        ("Bees", "Dance"),
        ("Bees", "Food"),
        ("Bees", "Food"),
    ]
    assert all(chunk.tokens <= 128 for chunk in chunks)
    for before, after in ((chunks[0], chunks[1]), (chunks[2], chunks[3])):
        repeated = BEES[after.start : before.end]
        assert 0.10 * 128 <= count_tokens(repeated) <= 0.15 * 128


def test_a_chunk_that_is_there_already_is_dropped() -> None:
    twice = "# A\n\nThe same words.\n\n" * 2
    assert len({chunk.text for chunk in split(twice * 30, URL, size=16)}) == len(
        split(twice * 30, URL, size=16)
    )


def test_the_content_hash_is_that_of_the_main_text() -> None:
    document = read("<main><h1>Bees</h1><p>They dance and see ultraviolet light.</p></main>")
    assert document.content_hash == sha256(document.text.encode()).hexdigest()


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<nav>Home Products Contact</nav>",
        "<aside>Read this too</aside>",
        "<footer>All rights reserved</footer>",
        '<div class="breadcrumb">Home / Bees</div>',
        '<div class="sidebar">Other articles</div>',
        '<div class="cookie-banner">We use cookies</div>',
        "<script>track()</script><style>p{color:red}</style>",
    ],
    ids=["nav", "aside", "footer", "breadcrumb", "sidebar", "cookie", "scripts and styles"],
)
def test_what_surrounds_the_main_content_is_left_out(boilerplate: str) -> None:
    story = "".join(
        f"<p>Paragraph {n}: bees tell each other where flowers are by a dance whose angle shows the way.</p>"
        for n in range(8)
    )
    page = f"<body>{boilerplate}<main><article><h1>Bees</h1>{story}</article></main></body>"
    text = read(page).text
    assert "Paragraph 7" in text
    said = boilerplate.split(">")[1].split("<")[0]
    assert said not in text
