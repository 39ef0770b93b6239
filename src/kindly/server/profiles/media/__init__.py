"""Profile `media`: `WebSearch` and `WebFetch`."""
