"""Limits and locks: call limit, single flight, per-key locks, BLAS threads."""
