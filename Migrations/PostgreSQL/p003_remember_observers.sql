-- How far each named observer of events has got, and which process delivers to it. Guarded by a MAC of the audit key.
CREATE TABLE "observer" (
    "id" bigint PRIMARY KEY,
    "name" text COLLATE "C" NOT NULL UNIQUE,
    "cursor" text COLLATE "C" NOT NULL,
    "incarnation" bigint NOT NULL,
    "owner" bigint NOT NULL,
    "mac" bytea NOT NULL CHECK (octet_length("mac") = 16)
) WITH (fillfactor = 10);
