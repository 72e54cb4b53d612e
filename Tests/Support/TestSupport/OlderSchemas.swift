/// SQL that makes a vault of an older schema version of one of today's: what the steps since then have added is taken away.
///
/// A step that comes later is taken back here, too.
package enum OlderSchemas {
    /// The version from which these statements lead back.
    package static let newest = 10

    /// Takes away what the last four steps have added. Users whose manifests lie in parts would be lost.
    private static let withoutSeven = """
        DROP INDEX loginByProvider; CREATE INDEX loginByProvider ON login (provider) WHERE provider IS NOT NULL;
        DROP TABLE observer; DROP TABLE manifestPart; DROP INDEX userByRoot; DROP INDEX auditKept;
        DROP INDEX auditOfPruning; DROP TABLE backup;
        ALTER TABLE audit DROP COLUMN previous;
        ALTER TABLE keySlot DROP COLUMN wrappedKey; ALTER TABLE keySlot DROP COLUMN keyName;
        ALTER TABLE keySlot DROP COLUMN recipient; ALTER TABLE keySlot DROP COLUMN share;
        """

    /// The version before slots had keys that programs wrap, or recipients, and before the trail could be pruned.
    package static let six =
        withoutSeven + """

            DELETE FROM migration WHERE version > 6; PRAGMA user_version = 6;
            """

    /// The version before there were marks of the WAL. What the audit trail holds stays as today's programs wrote it.
    package static let five =
        withoutSeven + """

            DROP INDEX loginByProvider; DROP TABLE walMark; DROP TABLE untoldFailure;
            DROP INDEX auditOfVault; DROP INDEX auditByUser; ALTER TABLE vault DROP COLUMN manifestCell;
            ALTER TABLE vault DROP COLUMN auditSequence; ALTER TABLE vault DROP COLUMN revision;
            DROP INDEX auditByProvider; DROP INDEX providerByName; ALTER TABLE provider DROP COLUMN nameIndex;
            DELETE FROM migration WHERE version > 5; PRAGMA user_version = 5;
            """

    /// The version before there was an audit trail: of a vault whose newer tables are empty nothing is lost.
    package static let two =
        five + """

            DROP TABLE unusableReply; DROP TABLE authorizationRequest; DROP TABLE outbox; DROP TABLE audit;
            ALTER TABLE migration DROP COLUMN auditSequence;
            DELETE FROM migration WHERE version > 2; PRAGMA user_version = 2;
            """
}
