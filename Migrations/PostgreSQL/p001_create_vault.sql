CREATE TABLE "vault" (
    "id" bigint PRIMARY KEY CHECK ("id" = 1),
    "vaultID" bytea NOT NULL CHECK (octet_length("vaultID") = 16),
    "incarnation" bigint NOT NULL,
    "createdAt" bigint NOT NULL,
    "keyringCell" bytea NOT NULL,
    "revision" bigint NOT NULL,
    "auditSequence" bigint NOT NULL,
    "manifestCell" bytea
);

CREATE TABLE "migration" (
    "version" bigint PRIMARY KEY,
    "name" text COLLATE "C" NOT NULL,
    "checksum" bigint NOT NULL,
    "appliedAt" bigint NOT NULL,
    "auditSequence" bigint
);

-- The engine's own: how many transactions have changed the vault, and the highest fence of all. Whoever changes the vault
-- changes this row first, and so waits for the one before.
CREATE TABLE "engineState" (
    "id" bigint PRIMARY KEY CHECK ("id" = 1),
    "changeCount" bigint NOT NULL,
    "highestFence" bigint NOT NULL,
    -- In which of the server's histories the vault is changed, and whether the last change waited for a standby.
    "system" bigint NOT NULL,
    "timeline" bigint NOT NULL,
    "isSynchronous" boolean NOT NULL,
    -- The numbers of the database and of this table: a copy of either has others.
    "place" bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO "engineState" ("id", "changeCount", "highestFence", "system", "timeline", "isSynchronous", "place")
SELECT 1, 0, 0, system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,
    current_setting('synchronous_standby_names') <> '',
    (SELECT oid FROM pg_database WHERE datname = current_database())::bigint << 32
        | '"engineState"'::regclass::oid::bigint
FROM pg_control_system();

-- The engine's own: the processes that have the vault open, and those that ended without a word. By the server's clock.
CREATE TABLE "process" (
    "owner" bigint PRIMARY KEY,
    "host" text COLLATE "C" NOT NULL,
    "pid" bigint NOT NULL,
    "startedAt" timestamptz NOT NULL DEFAULT clock_timestamp(),
    "lastSeenAt" timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- In which history it was seen last, and when in the one before a failover.
    "timeline" bigint NOT NULL,
    "seenBefore" timestamptz,
    -- What it has said after a failover: in which history, and of how many changes it knew.
    "settledTimeline" bigint,
    "knownChanges" bigint,
    -- Whether it has ever changed the vault: for one that only reads nobody waits. Of how many changes it has heard.
    "hasChanged" boolean NOT NULL DEFAULT false,
    "seenChanges" bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

CREATE TABLE "keySlot" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "kind" bigint NOT NULL,
    "keyID" bytea NOT NULL CHECK (octet_length("keyID") = 16),
    "salt" bytea,
    "operations" bigint,
    "memoryKiB" bigint,
    "label" text COLLATE "C" NOT NULL,
    "createdAt" bigint NOT NULL,
    "cell" bytea NOT NULL,
    "wrappedKey" bytea,
    "keyName" text COLLATE "C",
    "recipient" bytea CHECK (octet_length("recipient") = 32),
    "share" bytea CHECK (octet_length("share") = 32)
);

CREATE TABLE "provider" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "revision" bigint NOT NULL,
    "cell" bytea NOT NULL,
    "nameIndex" bytea UNIQUE CHECK (octet_length("nameIndex") = 16)
);

CREATE TABLE "user" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "blindIndex" bytea NOT NULL UNIQUE CHECK (octet_length("blindIndex") = 16),
    "revision" bigint NOT NULL,
    "auditSequence" bigint NOT NULL,
    "rootKey" bytea NOT NULL CHECK (octet_length("rootKey") = 16),
    "cell" bytea NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX "userByRoot" ON "user" ("rootKey");

CREATE TABLE "login" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "user" bigint NOT NULL REFERENCES "user" ("id"),
    "provider" bytea REFERENCES "provider" ("handle"),
    "chain" bigint NOT NULL,
    "generation" bigint NOT NULL,
    "revision" bigint NOT NULL,
    "incarnation" bigint NOT NULL,
    "dueAt" bigint,
    "expiresAt" bigint,
    "refreshTag" bytea,
    "keyTag" bytea,
    "cell" bytea NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX "loginByUser" ON "login" ("user");

CREATE INDEX "loginByDueAt" ON "login" ("dueAt") WHERE "dueAt" IS NOT NULL;

CREATE INDEX "loginByProvider" ON "login" ("provider") WHERE "provider" IS NOT NULL;

CREATE TABLE "loginSecret" (
    "login" bigint PRIMARY KEY REFERENCES "login" ("id"),
    "refreshCell" bytea,
    "keyCell" bytea
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE "refreshIntent" (
    "fence" bigint PRIMARY KEY,
    "login" bigint NOT NULL UNIQUE REFERENCES "login" ("id"),
    "generation" bigint NOT NULL,
    "owner" bigint NOT NULL,
    "startedAt" bigint NOT NULL,
    "doubtSince" bigint,
    "tries" bigint NOT NULL,
    "mac" bytea NOT NULL CHECK (octet_length("mac") = 16)
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX "refreshIntentByOwner" ON "refreshIntent" ("owner");

-- Logins whose end, or whose need of their user, no handler has heard of. A hint: what the session cell says decides.
CREATE TABLE "untoldFailure" (
    "login" bigint PRIMARY KEY REFERENCES "login" ("id")
);

CREATE TABLE "authorizationRequest" (
    "id" bigint PRIMARY KEY,
    "stateIndex" bytea NOT NULL UNIQUE CHECK (octet_length("stateIndex") = 16),
    "expiresAt" bigint NOT NULL,
    "cell" bytea NOT NULL
);

CREATE INDEX "authorizationRequestByExpiry" ON "authorizationRequest" ("expiresAt");

CREATE TABLE "outbox" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "nextAttemptAt" bigint NOT NULL,
    "attempts" bigint NOT NULL,
    "cell" bytea NOT NULL
);

CREATE INDEX "outboxByNextAttempt" ON "outbox" ("nextAttemptAt");

CREATE TABLE "unusableReply" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "login" bigint NOT NULL REFERENCES "login" ("id"),
    "receivedAt" bigint NOT NULL,
    "cell" bytea NOT NULL
);

CREATE INDEX "unusableReplyByLogin" ON "unusableReply" ("login");

CREATE INDEX "unusableReplyByTime" ON "unusableReply" ("receivedAt");

CREATE TABLE "backup" (
    "id" bigint PRIMARY KEY,
    "handle" bytea NOT NULL UNIQUE CHECK (octet_length("handle") = 16),
    "madeAt" bigint NOT NULL,
    "finishedAt" bigint,
    "auditSequence" bigint NOT NULL,
    "byteCount" bigint NOT NULL,
    "path" text COLLATE "C" NOT NULL,
    "recipients" text COLLATE "C" NOT NULL,
    "mac" bytea NOT NULL CHECK (octet_length("mac") = 16)
);

CREATE TABLE "audit" (
    "sequence" bigint PRIMARY KEY,
    "time" bigint NOT NULL,
    "kind" bigint NOT NULL,
    "user" bytea,
    "login" bytea,
    "provider" bytea,
    "revision" bigint,
    "detailCell" bytea,
    "mac" bytea NOT NULL CHECK (octet_length("mac") = 32),
    "previous" bytea CHECK (octet_length("previous") = 32)
);

-- The same indexes as in a file: see the migrations of SQLite.
CREATE INDEX "auditOfVault" ON "audit" ("sequence")
    WHERE "user" IS NULL AND "login" IS NULL AND "revision" IS NOT NULL;

CREATE INDEX "auditByUser" ON "audit" ("user", "revision") WHERE "user" IS NOT NULL AND "kind" <> 22;

CREATE INDEX "auditByProvider" ON "audit" ("provider", "sequence") WHERE "provider" IS NOT NULL;

CREATE INDEX "auditKept" ON "audit" ("user") WHERE "previous" IS NOT NULL AND "user" IS NOT NULL;

CREATE INDEX "auditOfPruning" ON "audit" ("sequence") WHERE "kind" = 66;
