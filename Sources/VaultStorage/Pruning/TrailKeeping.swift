import VaultCrypto

/// Decides which rows stay when the trail is pruned. Without them a full check could not prove as much as with a whole
/// trail.
///
/// - The last change of each user, who may never change again. While the user's row is older than that change, every
///   later one stays too.
/// - The last change of each provider, unless it removed the provider; the last change of the vault's row.
/// - The beginning of a renewal that is still open.
/// - The creation of the vault and each migration.
///
/// A missing row is no reason to drop the trail's records of a user, provider or login. They are dropped only when the
/// trail itself records the end. Otherwise an attacker who removes a row would only have to wait for the next pruning.
struct TrailKeeping {
    let tables: any TableAccess
    let context: VaultContext
    private let vaultSequence: Int64
    private var users: [UserHandle: UserStanding] = [:]
    private var begun: Set<LoginHandle> = []

    /// The state of a user in the vault and in the trail.
    private struct UserStanding {
        /// Nil if there is no row.
        var revision: Int64?
        var auditSequence: Int64 = 0
        /// The row of the trail with the highest revision.
        var lastChange: Int64 = 0
        var isErased = false
    }

    init(_ tables: any TableAccess, _ context: VaultContext, _ vault: VaultRow) {
        self.tables = tables
        self.context = context
        vaultSequence = vault.auditSequence
    }

    /// Whether a row stays. Call this for later rows first.
    mutating func keeps(_ row: AuditColumns) throws(StoreError) -> Bool {
        if row.kind == .vaultCreated || row.kind == .vaultMigrated { return true }
        if try keepsAsBeginning(row) { return true }
        guard let revision = row.revision else { return false }
        if let user = row.user { return try keeps(row.sequence, revision, of: user) }
        guard row.login == nil else { return false }
        if row.sequence >= vaultSequence { return true }
        guard let provider = row.provider, row.kind != .providerRemoved else { return false }
        return try !hasLaterChange(of: provider, than: row.sequence)
    }

    private mutating func keepsAsBeginning(_ row: AuditColumns) throws(StoreError) -> Bool {
        guard row.kind == .renewalStarted || row.kind == .intentTakenOver, let login = row.login,
            begun.insert(login).inserted
        else { return false }
        let intent = try tables.cursor(.openIntentOfLogin)
        return try intent.withBinding(1, login.bytes) { () throws(StoreError) in try intent.step() }
    }

    private mutating func keeps(
        _ sequence: Int64, _ revision: Int64, of user: UserHandle
    ) throws(StoreError) -> Bool {
        let standing = if let known = users[user] { known } else { try standing(of: user) }
        users[user] = standing
        guard let stored = standing.revision else { return !standing.isErased && sequence == standing.lastChange }
        return sequence == standing.auditSequence || revision > stored && sequence == standing.lastChange
    }

    private func standing(of user: UserHandle) throws(StoreError) -> UserStanding {
        var standing = UserStanding()
        let row = try tables.cursor(.userByHandle)
        try row.withBinding(1, user.bytes) { () throws(StoreError) in
            guard try row.step() else { return }
            standing.revision = row.integer(3)
            standing.auditSequence = row.integer(4)
        }
        let last = try tables.cursor(.lastChangeOfUser)
        try last.withBinding(1, user.bytes) { () throws(StoreError) in
            guard try last.step() else { return }
            standing.lastChange = last.integer(0)
            standing.isErased = last.integer(1) == AuditKind.userErased.rawValue
        }
        guard standing.revision == nil, !standing.isErased else { return standing }
        // A damaged user was discarded: their revision was not known.
        let end = try tables.cursor(.endOfDiscardedUser)
        standing.isErased = try end.withBinding(1, user.bytes) { () throws(StoreError) in try end.step() }
        return standing
    }

    private func hasLaterChange(of provider: ProviderHandle, than sequence: Int64) throws(StoreError) -> Bool {
        let row = try tables.cursor(.laterChangeOfProvider)
        row.bind(2, sequence)
        return try row.withBinding(1, provider.bytes) { () throws(StoreError) in try row.step() }
    }
}

extension Query {
    fileprivate static let openIntentOfLogin = select(
        Table.refreshIntent.columns("fence"), from: .login,
        joins: [.each(Table.refreshIntent["login"], is: Table.login["id"])],
        where: [.equal(Table.login["handle"], 1)])

    fileprivate static let lastChangeOfUser = select(
        Table.audit.columns("sequence", "kind"), from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .isNot(Table.audit["kind"], AuditKind.renewalStarted.rawValue),
        ], order: [.down(Table.audit["revision"]), .down(Table.audit["sequence"])], mostRows: 1, index: "auditByUser")

    fileprivate static let endOfDiscardedUser = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .isNull(Table.audit["revision"]),
            .isExactly(Table.audit["kind"], AuditKind.userErased.rawValue),
            .isNot(Table.audit["kind"], AuditKind.renewalStarted.rawValue),
        ], mostRows: 1, index: "auditByUser")

    fileprivate static let laterChangeOfProvider = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [
            .equal(Table.audit["provider"], 1), .greater(Table.audit["sequence"], 2), .isNull(Table.audit["user"]),
            .isNotNull(Table.audit["revision"]),
        ], order: [.up(Table.audit["sequence"])], mostRows: 1, index: "auditByProvider")
}
