"""The list of instances as it is saved."""

import json

from kindly.search.searxng.instance_list import Instance
from kindly.search.searxng.pool_storage import Listing, listing_from_json, listing_to_json

NOW = 1_000_000.0


def test_a_list_survives_saving_without_broken_rows() -> None:
    listing = Listing((Instance("https://one.example.org", "A", 99.5, 250),), NOW - 5, NOW)
    saved = json.loads(json.dumps(listing_to_json(listing)))
    saved["instances"] += [
        7,
        ["https://two.example.org"],
        ["https://two.example.org", "Z", 1, 1],
        ["http://two.example.org", "A", 1, 1],
        [None, "A", 1, 1],
    ]

    assert listing_from_json(saved) == listing
    assert listing_from_json({"instances": "x", "failed_at": True}) == Listing()
