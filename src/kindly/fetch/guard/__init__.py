"""The SSRF guard: which addresses may be contacted, and connections pinned to the checked address."""
