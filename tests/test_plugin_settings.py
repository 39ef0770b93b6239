from kindly.plugin_settings import Option, ProfileDefaults


def test_a_default_is_dropped_if_the_user_sets_what_makes_it_unnecessary() -> None:
    defaults = ProfileDefaults({"A": 1, "B": 2}, dropped_if_set={"A": "C"})
    assert defaults.beside(()) == {"A": 1, "B": 2}
    assert defaults.beside({"C", "D"}) == {"B": 2}


def test_an_option_names_its_field_and_finds_its_value() -> None:
    option = Option("KINDLY_POOL_CHECK_S", "integer", "How often.", default=300)
    assert option.field_name == "pool_check_s"
    assert option.of({}) == 300
    assert option.of({"KINDLY_POOL_CHECK_S": 5}) == 5
