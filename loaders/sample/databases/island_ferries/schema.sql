CREATE TABLE ports (
    port_id    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    island     TEXT,
    population INTEGER,
    latitude   REAL,
    longitude  REAL
);

CREATE TABLE Vessels (
    vessel_id    INTEGER NOT NULL PRIMARY KEY,
    Name         TEXT    NOT NULL,
    class        TEXT,
    built        INTEGER,
    capacity     INTEGER,
    "Speed (kn)" REAL,
    imo          TEXT,
    remarks      TEXT
);

CREATE TABLE routes (
    RouteID     TEXT    NOT NULL PRIMARY KEY,
    from_port   INTEGER NOT NULL,
    to_port     INTEGER NOT NULL,
    distance_nm REAL,
    seasonal    INTEGER NOT NULL,
    FOREIGN KEY (from_port) REFERENCES ports (port_id),
    FOREIGN KEY (to_port) REFERENCES ports (port_id)
);

CREATE TABLE routeStops (
    RouteID   TEXT    NOT NULL,
    "order"   INTEGER NOT NULL,
    port_id   INTEGER NOT NULL,
    dwell_min INTEGER,
    PRIMARY KEY (RouteID, "order"),
    FOREIGN KEY (RouteID) REFERENCES routes (RouteID),
    FOREIGN KEY (port_id) REFERENCES ports (port_id)
);

CREATE TABLE fares (
    RouteID             TEXT NOT NULL,
    category            TEXT NOT NULL,
    price               REAL NOT NULL,
    "Discount Rate (%)" REAL,
    PRIMARY KEY (RouteID, category),
    FOREIGN KEY (RouteID) REFERENCES routes (RouteID)
);

CREATE TABLE crew (
    crew_id   INTEGER NOT NULL PRIMARY KEY,
    full_name TEXT    NOT NULL,
    rank      TEXT,
    hired     DATE,
    vessel_id INTEGER,
    boss_id   INTEGER,
    salary    INTEGER,
    certified TEXT,
    FOREIGN KEY (vessel_id) REFERENCES Vessels (vessel_id),
    FOREIGN KEY (boss_id) REFERENCES crew (crew_id)
);

CREATE TABLE sailings (
    sailing_id INTEGER  NOT NULL PRIMARY KEY,
    RouteID    TEXT     NOT NULL,
    vessel_id  INTEGER  NOT NULL,
    departed   DATETIME NOT NULL,
    arrived    DATETIME,
    passengers INTEGER  NOT NULL,
    cars       INTEGER,
    delay_min  INTEGER,
    status     TEXT,
    FOREIGN KEY (RouteID) REFERENCES routes (RouteID),
    FOREIGN KEY (vessel_id) REFERENCES Vessels (vessel_id)
);
