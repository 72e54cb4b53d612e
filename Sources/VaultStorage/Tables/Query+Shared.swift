/// The queries that more than one place uses. Columns 0–6 are the user's, 7–18 the login's, 19–20 the secret cells,
/// 21–27 the intent's.
extension Query {
    static let userColumns = Table.user.columns(
        "id", "handle", "blindIndex", "revision", "auditSequence", "rootKey", "cell")
    private static let loginColumns = Table.login.columns(
        "id", "handle", "provider", "chain", "generation", "revision", "incarnation", "dueAt", "expiresAt",
        "refreshTag", "keyTag", "cell")
    private static let secretColumns = Table.loginSecret.columns("refreshCell", "keyCell")
    private static let intentColumns = Table.refreshIntent.columns(
        "fence", "generation", "owner", "startedAt", "doubtSince", "tries", "mac")
    private static let wholeLogin = userColumns + loginColumns + secretColumns + intentColumns
    /// Columns 0–4, as ``RowOpener/provider(_:)`` reads them.
    private static let providerColumns = Table.provider.columns("handle", "revision", "cell", "nameIndex", "id")
    /// The columns that ``RowOpener/outboxEntry(_:)`` reads.
    private static let outboxColumns = Table.outbox.columns("handle", "nextAttemptAt", "attempts", "cell", "id")
    /// The columns that ``RowOpener/authorizationRequest(_:)`` reads.
    private static let requestColumns = Table.authorizationRequest.columns("stateIndex", "expiresAt", "cell")

    private static let secretsAndIntent: [Join] = [
        secretsIfAny, .optional(Table.refreshIntent["login"], is: Table.login["id"]),
    ]
    private static let secretsIfAny = Join.optional(Table.loginSecret["login"], is: Table.login["id"])
    /// Rows of ``Table/loginSecret`` hold refresh tokens, too: who needs no key reads none.
    private static let keyIfAny = Join.optional(
        Table.loginSecret["login"], is: Table.login["id"], ifAny: Table.login["keyTag"])
    private static let owner = Join.each(Table.user["id"], is: Table.login["user"])
    /// For rows whose user may no longer exist.
    private static let ownerIfAny = Join.optional(Table.user["id"], is: Table.login["user"])
    private static let loginsAtProviderIfAny = Join.optional(
        Table.login["user"], is: Table.user["id"], with: (Table.login["provider"], 2))
    private static let loginsIfAny = Join.optional(Table.login["user"], is: Table.user["id"])

    // MARK: Users and logins

    package static let sessionsOfUser = select(
        userColumns + loginColumns, from: .user, joins: [loginsIfAny],
        where: [.equal(Table.user["blindIndex"], 1)], order: [.up(Table.login["id"])])

    /// Those at one provider, parameter 2.
    package static let sessionsOfUserAtProvider = select(
        userColumns + loginColumns, from: .user, joins: [loginsAtProviderIfAny],
        where: [.equal(Table.user["blindIndex"], 1)], order: [.up(Table.login["id"])])

    package static let sessionsAndKeysOfUserAtProvider = select(
        userColumns + loginColumns + Table.loginSecret.columns("keyCell"), from: .user,
        joins: [loginsAtProviderIfAny, keyIfAny], where: [.equal(Table.user["blindIndex"], 1)],
        order: [.up(Table.login["id"])])

    package static let sessionOfLogin = select(
        userColumns + loginColumns, from: .login, joins: [owner], where: [.equal(Table.login["handle"], 1)])

    /// The same, and the key of each login that has one.
    package static let sessionsAndKeysOfUser = select(
        userColumns + loginColumns + Table.loginSecret.columns("keyCell"), from: .user,
        joins: [loginsIfAny, keyIfAny], where: [.equal(Table.user["blindIndex"], 1)],
        order: [.up(Table.login["id"])])

    /// A login, and its key if it has one.
    package static let sessionAndKeyOfLogin = select(
        userColumns + loginColumns + Table.loginSecret.columns("keyCell"), from: .login, joins: [owner, keyIfAny],
        where: [.equal(Table.login["handle"], 1)])

    static let login = select(
        wholeLogin, from: .login, joins: [owner] + secretsAndIntent, where: [.equal(Table.login["handle"], 1)])

    static let loginsOfUser = select(
        wholeLogin, from: .user, joins: [loginsIfAny] + secretsAndIntent,
        where: [.equal(Table.user["blindIndex"], 1)], order: [.up(Table.login["id"])])

    static let loginPage = select(
        wholeLogin, from: .login, joins: [ownerIfAny] + secretsAndIntent,
        where: [.greater(Table.login["handle"], 1)], order: [.up(Table.login["handle"])], limit: 2)

    /// Like ``loginPage``, but in storage order: each page of a big file is read once.
    static let loginsByRow = select(
        wholeLogin, from: .login, joins: [ownerIfAny] + secretsAndIntent,
        where: [.greater(Table.login["id"], 1)], order: [.up(Table.login["id"])], limit: 2)

    static let userPage = select(
        userColumns, from: .user, where: [.greater(Table.user["handle"], 1)], order: [.up(Table.user["handle"])],
        limit: 2)

    static let userByIndex = select(userColumns, from: .user, where: [.equal(Table.user["blindIndex"], 1)])

    static let userByHandle = select(userColumns, from: .user, where: [.equal(Table.user["handle"], 1)])

    static let unusableReplies = select(
        userColumns + Table.unusableReply.columns("handle", "receivedAt", "cell"), from: .login,
        joins: [owner, .each(Table.unusableReply["login"], is: Table.login["id"])],
        where: [.equal(Table.login["handle"], 1)], order: [.up(Table.unusableReply["id"])])

    static let openIntents = select(
        Table.login.columns("handle") + intentColumns, from: .refreshIntent,
        joins: [.each(Table.login["id"], is: Table.refreshIntent["login"])],
        where: [.greater(Table.refreshIntent["fence"], 1)], order: [.up(Table.refreshIntent["fence"])], limit: 2)

    // MARK: Rows that are found by number, because nothing else of them may be readable

    static let providerByRow = select(providerColumns, from: .provider, where: [.equal(Table.provider["id"], 1)])

    static let userByRow = select(userColumns, from: .user, where: [.equal(Table.user["id"], 1)])

    static let loginByRow = select(
        wholeLogin, from: .login, joins: [ownerIfAny] + secretsAndIntent, where: [.equal(Table.login["id"], 1)])

    /// The number and handle of each.
    static let loginsOfUserRow = select(
        Table.login.columns("id", "handle"), from: .login, where: [.equal(Table.login["user"], 1)],
        order: [.up(Table.login["id"])])

    static let loginCountOfUserRow = select([.count], from: .login, where: [.equal(Table.login["user"], 1)])

    /// The columns that ``LoginColumns`` and ``IntentRecord`` read.
    static let wholeLoginsOfUserRow = select(
        wholeLogin, from: .login, joins: [owner] + secretsAndIntent, where: [.equal(Table.login["user"], 1)])

    static let outboxByRow = select(outboxColumns, from: .outbox, where: [.equal(Table.outbox["id"], 1)])

    static let users = select(
        userColumns, from: .user, where: [.atLeast(Table.user["id"], 1)], order: [.up(Table.user["id"])], limit: 2)

    static let authorizationRequests = select(
        requestColumns + Table.authorizationRequest.columns("id"), from: .authorizationRequest,
        where: [.atLeast(Table.authorizationRequest["id"], 1)], order: [.up(Table.authorizationRequest["id"])], limit: 2
    )

    static let authorizationRequestByRow = select(
        requestColumns, from: .authorizationRequest, where: [.equal(Table.authorizationRequest["id"], 1)])

    static let unusableReplyByRow = select(
        userColumns + Table.unusableReply.columns("handle", "receivedAt", "cell") + Table.login.columns("handle"),
        from: .unusableReply,
        joins: [.optional(Table.login["id"], is: Table.unusableReply["login"]), ownerIfAny],
        where: [.equal(Table.unusableReply["id"], 1)])

    // MARK: Providers

    static let providerPage = select(
        providerColumns, from: .provider, where: [.atLeast(Table.provider["id"], 1)],
        order: [.up(Table.provider["id"])], limit: 2)

    static let provider = select(providerColumns, from: .provider, where: [.equal(Table.provider["handle"], 1)])

    static let providerByName = select(
        providerColumns, from: .provider, where: [.equal(Table.provider["nameIndex"], 1)])

    /// Providers whose index must still be filled in. There are none once a process with a key has opened the vault.
    static let unnamedProviders = select(
        providerColumns, from: .provider, where: [.isNull(Table.provider["nameIndex"])],
        order: [.up(Table.provider["id"])])

    static let providersOfUser = select(
        Table.login.columns("provider"), from: .user,
        joins: [.each(Table.login["user"], is: Table.user["id"])], where: [.equal(Table.user["blindIndex"], 1)])

    static let refreshableLoginsOfProvider = select(
        [.count], from: .login, where: [.equal(Table.login["provider"], 1), .isNotNull(Table.login["refreshTag"])])

    static let anyRefreshableLoginOfProvider = select(
        Table.login.columns("id"), from: .login,
        where: [.equal(Table.login["provider"], 1), .isNotNull(Table.login["refreshTag"])], mostRows: 1)

    static let anyLoginOfProvider = select(
        Table.login.columns("id"), from: .login, where: [.equal(Table.login["provider"], 1)], mostRows: 1)

    // MARK: Journals

    static let outbox = select(
        outboxColumns, from: .outbox, where: [.atLeast(Table.outbox["id"], 1)], order: [.up(Table.outbox["id"])],
        limit: 2)

    static let dueOutbox = select(
        outboxColumns, from: .outbox, where: [.atMost(Table.outbox["nextAttemptAt"], 1)],
        order: [.up(Table.outbox["nextAttemptAt"]), .up(Table.outbox["id"])])

    static let outboxEntry = select(outboxColumns, from: .outbox, where: [.equal(Table.outbox["handle"], 1)])

    static let authorizationRequest = select(
        requestColumns, from: .authorizationRequest, where: [.equal(Table.authorizationRequest["stateIndex"], 1)])

    // MARK: The trail

    /// Columns 0–9: those of ``AuditColumns``, the detail's cell, the link, and the previous row's link where it is
    /// stored.
    static let auditRow = select(auditColumns, from: .audit, where: [.equal(Table.audit["sequence"], 1)])

    static let auditRows = select(
        auditColumns, from: .audit, where: [.greater(Table.audit["sequence"], 1)],
        order: [.up(Table.audit["sequence"])], limit: 2)

    static let auditRowsFrom = select(
        auditColumns, from: .audit, where: [.atLeast(Table.audit["sequence"], 1)],
        order: [.up(Table.audit["sequence"])], limit: 2)

    /// The newest first.
    static let auditRowsBefore = select(
        auditColumns, from: .audit, where: [.less(Table.audit["sequence"], 1)],
        order: [.down(Table.audit["sequence"])], limit: 2)

    static let auditColumns = Table.audit.columns(
        "sequence", "time", "kind", "user", "login", "provider", "revision", "detailCell", "mac", "previous")

    static let auditLink = select(Table.audit.columns("mac"), from: .audit, where: [.equal(Table.audit["sequence"], 1)])

    // MARK: Deleting

    static let deleteIntentOfLogin = deleteOfLogin(.refreshIntent)
    static let deleteUnusableRepliesOfLogin = deleteOfLogin(.unusableReply)
    static let deleteSecretsOfLogin = deleteOfLogin(.loginSecret)
    static let deleteUnreportedFailureOfLogin = deleteOfLogin(.unreportedFailure)

    private static func deleteOfLogin(_ table: Table) -> Query {
        delete(from: table, where: [.equal(table["login"], 1)])
    }

    // MARK: Any table

    /// The number of rows.
    static let counts = PerTable { select([.count], from: $0) }

    /// The row whose number is parameter 1, if it exists.
    static let rowsByNumber = PerTable { select($0.columns($0.key), from: $0, where: [.equal($0[$0.key], 1)]) }

    static let deletesByNumber = PerTable { delete(from: $0, where: [.equal($0[$0.key], 1)]) }

    /// The numbers of the rows from parameter 1 on, in ascending order.
    static let numbersFrom = PerTable {
        select(
            $0.columns($0.key), from: $0, where: [.atLeast($0[$0.key], 1)], order: [.up($0[$0.key])], limit: 2)
    }

    struct PerTable: Sendable {
        private let queries: [Table: Query]
        private let make: @Sendable (Table) -> Query

        init(_ make: @escaping @Sendable (Table) -> Query) {
            self.make = make
            queries = Dictionary(uniqueKeysWithValues: Table.allCases.map { ($0, make($0)) })
        }

        subscript(table: Table) -> Query { queries[table] ?? make(table) }
    }
}

extension TableAccess {
    func count(_ table: Table) throws(StoreError) -> Int64 { try integer(.counts[table]) ?? 0 }
}
