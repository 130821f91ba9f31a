"""From a model to prediction files: asks predictors for SQL, and keeps every answer.

`base` is the interface; `adapters` has who can answer, `methods` how they are asked.
"""
