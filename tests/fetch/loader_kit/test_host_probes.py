"""Results of probes: kept for a day, for a bounded number of hosts."""

from datetime import UTC, datetime, timedelta

from kindly.fetch.loader_kit.host_probes import MAX_HOSTS, HostProbes

START = datetime(2025, 1, 1, tzinfo=UTC)


def test_results_are_kept_for_a_day_and_for_a_bounded_number_of_hosts() -> None:
    probes = HostProbes()
    for number in range(MAX_HOSTS + 1):
        probes.note(f"h{number}", START, found=True)
    assert len(probes.probed) == MAX_HOSTS
    assert probes.has("h0", START) is None
    assert probes.has("h1", START) is True
    assert probes.has("h1", START + timedelta(days=1)) is None
