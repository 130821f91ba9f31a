CREATE TABLE taxa (
    taxon_id    INTEGER NOT NULL PRIMARY KEY,
    parent_id   INTEGER,
    level       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    common_name TEXT,
    FOREIGN KEY (parent_id) REFERENCES taxa (taxon_id)
);

CREATE TABLE beds (
    bed_id      INTEGER NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    exposure    TEXT,
    "Area (m2)" REAL
);

CREATE TABLE suppliers (
    supplier_id INTEGER NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    country     TEXT,
    phone       TEXT
);

CREATE TABLE accessions (
    AccNo                  TEXT    NOT NULL PRIMARY KEY,
    taxon_id               INTEGER NOT NULL,
    bed_id                 INTEGER,
    supplier_id            INTEGER,
    received               TEXT,
    alive                  INTEGER NOT NULL,
    seeds_sown             INTEGER,
    seeds_up               INTEGER,
    "Germination Rate (%)" REAL,
    FOREIGN KEY (taxon_id) REFERENCES taxa (taxon_id),
    FOREIGN KEY (bed_id) REFERENCES beds (bed_id),
    FOREIGN KEY (supplier_id) REFERENCES suppliers (supplier_id)
);

CREATE TABLE "order" (
    order_id    INTEGER NOT NULL PRIMARY KEY,
    supplier_id INTEGER NOT NULL,
    ordered     DATE    NOT NULL,
    paid        DATE,
    total_cents INTEGER,
    note        TEXT,
    FOREIGN KEY (supplier_id) REFERENCES suppliers (supplier_id)
);

CREATE TABLE plant_checks (
    check_id  INTEGER  NOT NULL PRIMARY KEY,
    AccNo     TEXT     NOT NULL,
    checked   DATETIME NOT NULL,
    height_cm REAL,
    health    INTEGER,
    checker   TEXT,
    FOREIGN KEY (AccNo) REFERENCES accessions (AccNo)
);
