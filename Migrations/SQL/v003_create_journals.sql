CREATE TABLE authorizationRequest (
    id INTEGER PRIMARY KEY,
    stateIndex BLOB NOT NULL UNIQUE CHECK (length(stateIndex) = 16),
    expiresAt INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;

CREATE INDEX authorizationRequestByExpiry ON authorizationRequest (expiresAt);

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    nextAttemptAt INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;

CREATE INDEX outboxByNextAttempt ON outbox (nextAttemptAt);

CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    user BLOB,
    login BLOB,
    provider BLOB,
    revision INTEGER,
    detailCell BLOB,
    mac BLOB NOT NULL CHECK (length(mac) = 32)
) STRICT;
