"""A small database of the tests: authors, their books, readers, and who borrowed what."""

from harness.sqltree.spider import SpiderPart, SpiderQuery, SpiderSchema, read, structure

LIBRARY = SpiderSchema(
    tables={
        "Author": ["id", "name", "born", "country"],
        "Book": ["id", "title", "author_id", "year", "pages", "Shelf No"],
        "Reader": ["id", "name", "city", "born"],
        "Loan": ["id", "book_id", "reader_id", "day", "returned"],
    },
    foreign_keys=[
        ("Book.author_id", "Author.id"),
        ("Loan.book_id", "Book.id"),
        ("Loan.reader_id", "Reader.id"),
    ],
)


def query(sql: str) -> SpiderQuery:
    found = read(sql, LIBRARY)
    assert found is not None, sql
    return found


def is_exact(prediction: str, gold: str) -> bool:
    """EM of a pair; both have to be readable."""
    query(prediction)
    return structure(prediction, gold, LIBRARY).exact


def wrong_parts(prediction: str, gold: str) -> set[SpiderPart]:
    return {part for part, match in structure(prediction, gold, LIBRARY).parts.items() if not match.is_right}
