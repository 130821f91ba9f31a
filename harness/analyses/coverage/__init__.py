"""How many golds return on a server what they return on SQLite, proven by running both.

`checking` compares, `command` measures and shows, `answers` has the vocabulary, `expectations` what is known
from before; `golds` translates, and `matrix` covers every engine version.
"""
