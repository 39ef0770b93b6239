"""HTTP: the API client, the TLS context, rate-limit headers."""
