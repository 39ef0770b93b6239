"""The one write to the environment of the process."""

from kindly.settings import limit_numeric_threads


def test_numeric_libraries_use_one_thread_unless_the_user_sets_another_number() -> None:
    environ = {"OPENBLAS_NUM_THREADS": "4"}
    limit_numeric_threads(environ)
    assert environ == {
        "OPENBLAS_NUM_THREADS": "4",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
