"""Analyses of golds, sets, suites and answers: units are measured once, and tables are made of them."""
