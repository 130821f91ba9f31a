CREATE TABLE stations (
    code        TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    massif      TEXT,
    elevation_m INTEGER,
    installed   DATE,
    closed      DATE
);

CREATE TABLE observers (
    observer_id INTEGER NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    languages   TEXT,
    since       INTEGER
);

CREATE TABLE readings (
    code        TEXT NOT NULL,
    day         TEXT NOT NULL,
    t_min       REAL,
    t_max       REAL,
    rain_mm     REAL,
    wind        TEXT,
    observer_id INTEGER,
    PRIMARY KEY (code, day),
    FOREIGN KEY (code) REFERENCES stations (code),
    FOREIGN KEY (observer_id) REFERENCES observers (observer_id)
);

CREATE TABLE "Storm Alerts" (
    alert_id INTEGER  NOT NULL PRIMARY KEY,
    code     TEXT     NOT NULL,
    issued   DATETIME NOT NULL,
    lifted   DATETIME,
    severity TEXT     NOT NULL,
    message  TEXT,
    FOREIGN KEY (code) REFERENCES stations (code)
);

CREATE TABLE lightning (
    strike_id  INTEGER NOT NULL PRIMARY KEY,
    code       TEXT    NOT NULL,
    strike_ms  INTEGER NOT NULL,
    current_ka REAL,
    polarity   TEXT,
    FOREIGN KEY (code) REFERENCES stations (code)
);
