CREATE TABLE login (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    user INTEGER NOT NULL REFERENCES user (id),
    provider BLOB REFERENCES provider (handle),
    chain INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    dueAt INTEGER,
    expiresAt INTEGER,
    refreshTag BLOB,
    keyTag BLOB,
    cell BLOB NOT NULL
) STRICT;

CREATE INDEX loginByUser ON login (user);

CREATE INDEX loginByDueAt ON login (dueAt) WHERE dueAt IS NOT NULL;

CREATE TABLE loginSecret (
    login INTEGER PRIMARY KEY REFERENCES login (id),
    refreshCell BLOB,
    keyCell BLOB
) STRICT;

CREATE TABLE refreshIntent (
    fence INTEGER PRIMARY KEY AUTOINCREMENT,
    login INTEGER NOT NULL UNIQUE REFERENCES login (id),
    generation INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    startedAt INTEGER NOT NULL,
    doubtSince INTEGER,
    tries INTEGER NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT;
