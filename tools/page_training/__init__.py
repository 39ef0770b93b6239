"""Sites and questions that `tools.train_pages` learns from."""
