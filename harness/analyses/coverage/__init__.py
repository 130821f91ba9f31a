"""How many golds return the same rows on a server as on SQLite, proven by running both.

`comparison` compares, `command` measures and shows, `answers` has the vocabulary, `expectations` what is
known from before; `golds` translates, and `matrix` covers every engine version.
"""
