"""Products of matrices on one thread: those of a page are small, and several threads take longer over them than one."""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Where libraries for numbers look, when they are loaded, for how many threads to set memory aside."""


def one_thread() -> AbstractContextManager[object]:
    """While it lasts, numpy multiplies on the calling thread alone. To be asked for once numpy is loaded."""
    limit: AbstractContextManager[object] = _pools().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _pools() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
