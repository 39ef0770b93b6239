from kindly.profile_defaults import ProfileDefaults


def test_a_default_is_dropped_if_the_user_sets_what_makes_it_unnecessary() -> None:
    defaults = ProfileDefaults({"A": 1, "B": 2}, dropped_if_set={"A": "C"})
    assert defaults.beside(()) == {"A": 1, "B": 2}
    assert defaults.beside({"C", "D"}) == {"B": 2}
