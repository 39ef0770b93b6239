"""Pages rendered by headless Chromium behind a filtering proxy."""
