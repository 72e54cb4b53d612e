/// The queries that more than one place uses. Columns 0–6 are the user's, 7–18 the login's, 19–20 the secret cells,
/// 21–27 the intent's.
enum SQL {
    static let sessionsOfUser: StaticString = """
        SELECT user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell,
            login.id, login.handle, login.provider, login.chain, login.generation, login.revision,
            login.incarnation, login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell
        FROM user LEFT JOIN login ON login.user = user.id
        WHERE user.blindIndex = ?1 ORDER BY login.id
        """

    static let sessionOfLogin: StaticString = """
        SELECT user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell,
            login.id, login.handle, login.provider, login.chain, login.generation, login.revision,
            login.incarnation, login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell
        FROM login CROSS JOIN user ON user.id = login.user
        WHERE login.handle = ?1
        """

    static let login: StaticString = """
        SELECT user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell,
            login.id, login.handle, login.provider, login.chain, login.generation, login.revision,
            login.incarnation, login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell,
            loginSecret.refreshCell, loginSecret.keyCell,
            refreshIntent.fence, refreshIntent.generation, refreshIntent.owner, refreshIntent.startedAt,
            refreshIntent.doubtSince, refreshIntent.tries, refreshIntent.mac
        FROM login CROSS JOIN user ON user.id = login.user
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE login.handle = ?1
        """

    static let loginsOfUser: StaticString = """
        SELECT user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell,
            login.id, login.handle, login.provider, login.chain, login.generation, login.revision,
            login.incarnation, login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell,
            loginSecret.refreshCell, loginSecret.keyCell,
            refreshIntent.fence, refreshIntent.generation, refreshIntent.owner, refreshIntent.startedAt,
            refreshIntent.doubtSince, refreshIntent.tries, refreshIntent.mac
        FROM user LEFT JOIN login ON login.user = user.id
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE user.blindIndex = ?1 ORDER BY login.id
        """

    static let loginPage: StaticString = """
        SELECT user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell,
            login.id, login.handle, login.provider, login.chain, login.generation, login.revision,
            login.incarnation, login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell,
            loginSecret.refreshCell, loginSecret.keyCell,
            refreshIntent.fence, refreshIntent.generation, refreshIntent.owner, refreshIntent.startedAt,
            refreshIntent.doubtSince, refreshIntent.tries, refreshIntent.mac
        FROM login LEFT JOIN user ON user.id = login.user
            LEFT JOIN loginSecret ON loginSecret.login = login.id
            LEFT JOIN refreshIntent ON refreshIntent.login = login.id
        WHERE login.handle > ?1 ORDER BY login.handle LIMIT ?2
        """

    static let userPage: StaticString = """
        SELECT id, handle, blindIndex, revision, auditSequence, rootKey, cell FROM user
        WHERE handle > ?1 ORDER BY handle LIMIT ?2
        """

    static let userByIndex: StaticString = """
        SELECT id, handle, blindIndex, revision, auditSequence, rootKey, cell FROM user WHERE blindIndex = ?1
        """

    static let openIntents: StaticString = """
        SELECT login.handle, refreshIntent.fence, refreshIntent.generation, refreshIntent.owner,
            refreshIntent.startedAt, refreshIntent.doubtSince, refreshIntent.tries, refreshIntent.mac
        FROM refreshIntent CROSS JOIN login ON login.id = refreshIntent.login
        ORDER BY coalesce(refreshIntent.doubtSince, refreshIntent.startedAt), refreshIntent.login
        """

    static let providers: StaticString = "SELECT handle, revision, cell FROM provider ORDER BY id"

    static let provider: StaticString = "SELECT handle, revision, cell FROM provider WHERE handle = ?1"

    static let outbox: StaticString = """
        SELECT handle, nextAttemptAt, attempts, cell, id FROM outbox WHERE id >= ?2 ORDER BY id LIMIT ?1
        """

    static let dueOutbox: StaticString = """
        SELECT handle, nextAttemptAt, attempts, cell FROM outbox WHERE nextAttemptAt <= ?2
        ORDER BY nextAttemptAt, id LIMIT ?1
        """

    static let outboxEntry: StaticString = """
        SELECT handle, nextAttemptAt, attempts, cell FROM outbox WHERE handle = ?1
        """
}
