/// A statement's text that is prepared once for each connection, and found again by which object it is.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// The queries that more than one place uses. Columns 0–6 are the user's, 7–18 the login's, 19–20 the secret cells,
/// 21–27 the intent's.
enum SQL {
    private static let userColumns = """
        user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell
        """
    private static let loginColumns = """
        login.id, login.handle, login.provider, login.chain, login.generation, login.revision, login.incarnation,
        login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell
        """
    private static let secretColumns = "loginSecret.refreshCell, loginSecret.keyCell"
    private static let intentColumns = """
        refreshIntent.fence, refreshIntent.generation, refreshIntent.owner, refreshIntent.startedAt,
        refreshIntent.doubtSince, refreshIntent.tries, refreshIntent.mac
        """

    static let sessionsOfUser = Query(
        """
        SELECT \(userColumns), \(loginColumns)
        FROM user LEFT JOIN login ON login.user = user.id
        WHERE user.blindIndex = ?1 ORDER BY login.id
        """)

    static let sessionOfLogin = Query(
        """
        SELECT \(userColumns), \(loginColumns)
        FROM login CROSS JOIN user ON user.id = login.user
        WHERE login.handle = ?1
        """)

    static let login = Query(
        """
        SELECT \(userColumns), \(loginColumns), \(secretColumns), \(intentColumns)
        FROM login CROSS JOIN user ON user.id = login.user
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE login.handle = ?1
        """)

    static let unusableReplies = Query(
        """
        SELECT \(userColumns), unusableReply.handle, unusableReply.receivedAt, unusableReply.cell
        FROM login CROSS JOIN user ON user.id = login.user
            CROSS JOIN unusableReply ON unusableReply.login = login.id
        WHERE login.handle = ?1 ORDER BY unusableReply.id
        """)

    static let loginsOfUser = Query(
        """
        SELECT \(userColumns), \(loginColumns), \(secretColumns), \(intentColumns)
        FROM user LEFT JOIN login ON login.user = user.id
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE user.blindIndex = ?1 ORDER BY login.id
        """)

    static let loginPage = Query(
        """
        SELECT \(userColumns), \(loginColumns), \(secretColumns), \(intentColumns)
        FROM login LEFT JOIN user ON user.id = login.user
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE login.handle > ?1 ORDER BY login.handle LIMIT ?2
        """)

    // The row's id follows the time in the index: no sorting.
    static let dueLogins = Query(
        """
        SELECT id, handle, provider, dueAt, refreshTag IS NOT NULL FROM login INDEXED BY loginByDueAt
        WHERE dueAt IS NOT NULL AND dueAt <= ?1 AND (dueAt, id) > (?2, ?3) ORDER BY dueAt, id LIMIT ?4
        """)

    static let nextDue = Query(
        "SELECT dueAt FROM login INDEXED BY loginByDueAt WHERE dueAt > ?1 ORDER BY dueAt LIMIT 1")

    static let userPage = Query(
        """
        SELECT \(userColumns) FROM user
        WHERE handle > ?1 ORDER BY handle LIMIT ?2
        """)

    static let userByIndex = Query(
        """
        SELECT \(userColumns) FROM user WHERE blindIndex = ?1
        """)

    static let userByHandle = Query(
        """
        SELECT \(userColumns) FROM user WHERE handle = ?1
        """)

    // For rows that are named by their number, because nothing else of them may be readable.

    static let providerByRow = Query("SELECT \(providerColumns) FROM provider WHERE id = ?1")

    static let userByRow = Query("SELECT \(userColumns) FROM user WHERE id = ?1")

    static let loginByRow = Query(
        """
        SELECT \(userColumns), \(loginColumns), \(secretColumns), \(intentColumns)
        FROM login LEFT JOIN user ON user.id = login.user
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE login.id = ?1
        """)

    static let loginRowsOfUserRow = Query("SELECT id FROM login WHERE user = ?1 ORDER BY id")

    static let loginHandlesOfUserRow = Query("SELECT handle FROM login WHERE user = ?1 ORDER BY id")

    static let outboxByRow = Query("SELECT handle, nextAttemptAt, attempts, cell FROM outbox WHERE id = ?1")

    static let authorizationRequestByRow = Query(
        "SELECT stateIndex, expiresAt, cell FROM authorizationRequest WHERE id = ?1")

    static let unusableReplyByRow = Query(
        """
        SELECT \(userColumns), unusableReply.handle, unusableReply.receivedAt, unusableReply.cell, login.handle
        FROM unusableReply LEFT JOIN login ON login.id = unusableReply.login
            LEFT JOIN user ON user.id = login.user
        WHERE unusableReply.id = ?1
        """)

    static let openIntents = Query(
        """
        SELECT login.handle, \(intentColumns)
        FROM refreshIntent CROSS JOIN login ON login.id = refreshIntent.login
        WHERE refreshIntent.fence > ?1 ORDER BY refreshIntent.fence LIMIT ?2
        """)

    /// Columns 0–4, as ``RowOpener/provider(_:)`` reads them.
    private static let providerColumns = "handle, revision, cell, nameIndex, id"

    static let providerPage = Query(
        "SELECT \(providerColumns) FROM provider WHERE id >= ?1 ORDER BY id LIMIT ?2")

    static let provider = Query("SELECT \(providerColumns) FROM provider WHERE handle = ?1")

    static let providerByName = Query("SELECT \(providerColumns) FROM provider WHERE nameIndex = ?1")

    /// Those whose index has still to be filled in. There are none once a process with a key has opened the vault.
    static let unnamedProviders = Query(
        "SELECT \(providerColumns) FROM provider WHERE nameIndex IS NULL ORDER BY id")

    static let providersOfUser = Query(
        """
        SELECT DISTINCT login.provider FROM user CROSS JOIN login ON login.user = user.id
        WHERE user.blindIndex = ?1
        """)

    static let refreshableLoginsOfProvider = Query(
        "SELECT count(*) FROM login WHERE provider = ?1 AND refreshTag IS NOT NULL")

    static let anyRefreshableLoginOfProvider = Query(
        "SELECT 1 FROM login WHERE provider = ?1 AND refreshTag IS NOT NULL LIMIT 1")

    static let anyLoginOfProvider = Query("SELECT 1 FROM login WHERE provider = ?1 LIMIT 1")

    // From the end of the trail: where logins are renewed at all, one of the last rows is such a row.
    static let lastRenewal = Query(
        """
        SELECT audit.time FROM audit CROSS JOIN login ON login.handle = audit.login
        WHERE audit.kind = ?1 AND audit.sequence > ?2 AND audit.time > ?3 AND login.provider = ?4 AND login.handle <> ?5
        ORDER BY audit.sequence DESC LIMIT 1
        """)

    static let outbox = Query(
        """
        SELECT handle, nextAttemptAt, attempts, cell, id FROM outbox WHERE id >= ?2 ORDER BY id LIMIT ?1
        """)

    static let dueOutbox = Query(
        """
        SELECT handle, nextAttemptAt, attempts, cell FROM outbox WHERE nextAttemptAt <= ?1
        ORDER BY nextAttemptAt, id
        """)

    static let outboxEntry = Query(
        """
        SELECT handle, nextAttemptAt, attempts, cell FROM outbox WHERE handle = ?1
        """)
}
