"""The fetch chain: cache, robots, pacing, retry, redirects, HTTP; each wraps the next."""
