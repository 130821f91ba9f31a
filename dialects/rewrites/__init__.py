"""What each construct of SQLite becomes; every module's RULES say what is rewritten and why."""
