"""Wall detection: bot checks, logins, paywalls, consent forms and soft 404s in place of a page's content."""
