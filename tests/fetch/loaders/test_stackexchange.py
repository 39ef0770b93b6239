"""Stack Exchange: one question with everything below it, and the API's limits obeyed."""

import json
from typing import Any

import pytest

from kindly.errors import FetchError, PageRateLimited
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.stackexchange import STACKEXCHANGE, Thread, ranked, site_of, to_html
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, answer, recorded

pytestmark = pytest.mark.anyio

API = "https://api.stackexchange.com/2.3"
URL = "https://stackoverflow.com/questions/231767/what-does-the-yield-keyword-do"
QUESTION, ANSWERS, COMMENTS = (
    recorded("stackexchange", f"{name}.json") for name in ("question", "answers", "comments")
)
COMMENTED = f"{API}/posts/231767;231900;231855;231999/comments"
ROUTES = {
    f"{API}/questions/231767": QUESTION,
    f"{API}/answers/231855/questions": QUESTION,
    f"{API}/questions/231767/answers": ANSWERS,
    COMMENTED: COMMENTS,
}


def changed(source: Recorded, **values: object) -> Recorded:
    return answer({**json.loads(source.body), **values})


@pytest.mark.parametrize(
    ("url", "loads"),
    [
        ("https://stackoverflow.com/questions/1", True),
        ("https://stackoverflow.com/questions/1/a-b/22?noredirect=1#22", True),
        ("https://www.stackoverflow.com/q/1/33", True),
        ("https://ja.stackoverflow.com/a/1", True),
        ("https://ru.meta.stackoverflow.com/questions/1/x", True),
        ("https://meta.superuser.com/q/1", True),
        ("https://stackapps.com/questions/1", True),
        ("https://askubuntu.com/questions/1/x", True),
        ("https://math.meta.stackexchange.com/questions/1/x", True),
        ("https://meta.stackexchange.com/q/1", True),
        ("https://stackoverflow.com/questions", False),
        ("https://stackoverflow.com/questions/tagged/python", False),
        ("https://stackoverflow.com/questions/ask", False),
        ("https://stackoverflow.com/questions/0", False),
        ("https://stackoverflow.com/users/1/x", False),
        ("https://stackoverflow.com/", False),
        ("https://chat.stackexchange.com/q/1", False),
        ("https://data.stackexchange.com/q/1", False),
        ("https://stackexchange.com/q/1", False),
        ("https://evil-stackoverflow.com/q/1", False),
        ("https://x.stackoverflow.com/q/1", False),
        ("https://stackoverflow.com.example/q/1", False),
        ("https://notstackexchange.com/q/1", False),
    ],
)
def test_questions_and_answers_match_and_nothing_else(url: str, loads: bool) -> None:
    assert STACKEXCHANGE.matches(parse(url)) is loads


def test_site_is_the_full_name_without_www() -> None:
    assert site_of("www.stackoverflow.com") == "stackoverflow.com"
    assert site_of("unix.stackexchange.com") == "unix.stackexchange.com"
    assert site_of("example.com") is None


async def test_thread_reads_as_markdown_with_scores_dates_and_code_verbatim() -> None:
    page = await FakeApi(ROUTES).load(STACKEXCHANGE, URL)
    text = extract(page, ExtractOptions()).text

    assert (page.url, page.media_type) == (URL, "text/html")
    assert text.startswith('# What does the "yield" keyword do in Python when x')
    assert "asked by Alex. S. on 2008-10-23" in text
    assert "score 13005" in text
    assert "python, iterator, generator" in text
    assert "    if self._leftchild and distance < 3:\n        yield self._leftchild" in text
    order = ["Accepted answer (score 720)", "Answer (score 18300)", "Answer (score -2)"]
    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)
    assert "answered by Claudiu on 2008-10-23" in text
    assert text.index("Which module is this `node` from?") < text.index("3 answers")
    assert "Rory · 2008-10-23 · score 5" in text
    assert "Ann & Bob" in text


async def test_answer_address_leads_to_its_question() -> None:
    api = FakeApi(ROUTES)

    page = await api.load(STACKEXCHANGE, "https://stackoverflow.com/a/231855/18300")

    assert page.url == URL
    assert api.paths[0] == "/2.3/answers/231855/questions"


async def test_each_call_names_the_site_and_the_key_only_when_set() -> None:
    without, with_key = FakeApi(ROUTES), FakeApi(ROUTES)

    await without.load(STACKEXCHANGE, URL)
    await with_key.load(STACKEXCHANGE, URL, STACKEXCHANGE_KEY="canary-1234")

    assert all("site=stackoverflow.com" in ask.url.target for ask in without.asked)
    assert not any(ask.headers for ask in without.asked)
    sent = ("Authorization", "Bearer canary-1234")
    assert all(sent in ask.headers for ask in with_key.asked)
    assert not any("canary" in ask.url.target for ask in with_key.asked)
    assert len(without.asked) == 3


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500])
async def test_failure_of_the_api_is_an_error_without_the_key(status: int) -> None:
    api = FakeApi({f"{API}/questions/231767": Recorded(status=status)})

    with pytest.raises(FetchError) as caught:
        await api.load(STACKEXCHANGE, URL, STACKEXCHANGE_KEY="canary-1234")

    assert "canary" not in f"{caught.value!r} {caught.value} {caught.value.url}"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([], id="list"),
        pytest.param({}, id="no-items"),
        pytest.param({"items": {}}, id="items-no-list"),
        pytest.param({"items": []}, id="no-question"),
        pytest.param({"items": [{"question_id": 1}]}, id="no-title"),
    ],
)
async def test_answer_of_another_shape_gives_up(body: Any) -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{API}/questions/231767": answer(body)}).load(STACKEXCHANGE, URL)


@pytest.mark.parametrize(
    ("values", "cooldown_s"),
    [({"backoff": 10}, 10.0), ({"quota_remaining": 0}, 3_600.0)],
    ids=["backoff", "quota"],
)
async def test_cooldown_that_the_api_asks_for_starts_after_the_thread(
    values: dict[str, object], cooldown_s: float
) -> None:
    api = FakeApi({**ROUTES, f"{API}/questions/231767": changed(QUESTION, **values)})

    await api.load(STACKEXCHANGE, URL)
    with pytest.raises(PageRateLimited) as caught:
        await api.load(STACKEXCHANGE, URL)

    assert caught.value.retry_after_s == cooldown_s
    assert len(api.asked) == 3
    api.time.passed_s += cooldown_s
    await api.load(STACKEXCHANGE, URL)


async def test_refused_api_is_left_alone_for_a_while() -> None:
    api = FakeApi({f"{API}/questions/231767": Recorded(status=400)})

    for _ in range(3):
        with pytest.raises(FetchError):
            await api.load(STACKEXCHANGE, URL)

    assert len(api.asked) == 1


async def test_thread_without_comments_says_so() -> None:
    page = await FakeApi({**ROUTES, COMMENTED: Recorded(status=500)}).load(STACKEXCHANGE, URL)

    assert b"The comments could not be fetched." in page.body


async def test_answers_are_paged_up_to_a_bound() -> None:
    page = [
        {"answer_id": number, "score": number, "body": f"<p>no {number}</p>"}
        for number in range(50)
    ]
    full = answer({"items": page, "has_more": True})
    comments = answer({"items": [], "has_more": True})
    ids = ";".join(str(one) for one in [231767, *range(50), *range(49)])
    routes = {**ROUTES, f"{API}/questions/231767/answers": full}
    api = FakeApi({**routes, f"{API}/posts/{ids}/comments": comments})

    loaded = await api.load(STACKEXCHANGE, URL)

    assert b"Only the first 100 answers are shown." in loaded.body
    assert len(api.asked) == 1 + 2 + 3


async def test_question_without_answers_needs_no_call_for_them() -> None:
    item = {
        **json.loads(QUESTION.body)["items"][0],
        "answer_count": 0,
        "closed_reason": "Not clear",
    }
    routes = {f"{API}/questions/231767": answer({"items": [item]})}
    api = FakeApi({**routes, f"{API}/posts/231767/comments": answer({"items": []})})

    page = await api.load(STACKEXCHANGE, URL)

    assert b"No answers yet." in page.body
    assert b"closed: Not clear" in page.body
    assert len(api.asked) == 2


async def test_address_that_is_no_question_is_not_loaded() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(STACKEXCHANGE, "https://stackoverflow.com/tags")


def test_accepted_answer_comes_first_then_the_best() -> None:
    answers = [
        JsonFields({"score": 3}),
        JsonFields({"score": 9}),
        JsonFields({"score": 1, "is_accepted": True}),
    ]

    assert [one.number("score") for one in ranked(answers)] == [1, 9, 3]


def test_names_and_titles_are_escaped() -> None:
    question = JsonFields({"title": "x", "owner": {"display_name": "<script>x</script>"}})

    assert "<script>" not in to_html(Thread(question))
