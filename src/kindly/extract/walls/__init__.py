"""Pages that stand in place of content: bot checks, logins, paywalls, soft 404s."""
