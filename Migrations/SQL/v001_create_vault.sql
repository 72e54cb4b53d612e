CREATE TABLE vault (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    vaultID BLOB NOT NULL CHECK (length(vaultID) = 16),
    incarnation INTEGER NOT NULL,
    createdAt INTEGER NOT NULL,
    keyringCell BLOB NOT NULL
) STRICT;

CREATE TABLE keySlot (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    kind INTEGER NOT NULL,
    keyID BLOB NOT NULL CHECK (length(keyID) = 16),
    salt BLOB,
    operations INTEGER,
    memoryKiB INTEGER,
    label TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;

CREATE TABLE provider (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    revision INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;

CREATE TABLE user (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    blindIndex BLOB NOT NULL UNIQUE CHECK (length(blindIndex) = 16),
    revision INTEGER NOT NULL,
    auditSequence INTEGER NOT NULL,
    rootKey BLOB NOT NULL CHECK (length(rootKey) = 16),
    cell BLOB NOT NULL
) STRICT;

CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    appliedAt INTEGER NOT NULL
) STRICT;
