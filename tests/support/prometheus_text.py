"""Prometheus text, read by Prometheus's own parser."""

from prometheus_client.parser import text_string_to_metric_families

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Values:
    """Every sample by its name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float:
    return parsed(text)[name, tuple(sorted(labels.items()))]
