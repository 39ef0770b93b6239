import pytest
from turbohtml import parse

from kindly.extract.visibility.page_names import PageNames, index_by_name

PAGE = parse('<p class="a b">1<p class=a id=c>2<x-y>3</x-y><pÉ>4</pÉ><acronym>5</acronym>')


@pytest.mark.parametrize("name", [".a", ".b", "#c", "p", "x-y", "pÉ", "acronym", "html"])
def test_elements_of_a_name_are_those_of_a_walk_through_the_page(name: str) -> None:
    found = list(PageNames(PAGE).get(name))
    assert found == index_by_name(PAGE.iter_elements())[name]
    assert found


@pytest.mark.parametrize("name", ["", ".c", "#a", "ul", "z-z", "a:hover"])
def test_a_name_that_no_element_has_finds_nothing(name: str) -> None:
    names = PageNames(PAGE)
    assert not names.get(name)
    assert name not in names


def test_size_counts_tags_classes_and_ids() -> None:
    assert PageNames(parse('<p class="a b" id=c>x')).size == 4 + 3
