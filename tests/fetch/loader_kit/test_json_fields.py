import pytest

from kindly.fetch.loader_kit.json_fields import JsonFields, objects
from kindly.fetch.loader_kit.loader import NotLoaded

FIELDS = JsonFields.of(
    {"name": "a", "count": 3, "yes": True, "part": {"name": "b"}, "parts": [{"name": "c"}, 7]}
)


def test_fields_are_read_by_their_type() -> None:
    assert (FIELDS.text("name"), FIELDS.needed("name")) == ("a", "a")
    assert (FIELDS.number("count"), FIELDS.flag("yes")) == (3, True)
    assert FIELDS.part("part").text("name") == "b"
    assert [part.text("name") for part in FIELDS.parts("parts")] == ["c"]


def test_optional_fields_that_are_missing_or_of_another_type_are_empty() -> None:
    assert (FIELDS.text("count"), FIELDS.text("none")) == ("", "")
    assert (FIELDS.number("name"), FIELDS.flag("name")) == (0, False)
    assert FIELDS.part("name").values == {}
    assert list(FIELDS.parts("name")) == []


def test_answer_of_another_shape_is_not_loaded() -> None:
    with pytest.raises(NotLoaded):
        JsonFields.of([])
    with pytest.raises(NotLoaded):
        FIELDS.needed("none")
    with pytest.raises(NotLoaded):
        objects({})
