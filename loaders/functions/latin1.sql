-- A blob as a text in which each byte is a character, where an engine does not decode Latin-1.

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.latin1(BLOB) RETURNS VARCHAR LANGUAGE python;
