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

-- Which providers and key slots there are, in which state: sealed, and bound to all other columns of the vault's row.
ALTER TABLE vault ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

ALTER TABLE vault ADD COLUMN auditSequence INTEGER NOT NULL DEFAULT 0;

ALTER TABLE vault ADD COLUMN manifestCell BLOB;

-- Whether the trail tells of a later change of the vault's row than the row itself does.
CREATE INDEX auditOfVault ON audit (sequence) WHERE user IS NULL AND login IS NULL AND revision IS NOT NULL;

-- The same of a user, before a refresh token is spent. The start of a renewal (kind 22) is left out: it changes no token.
CREATE INDEX auditByUser ON audit (user, revision) WHERE user IS NOT NULL AND kind <> 22;

-- A provider is found by its name without opening the others: a keyed hash of the name. The first process with a key
-- fills it in.
ALTER TABLE provider ADD COLUMN nameIndex BLOB CHECK (length(nameIndex) = 16);

CREATE UNIQUE INDEX providerByName ON provider (nameIndex);

-- What the trail tells of one provider, without reading all of it. Rows about logins name no provider.
CREATE INDEX auditByProvider ON audit (provider, sequence) WHERE provider IS NOT NULL;
