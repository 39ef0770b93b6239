"""What search keeps between starts: statistics, rate limits, instance health. Never a query."""
