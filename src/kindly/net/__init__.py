"""What every HTTP client shares: the API client, the TLS context, Retry-After."""
