"""The study of efficiency: analyses that measure on engines, and a folder with tables and charts of them.

`parts` has them, one module each; `command` runs them and writes the folder with its page. `measures` has
what they measure, `copies` are databases whose keys and indexes change, `advice` chooses indexes.
"""
