"""Limits and locks: call limit, cool-downs, single flight, locks per key, BLAS threads, child processes."""
