"""The constructs of SQLite, one function each, in the rooms of its documentation."""
