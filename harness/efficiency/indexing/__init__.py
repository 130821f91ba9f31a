"""Which indexes help a workload: schemes of keys and indexes, in copies that are gone at the end.

`copies` makes them, on every engine; `candidates` reads in texts what an index could serve; `advice` keeps
those that the optimizer uses and that make the work less.
"""
