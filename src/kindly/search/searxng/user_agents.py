"""User-Agents of common browsers: public instances refuse clients that do not look like one."""

_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)"
_LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"

USER_AGENTS = (
    f"{_WINDOWS} Chrome/148.0.0.0 Safari/537.36",
    f"{_MAC} Chrome/148.0.0.0 Safari/537.36",
    f"{_LINUX} Chrome/148.0.0.0 Safari/537.36",
    f"{_WINDOWS} Chrome/147.0.0.0 Safari/537.36",
    f"{_WINDOWS} Chrome/147.0.0.0 Safari/537.36 Edg/147.0.0.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:149.0) Gecko/20100101 Firefox/149.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:149.0) Gecko/20100101 Firefox/149.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
)


def user_agent(random: float, *, rotate: bool) -> str:
    """One of the table by a random number from 0 to 1; without rotation always the first."""
    return USER_AGENTS[int(random * len(USER_AGENTS))] if rotate else USER_AGENTS[0]
