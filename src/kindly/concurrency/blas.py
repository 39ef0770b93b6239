"""One BLAS thread: the matrices of a page are small, and several threads take longer to multiply them than one."""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit BLAS threads, and the memory reserved for them, when the library is loaded."""


def one_thread() -> AbstractContextManager[object]:
    """Limit numpy's matrix products to the calling thread during the block. numpy must be loaded already."""
    limit: AbstractContextManager[object] = _pools().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _pools() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
