"""Profile `searxng`: `web_search` over SearXNG, with the pages found."""
