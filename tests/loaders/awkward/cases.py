"""All files that are hard to load."""

from tests.loaders.awkward import files, keys, names, tables, texts, values

CASES = (*values.CASES, *texts.CASES, *names.CASES, *tables.CASES, *keys.CASES, *files.CASES)
