"""Refute right answers: search a small database on which one differs from its golds, or prove it equal."""
