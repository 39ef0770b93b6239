"""In which order instances are called."""

from kindly.search.searxng.instance_health import InstanceRecord, InstanceRequest
from kindly.search.searxng.instance_list import Grade, Instance
from kindly.search.searxng.instance_selection import InstanceCandidate, in_order

NOW = 1_000_000.0


def candidate(
    name: str, grade: Grade, record: InstanceRecord, free: float = 0.0
) -> InstanceCandidate:
    return InstanceCandidate(Instance(f"https://{name}.example.org", grade), record, free)


def test_idle_before_busy_then_grade_then_least_recently_called() -> None:
    candidates = [
        candidate("busy", "A+", InstanceRecord((InstanceRequest(NOW - 1, NOW + 5),))),
        candidate("paused", "A+", InstanceRecord(), NOW + 1),
        candidate("b", "B", InstanceRecord()),
        candidate("late", "A+", InstanceRecord((InstanceRequest(NOW - 11, NOW - 10),))),
        candidate("early", "A+", InstanceRecord((InstanceRequest(NOW - 91, NOW - 90),))),
        candidate("a2", "A", InstanceRecord()),
        candidate("a1", "A", InstanceRecord()),
        candidate("fresh", "A+", InstanceRecord(), NOW),
    ]

    order = [each.instance.url.split("//")[1].split(".")[0] for each in in_order(candidates, NOW)]

    assert order == ["fresh", "early", "late", "a2", "a1", "b", "busy"]
