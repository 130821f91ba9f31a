"""English words that say how a question is put: plain grammar, nothing of any data set."""

from harness.predictors.offline.tokens import stem

FALLING = ("highest", "largest", "biggest", "greatest", "most", "maximum", "longest", "latest", "top", "max")
"""Superlatives that want the greatest value, of whatever."""
RISING = ("lowest", "smallest", "least", "minimum", "shortest", "earliest", "fewest", "min")
"""Superlatives that want the least."""
FALLING_WORDS = frozenset({
    *FALLING, "tallest", "heaviest", "fastest", "strongest", "best", "dearest", "richest", "newest",
    "last", "farthest", "furthest", "deepest", "widest", "hottest", "warmest", "youngest", "busiest",
    "steepest", "wettest", "maximal",
})  # fmt: skip
RISING_WORDS = frozenset({
    *RISING, "slowest", "cheapest", "oldest", "lightest", "weakest", "worst", "poorest", "coldest",
    "nearest", "closest", "thinnest", "minimal",
})  # fmt: skip
BY_DATE = frozenset({"latest", "newest", "last", "youngest", "earliest", "oldest", "first", "recent"})
"""Superlatives of time."""
BY_COUNT = frozenset({"most", "fewest", "least"})
"""Superlatives that count things where a thing follows."""
NOT_SUPERLATIVE = frozenset(
    {"interest", "request", "forest", "test", "guest", "latter", "west", "east", "rest"}
)

QUESTIONS = frozenset({"what", "which", "who", "whom", "whose", "when", "where", "how"})
IMPERATIVES = frozenset({
    "give", "list", "name", "state", "show", "tell", "find", "provide", "identify", "calculate",
    "compute", "indicate", "mention", "write", "enumerate", "tally", "specify", "determine", "describe",
    "present", "display", "return", "count", "get",
})  # fmt: skip
LEADS = frozenset(
    {"please", "then", "also", "and", "can", "could", "you", "kindly", "me", "us", "out", "down"}
)
BOUNDS = frozenset({
    "that", "who", "whose", "whom", "which", "where", "when", "with", "in", "from", "for", "at", "by",
    "on", "under", "if", "sorted", "ordered", "arranged", "separated", "among", "between", "has", "have",
    "had", "is", "are", "was", "were", "do", "does", "did", "can", "belong", "belongs", "than", "within",
    "during", "after", "before", "since", "without", "into", "through", "per", "would", "should", "will",
})  # fmt: skip
"""Words that end what is asked for and begin what is said of it."""
AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "the", "a", "an"}
)
EVERY = frozenset({"each", "every", "per"})
DISTINCT = frozenset({"different", "distinct", "unique"})

VACANT = frozenset(stem(word) for word in (
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "as", "is",
    "are", "was", "were", "be", "been", "it", "its", "their", "his", "her", "this", "that", "these",
    "those", "which", "who", "whose", "what", "where", "when", "how", "many", "much", "do", "does",
    "did", "has", "have", "had", "there", "all", "any", "some", "no", "not", "than", "then", "more",
    "less", "please", "give", "list", "refer", "mean", "he", "she", "they", "them", "since", "after",
    "before", "over", "under", "above", "below", "between", "during", "until", "up", "down", "out", "if",
    "into", "through", "about", "among", "within", "without",
))  # fmt: skip
"""Stems of words that say nothing by themselves."""

AGGREGATES = {
    "average": "avg", "mean": "avg", "total": "sum", "sum": "sum", "combined": "sum", "overall": "sum",
}  # fmt: skip
"""Words before a column that say what is made of it."""
SHARES = frozenset({"percentage", "percent", "proportion", "share", "ratio", "fraction", "rate"})

COMPARISONS: tuple[tuple[tuple[str, ...], str], ...] = tuple(
    (tuple(words.split()), sign)
    for words, sign in (
        ("no more than", "<="), ("not more than", "<="), ("no less than", ">="), ("not less than", ">="),
        ("no fewer than", ">="), ("no later than", "<="), ("no earlier than", ">="), ("at least", ">="),
        ("at most", "<="), ("up to", "<="), ("or more", ">="), ("or later", ">="), ("or above", ">="),
        ("or over", ">="), ("and above", ">="), ("and over", ">="), ("or less", "<="),
        ("or fewer", "<="), ("or below", "<="), ("or earlier", "<="), ("and below", "<="),
        ("more than", ">"), ("greater than", ">"), ("higher than", ">"), ("larger than", ">"),
        ("bigger than", ">"), ("longer than", ">"), ("taller than", ">"), ("heavier than", ">"),
        ("faster than", ">"), ("better than", ">"), ("later than", ">"), ("exceeds", ">"),
        ("exceeding", ">"), ("exceed", ">"), ("over", ">"), ("above", ">"), ("after", ">"),
        ("since", ">="), ("from", ">="), ("less than", "<"), ("fewer than", "<"), ("lower than", "<"),
        ("smaller than", "<"), ("shorter than", "<"), ("cheaper than", "<"), ("earlier than", "<"),
        ("slower than", "<"), ("below", "<"), ("under", "<"), ("before", "<"), ("until", "<="),
        ("exactly", "="), ("equal to", "="), ("equals", "="),
    )
)  # fmt: skip
"""How a number is compared, the longer way of saying it first."""
BEHIND = frozenset({"or", "and"})
"""A comparison that begins so stands behind its number."""

MONTHS = {
    word: place
    for place, words in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1)
    for word in words.split()
}  # fmt: skip
NEGATIONS = frozenset({
    "not", "no", "except", "without", "excluding", "never", "neither", "nor", "aside", "isn't", "wasn't",
    "aren't", "weren't", "doesn't", "don't", "didn't",
})  # fmt: skip
ABSENT = frozenset({"never", "without", "no"})
LEAVING = (
    ("leaving", "out"),
    ("leave", "out"),
    ("other", "than"),
    ("apart", "from"),
    ("left", "out"),
    ("not", "counted"),
)
PLACES = frozenset(stem(word) for word in ("country", "city", "town", "region", "state", "location", "place"))
YEARS = frozenset(stem(word) for word in ("year", "born", "birth", "founded"))
DATES = frozenset(stem(word) for word in ("date", "day", "time", "year", "month"))
