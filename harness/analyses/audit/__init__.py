"""Looks for golds that are wrong or unclear, without knowing any right answer.

`probes.PROBES` has one row for each kind of fault. A probe reads one gold on the engine that it is for, runs
small queries there, and returns findings with evidence. `page` makes the page on which a person decides.
"""
