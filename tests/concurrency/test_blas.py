"""Matrix products run on one thread, only during the block."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from kindly.concurrency.blas import one_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_products_are_made_on_one_thread_and_others_have_theirs_back() -> None:
    assert np.__version__  # numpy's own pool of threads is there once it is loaded
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_thread():
            assert threads() <= {1}
        assert threads() == before
