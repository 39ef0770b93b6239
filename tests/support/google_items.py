"""Results of Google's Custom Search API as large as real ones: with `pagemap`, 400 to 900 tokens each."""

import random
from typing import Any

WORDS = (
    *("battery", "capacity", "measured", "winter", "range", "charging", "station", "network"),
    *("price", "update", "review", "guide", "electric", "vehicle", "comparison", "model"),
    *("year", "test", "highway", "city", "kilometres", "kilowatt", "hours"),
)
TAGS = (
    *("og:title", "og:description", "og:image", "og:url", "og:site_name", "og:type", "og:locale"),
    *("twitter:card", "twitter:title", "twitter:description", "twitter:image", "twitter:site"),
    *("viewport", "referrer", "theme-color", "author", "article:published_time"),
    *("article:modified_time", "article:section", "article:tag", "fb:app_id", "fb:pages"),
    *("apple-itunes-app", "application-name", "msapplication-tilecolor", "parsely-title"),
    *("parsely-link", "parsely-pub-date", "parsely-author", "parsely-section", "csrf-token"),
)


def google_item(text: str, number: int) -> dict[str, Any]:
    """The result at a position, always the same for the same query."""
    dice = random.Random(f"{text} {number}")  # noqa: S311 - test data

    def words(count: int) -> str:
        return " ".join(dice.choices(WORDS, k=count))

    link = f"https://www.example{number}.com/{words(4).replace(' ', '-')}/{number}.html"
    title, snippet = words(8), words(24)
    tags = {tag: words(dice.randint(2, 12)) for tag in dice.sample(TAGS, dice.randint(12, 24))}
    image = f"https://encrypted-tbn0.gstatic.com/images?q=tbn:{dice.getrandbits(256):x}&s"
    return {
        "kind": "customsearch#result",
        "title": title,
        "htmlTitle": f"<b>{text}</b> {title}",
        "link": link,
        "displayLink": f"www.example{number}.com",
        "snippet": snippet,
        "htmlSnippet": f"<b>{text}</b>&nbsp;... {snippet}",
        "cacheId": f"{dice.getrandbits(64):x}",
        "formattedUrl": link,
        "htmlFormattedUrl": link,
        "pagemap": {
            "cse_thumbnail": [{"src": image, "width": "300", "height": "168"}],
            "metatags": [tags],
            "cse_image": [{"src": f"{link}/lead.jpg"}],
            "hcard": [{"fn": words(2), "photo": f"{link}/author.jpg"}],
            "article": [{"headline": title, "description": snippet, "datepublished": "2026-03-01"}],
        },
    }
