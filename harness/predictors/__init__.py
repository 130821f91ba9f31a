"""Ask predictors for SQL, keep every answer, and write prediction files.

`base` is the interface, `adapters` opens predictors, `methods` decides how they are asked.
"""
