"""Several searches as one answer: by query, a page once, within one budget."""

import pytest

from kindly.budget import count_tokens
from kindly.errors import ProviderFailed, SearchError
from kindly.models import Hits, Query, Source
from kindly.server.batch import SearchBatch
from kindly.server.render.fence import Fence
from kindly.server.render.formatting import compact
from kindly.server.render.search_batch import searches_data, searches_result, searches_text
from tests.support.result_sources import source

FENCE = Fence("c0ffee")


def at(name: str, text: str = "Tea is a drink.") -> Source:
    return source(text, url=f"https://example.com/{name}")


def hits(query: str, *sources: Source, failed: tuple[str, ...] = ()) -> Hits:
    return Hits(Query(query), tuple(one.hit for one in sources if one.hit), "serper", failed)


def batch(outcomes: list[Hits | SearchError], *sources: Source) -> SearchBatch:
    queries = tuple(
        outcome.query if isinstance(outcome, Hits) else Query("failing") for outcome in outcomes
    )
    return SearchBatch(queries, tuple(outcomes), sources)


A, B, C = at("a"), at("b"), at("c")


def test_results_come_by_query_and_a_page_once_with_all_queries_that_found_it() -> None:
    found = batch([hits("one", A, B), hits("two", C, A)], A, C, B)
    result = searches_result(found, FENCE, 5_000)
    data = searches_data(result)
    assert [(one["link"][-1], one["queries"]) for one in data["results"]] == [
        ("a", ["one", "two"]),
        ("b", ["one"]),
        ("c", ["two"]),
    ]
    assert data["searches"] == [
        {"query": "one", "provider": "serper", "total": 2},
        {"query": "two", "provider": "serper", "total": 2},
    ]
    text = searches_text(result)
    assert text.startswith("3 results for 2 queries.")
    assert "# 'two' (serper)\nFound as well: 1." in text
    assert text.index("## 2. ") < text.index("# 'two'") < text.index("## 3. ")


def test_a_failed_query_says_why_in_its_place() -> None:
    found = batch([ProviderFailed("Serper is down.", status=500), hits("two", A)], A)
    result = searches_result(found, FENCE, 5_000)
    failed, _ = searches_data(result)["searches"]
    assert (failed["query"], failed["status"], failed["retryable"]) == (
        "failing",
        "unreachable",
        True,
    )
    assert "Serper is down." in failed["note"]
    assert "Search failed (unreachable): Serper is down." in searches_text(result)


def test_a_query_without_results_and_a_fallback_are_said() -> None:
    result = searches_result(
        batch([hits("one"), hits("two", A, failed=("brave",))], A), FENCE, 5_000
    )
    assert "# 'one' (serper)\nNo results." in searches_text(result)
    assert searches_data(result)["searches"][1]["note"] == "brave failed; serper answered."


@pytest.mark.parametrize("tokens", [500, 1_000, 3_000, 20_000])
def test_no_answer_exceeds_its_budget_and_the_best_of_each_query_stay_longest(tokens: int) -> None:
    text = "Tea is a drink. " * 2_000
    one, two = ([at(f"{name}{n}", text) for n in range(10)] for name in "xy")
    ranked = [page for pair in zip(one, two, strict=True) for page in pair]
    result = searches_result(batch([hits("one", *one), hits("two", *two)], *ranked), FENCE, tokens)
    sizes = (count_tokens(searches_text(result)), count_tokens(compact(searches_data(result))))
    assert max(sizes) <= tokens
    counts = [len(part.pages) for part in result.parts]
    assert counts[0] - counts[1] in {0, 1}
    assert ("did not fit" in result.note) is (sum(counts) < 20)
