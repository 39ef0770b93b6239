import pytest

from kindly.settings.file_tables import (
    TABLES,
    Translated,
    Unusable,
    expand,
    hours,
    keys,
    milliseconds,
    number,
    provider_order,
    size,
    translate,
)


@pytest.mark.parametrize(
    ("value", "read"),
    [(7, 7), ("2MB", 2_000_000), (" 1.5 kib ", 1536), ("3g", 3_000_000_000), ("9", 9)],
)
def test_a_size_is_a_number_of_bytes_or_has_a_unit(value: object, read: int) -> None:
    assert size(value) == read


@pytest.mark.parametrize("value", ["2 miles", "MB", "", True, None, 1.5])
def test_a_size_of_another_form_is_refused(value: object) -> None:
    with pytest.raises(Unusable, match="2MB"):
        size(value)


def test_numbers_change_their_unit() -> None:
    assert (number("1.5"), milliseconds(1.5), hours("90")) == (1.5, 1500, 1.5)


@pytest.mark.parametrize("value", [True, "soon", None, []])
def test_a_value_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(Unusable, match="must be a number"):
        number(value)


def test_a_named_provider_comes_first() -> None:
    assert provider_order(" Tavily ")[0] == "tavily"
    with pytest.raises(Unusable, match="must be one of"):
        provider_order("nowhere")


def test_variables_are_expanded_in_strings_only() -> None:
    environ = {"KEY": "made-up"}
    assert expand("a ${KEY} ${NONE}", environ) == "a made-up "
    assert expand(["${KEY}"], environ) == ["${KEY}"]


def test_a_value_is_translated_with_its_place() -> None:
    values = {"TimeoutSeconds": 2, "UserAgent": "${NONE}"}
    assert list(translate("WebFetch", values, {})) == [
        Translated("REQUEST_TIMEOUT_MS", 2000, "WebFetch.TimeoutSeconds")
    ]


def test_a_range_sets_two_variables() -> None:
    found = translate("web_search", {"request_delay_range": [100, 500]}, {})
    assert [(one.variable, one.value) for one in found] == [
        ("KINDLY_POOL_DELAY_MIN_MS", 100),
        ("KINDLY_POOL_DELAY_MAX_MS", 500),
    ]


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"ApiKey": "made-up"}, "BRAVE_API_KEY"),
        ({"ApiKey": "made-up", "Provider": "Serper"}, "SERPER_API_KEY"),
    ],
    ids=["default", "named"],
)
def test_a_key_is_the_named_provider_s(values: dict[str, object], variable: str) -> None:
    assert variable in {one.variable for one in translate("WebSearch", values, {})}


@pytest.mark.parametrize(
    ("table", "values", "named"),
    [
        ("WebFetch", {"Timeout": 1}, "WebFetch.Timeout is not valid: unknown setting"),
        ("WebFetch", 7, "WebFetch must be a table"),
        ("web_search", {"request_delay_range": [5]}, "two numbers"),
        ("web_search", {"request_delay_range": [5, 1]}, "smaller number first"),
        ("WebSearch", {"ApiKey": "x", "Provider": "searxng"}, "searxng needs no key"),
    ],
)
def test_what_cannot_be_used_is_named(table: str, values: object, named: str) -> None:
    with pytest.raises(Unusable, match=named):
        list(translate(table, values, {}))


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_a_table_is_listed(table: str) -> None:
    assert set(TABLES[table]) <= set(keys(table))
