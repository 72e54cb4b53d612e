-- Which logins a provider has is asked under the write lock.
CREATE INDEX loginByProvider ON login (provider) WHERE provider IS NOT NULL;

-- Tells whether a WAL was written for this database file. Replaced whenever the WAL begins anew.
CREATE TABLE walMark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mark BLOB NOT NULL CHECK (length(mark) = 16),
    previous BLOB NOT NULL CHECK (length(previous) = 16),
    schemaCookie INTEGER NOT NULL
) STRICT;

INSERT INTO walMark (id, mark, previous, schemaCookie) VALUES (1, randomblob(16), zeroblob(16), 0);

-- Logins whose end, or whose need of their user, no handler has heard of. A hint: what the session cell says decides.
CREATE TABLE untoldFailure (
    login INTEGER PRIMARY KEY REFERENCES login (id)
) STRICT;
