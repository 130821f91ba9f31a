"""Answers that are right by chance: small databases on which they and their golds differ."""
