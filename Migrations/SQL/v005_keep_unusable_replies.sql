CREATE TABLE unusableReply (
    id INTEGER PRIMARY KEY,
    handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
    login INTEGER NOT NULL REFERENCES login (id),
    receivedAt INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;

CREATE INDEX unusableReplyByLogin ON unusableReply (login);

CREATE INDEX unusableReplyByTime ON unusableReply (receivedAt);
