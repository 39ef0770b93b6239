"""User-Agents for public instances."""

from kindly.search.searxng.user_agents import USER_AGENTS, user_agent


def test_user_agents_are_browsers_and_rotate_only_if_configured() -> None:
    numbers = [step / len(USER_AGENTS) for step in range(len(USER_AGENTS))] + [0.999_999]

    assert {user_agent(number, rotate=True) for number in numbers} == set(USER_AGENTS)
    assert {user_agent(number, rotate=False) for number in numbers} == {USER_AGENTS[0]}
    assert all(agent.startswith("Mozilla/5.0 (") for agent in USER_AGENTS)
