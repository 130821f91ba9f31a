CREATE TABLE branches (
    branch_id       INTEGER NOT NULL PRIMARY KEY,
    name            TEXT    NOT NULL,
    district        TEXT,
    "Opening Hours" TEXT,
    opened          DATE,
    floor_area      REAL
);

CREATE TABLE Authors (
    AuthorID  INTEGER NOT NULL PRIMARY KEY,
    FullName  TEXT    NOT NULL,
    Country   TEXT,
    BirthYear INTEGER
);

CREATE TABLE Books (
    BookID       INTEGER NOT NULL PRIMARY KEY,
    Title        TEXT    NOT NULL,
    Language     TEXT,
    isbn         INTEGER,
    "Shelf Mark" TEXT,
    "group"      TEXT,
    Pages        INTEGER,
    Price        REAL,
    published    TEXT
);

CREATE TABLE book_authors (
    BookID   INTEGER NOT NULL,
    AuthorID INTEGER NOT NULL,
    PRIMARY KEY (BookID, AuthorID),
    FOREIGN KEY (BookID) REFERENCES Books (BookID),
    FOREIGN KEY (AuthorID) REFERENCES Authors (AuthorID)
);

CREATE TABLE Patrons (
    patron_id   INTEGER NOT NULL PRIMARY KEY,
    first_name  TEXT    NOT NULL,
    last_name   TEXT    NOT NULL,
    email       TEXT,
    card_type   TEXT,
    joined      DATE,
    referred_by INTEGER,
    FOREIGN KEY (referred_by) REFERENCES Patrons (patron_id)
);

CREATE TABLE loans (
    loan_id     INTEGER NOT NULL PRIMARY KEY,
    BookID      INTEGER NOT NULL,
    patron_id   INTEGER NOT NULL,
    branch_id   INTEGER NOT NULL,
    loan_date   DATE    NOT NULL,
    due_date    DATE    NOT NULL,
    return_date DATE,
    renewals    INTEGER NOT NULL,
    fine        REAL,
    FOREIGN KEY (BookID) REFERENCES Books (BookID),
    FOREIGN KEY (patron_id) REFERENCES Patrons (patron_id),
    FOREIGN KEY (branch_id) REFERENCES branches (branch_id)
);
