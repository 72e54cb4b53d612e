-- How far each named observer of events has got, and which process delivers to it. Guarded by a MAC of the audit key.
CREATE TABLE observer (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cursor TEXT NOT NULL,
    incarnation INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT;
