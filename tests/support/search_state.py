"""Values for tests of the state of search."""

from kindly.storage.state import State


async def fill(state: State) -> None:
    """Set, change and delete values of two kinds."""
    await state.save("provider_stats", {"serper": {"calls": 1}, "tavily": {"calls": 2}})
    await state.save("pool", {"https://a.example": {"failures": 3}})
    await state.save("provider_stats", {"serper": {"calls": 5}, "tavily": None})
    await state.save("provider_stats", {})
