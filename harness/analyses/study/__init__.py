"""The study of efficiency: parts that measure on real engines and come out as tables and charts.

`part` is what a part is and what it is given; `parts` has them, one module each; `journal` keeps every
measured unit on disk; `command` runs them and writes the study's folder, `page` its page.
"""
