import pytest

from kindly.errors import NoContent, PageWalled
from kindly.models import OutcomeKind
from tests.extract.pages import read

ARTICLE = (
    "<p>"
    + "The company sells a service that checks browsers before a page is shown to them. " * 30
    + "</p>"
)


@pytest.mark.parametrize(
    ("body", "wall"),
    [
        (
            "<title>Just a moment...</title><body><noscript>Enable JavaScript and cookies to continue</noscript>"
            "<script>window._cf_chl_opt={}</script>",
            OutcomeKind.BLOCKED,
        ),
        ("<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>", OutcomeKind.BLOCKED),
        ("<p>Please wait</p><script src='https://ct.captcha-delivery.com/c.js'></script>", OutcomeKind.BLOCKED),
        ("<title>Access to this page has been denied</title><p>Press & Hold</p>", OutcomeKind.BLOCKED),
        ("<h1>Access Denied</h1><p>Reference #18. https://errors.edgesuite.net/18</p>", OutcomeKind.BLOCKED),
        ("<p>Request unsuccessful. Incapsula incident ID: 1</p>", OutcomeKind.BLOCKED),
        ("<p>Our systems have detected unusual traffic from your computer network.</p>", OutcomeKind.BLOCKED),
        ("<title>Robot Check</title><p>Type the characters</p>", OutcomeKind.BLOCKED),
        ("<title>Log in - Site</title><form><input><input type='password'></form><p>Welcome</p>", OutcomeKind.AUTH),
        ("<h1>Private</h1><p>You must be logged in to see this page.</p>", OutcomeKind.AUTH),
        ("<h1>Markets fall</h1><p>Subscribe to continue reading. Already a subscriber?</p>", OutcomeKind.PAYWALLED),
        ("<h1>News</h1><p>This article is for subscribers.</p>", OutcomeKind.PAYWALLED),
    ],
)  # fmt: skip
def test_wall_in_place_of_content_is_named(body: str, wall: OutcomeKind) -> None:
    with pytest.raises(PageWalled) as caught:
        read(f"<html>{body}</html>")
    assert caught.value.outcome is wall


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=app.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "<div id=app>Loading</div><noscript>This site requires JavaScript.</noscript>",
        "<app-root></app-root><script type=module src=x></script>",
    ],
)
def test_app_shell_has_no_content_without_javascript(body: str) -> None:
    with pytest.raises(NoContent) as caught:
        read(f"<html><body>{body}</body></html>")
    assert "JavaScript" in caught.value.detail


@pytest.mark.parametrize("body", ["", "<p> </p>", "<img src=x>", "<script>var x</script>"])
def test_page_without_text_has_no_content(body: str) -> None:
    with pytest.raises(NoContent) as caught:
        read(f"<html><body>{body}</body></html>")
    assert "JavaScript" not in caught.value.detail


@pytest.mark.parametrize(
    "body",
    [
        f"<title>Just a moment: how bot checks work</title><article>{ARTICLE}</article>",
        f"<article>{ARTICLE}<p>Verify you are human, it says. Subscribe to continue reading.</p></article>",
        f"<title>Log in and out</title><article>{ARTICLE}</article><input type=password>",
        f"<article>{ARTICLE}</article><noscript>Please enable JavaScript</noscript>",
        "<title>Tide</title><main><p>High water is at nine.</p></main><input type=password>",
    ],
)
def test_page_about_walls_or_with_a_form_is_content(body: str) -> None:
    assert read(f"<html>{body}</html>").text


def test_selected_part_is_judged_by_its_own_text_only() -> None:
    body = "<script>window._cf_chl_opt={}</script><p id=a>Short but asked for.</p>"
    assert read(body, selector="#a").text == "Short but asked for."
