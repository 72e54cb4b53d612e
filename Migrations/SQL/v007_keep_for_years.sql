-- Which users are sealed under which root key: a rotation finds the rest of its work by it.
CREATE INDEX userByRoot ON user (rootKey);

-- A key slot whose key an operator's program wraps: the wrapped key, and what the program calls the key that it used.
ALTER TABLE keySlot ADD COLUMN wrappedKey BLOB;

ALTER TABLE keySlot ADD COLUMN keyName TEXT;

-- A key slot for a recipient of age: the recipient, and the public half of the key pair that was made for the slot.
ALTER TABLE keySlot ADD COLUMN recipient BLOB CHECK (length(recipient) = 32);

ALTER TABLE keySlot ADD COLUMN share BLOB CHECK (length(share) = 32);

-- Backups that were made of this vault: which of them still hold a user who is erased. Guarded by a MAC of the audit key.
CREATE TABLE backup (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    madeAt INTEGER NOT NULL,
    finishedAt INTEGER,
    auditSequence INTEGER NOT NULL,
    byteCount INTEGER NOT NULL,
    path TEXT NOT NULL,
    recipients TEXT NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT;
-- The link of the row before, in a row that stayed when what was before it was pruned.
ALTER TABLE audit ADD COLUMN previous BLOB CHECK (length(previous) = 32);

-- Which rows about a user stayed when the trail was pruned.
CREATE INDEX auditKept ON audit (user) WHERE previous IS NOT NULL AND user IS NOT NULL;

-- How far the trail was pruned (kind 66), without reading all of it.
CREATE INDEX auditOfPruning ON audit (sequence) WHERE kind = 66;
