import VaultCrypto

/// Deleting rows that cannot be opened. The trail records it twice: as the removal of the row, and as its meaning for
/// the user, login, provider or revocation. So a reader of the trail needs no knowledge of damage.
extension WriteTransaction {
    func discard(_ found: DamagedRow.Place) throws(StoreError) -> DiscardedRow {
        let place = try damage.place(found)
        guard let row = try damage.check(place) else {
            let name: DamagedRowName =
                switch place {
                case .row(let table, let id): .row(table, id)
                case .missingLogin(let login, _): .handle(login.bytes)
                }
            throw .isWhole(name)
        }
        guard row.place == place else { throw .goesWithPart(row.name) }
        let rows = try damage.rows(at: place)
        let hash = RawRow.hash(of: rows)
        let event = Self.discardingEvent(row, hash)
        var logins: [LoginHandle] = []
        switch place {
        case .row(.provider, let id): try discardProvider(row, id, event)
        case .row(.user, let id): logins = try discardUser(row, id, event)
        case .row(.login, let id): logins = try discardLogin(row, id, event)
        case .missingLogin(let login, let userRow): logins = try forgetLogin(login, userRow, event)
        case .row(.outbox, let id): try discardRevocation(id, event)
        case .row(.manifestPart, let id): logins = try discardPart(row, id, event)
        case .row(.fenceCounter, _):
            try mendFences()
            try audit(event, about: AuditSubject())
        case .row(let table, let id):
            try deleteRow(table, id)
            try audit(event, about: AuditSubject(user: row.user, login: row.login))
        }
        return DiscardedRow(row: row, rowCount: rows.count, hash: hash, logins: logins)
    }

    func discardUser(_ userId: String) throws(StoreError) -> DiscardedRow {
        let index = try index(ofUserId: userId)
        let row = try tables.cursor(.userByIndex)
        let id = try row.withBinding(1, index.bytes) { () throws(StoreError) in
            guard try row.step() else { throw StoreError.notFound(.user) }
            return row.integer(0)
        }
        try endPendingLogIns(of: userId)
        return try discard(.row(.user, id: id))
    }

    /// Erases a user who has begun to log in and has no row yet.
    ///
    /// - Returns: Whether there was such a log-in.
    func eraseNewcomer(_ userId: String) throws(StoreError) -> Bool {
        guard try endPendingLogIns(of: userId) > 0 else { return false }
        try audit(AuditEvent(.userErased), about: AuditSubject())
        return true
    }

    private static func discardingEvent(_ row: DamagedRow, _ hash: [UInt8]) -> AuditEvent {
        AuditEvent(
            .rowDiscarded,
            [
                .init("table", row.table.rawValue), .init("row", row.name.description),
                .init("reason", row.damage.message), .init("hash", Hexadecimal.text(hash)),
            ])
    }

    /// The events of a damaged login that goes with its user, whose own row is undamaged.
    static func discardingEvents(ofErased login: LoginHandle) -> [AuditEvent] {
        [
            AuditEvent(.rowDiscarded, [.init("table", "login"), .init("row", login.text)]),
            AuditEvent(.loginRemoved, [.init("cause", AuditEvent.Detail.userErased)]),
        ]
    }

    private func deleteRow(_ table: DamagedRow.Table, _ id: Int64) throws(StoreError) {
        let delete = try tables.cursor(.deletesByNumber[table.table])
        delete.bind(1, id)
        try delete.run()
    }

    private func discardRevocation(_ id: Int64, _ event: AuditEvent) throws(StoreError) {
        try deleteRow(.outbox, id)
        try audit(event, about: AuditSubject())
        // The trail counts the pending revocations.
        try audit(AuditEvent(.revocationAbandoned, [.init("cause", "damaged")]), about: AuditSubject())
    }

    // MARK: Logins

    private func discardLogin(
        _ row: DamagedRow, _ id: Int64, _ event: AuditEvent
    ) throws(StoreError) -> [LoginHandle] {
        let owner = try openOwner(ofLoginRow: id)
        try deleteLogin(id)
        guard let login = row.login else {
            try audit(event, about: AuditSubject(user: row.user))
            return []
        }
        if let owner {
            var owner = owner
            guard try isKnown(login, to: &owner) else {
                // The row was planted: it was never a login of this user.
                try audit(event, about: AuditSubject(user: row.user, login: login))
                return []
            }
            try forget(login, of: owner, event)
        } else {
            try audit(event, about: AuditSubject(user: row.user, login: login))
            try audit(Self.removalOfDamaged, about: AuditSubject(user: row.user, login: login))
        }
        return [login]
    }

    private func forgetLogin(
        _ login: LoginHandle, _ userRow: Int64, _ event: AuditEvent
    ) throws(StoreError) -> [LoginHandle] {
        guard let owner = try openUser(row: userRow) else { throw .notFound(.user) }
        try forget(login, of: owner, event)
        return [login]
    }

    private static var removalOfDamaged: AuditEvent { AuditEvent(.loginRemoved, [.init("cause", "damaged")]) }

    /// Reseals the manifest without the login, so that the user has exactly the logins that it lists.
    private func forget(_ login: LoginHandle, of owner: OpenUser, _ event: AuditEvent) throws(StoreError) {
        var owner = owner
        try remove(login, from: &owner)
        var tale = Tale()
        tale.add([event, Self.removalOfDamaged], of: login)
        try save(&owner, telling: tale)
    }

    /// Discards a part. The logins that it named go with it, because their last state is lost.
    private func discardPart(
        _ row: DamagedRow, _ id: Int64, _ event: AuditEvent
    ) throws(StoreError) -> [LoginHandle] {
        let (userRow, number) = ManifestPart.place(ofRow: id)
        guard let logins = try damage.loginRows(ofPart: id), var owner = try openUser(row: userRow) else {
            try deleteRow(.manifestPart, id)
            try audit(event, about: AuditSubject(user: row.user))
            return []
        }
        owner.manifest.clear(number)
        var tale = Tale()
        tale.add([event], of: nil)
        for login in logins {
            try deleteLogin(login.row)
            tale.add([Self.removalOfDamaged], of: login.handle)
        }
        try save(&owner, telling: tale)
        return logins.map(\.handle)
    }

    func deleteLogin(_ rowID: Int64) throws(StoreError) {
        for query: Query in [
            .deleteIntentOfLogin, .deleteSecretsOfLogin, .deleteUnusableRepliesOfLogin, .deleteUnreportedFailureOfLogin,
            .deletesByNumber[.login],
        ] {
            let delete = try tables.cursor(query)
            delete.bind(1, rowID)
            try delete.run()
        }
    }

    private func openOwner(ofLoginRow id: Int64) throws(StoreError) -> OpenUser? {
        let row = try tables.cursor(.ownerOfLoginRow)
        defer { row.reset() }
        row.bind(1, id)
        return try row.step() ? try openUser(row: row.integer(0)) : nil
    }

    /// Returns `nil` if there is no such user, or if the row is damaged.
    private func openUser(row id: Int64) throws(StoreError) -> OpenUser? {
        try opener.user(ofRow: id) { columns, view throws(StoreError) in try openUser(columns, view) }
    }

    // MARK: Users

    private func discardUser(
        _ row: DamagedRow, _ id: Int64, _ event: AuditEvent
    ) throws(StoreError) -> [LoginHandle] {
        let logins = try tables.loginRows(ofUserRow: id).compactMap(\.handle)
        let told = try handleToldOfUser(id)
        try deleteUser(id)
        try audit(event, about: AuditSubject(user: row.user))
        for login in logins {
            try audit(
                AuditEvent(.loginRemoved, [.init("cause", AuditEvent.Detail.userErased)]),
                about: AuditSubject(user: told ?? row.user, login: login))
        }
        // Under both handles, if the handle is damaged: the trail must record the end of the user that it knows.
        for user in Set([row.user, told].compactMap(\.self)) {
            // After each state that could be put back.
            let last = try AuditTrail(opener).lastRevision(of: user)
            try audit(AuditEvent(.userErased), about: AuditSubject(user: user, revision: last + 1))
        }
        return logins
    }

    /// The user named in the audit row of the last change, unless that user has another row.
    private func handleToldOfUser(_ id: Int64) throws(StoreError) -> UserHandle? {
        let row = try tables.cursor(.lastChangeOfUserRow)
        let told: UserHandle?
        do {
            defer { row.reset() }
            row.bind(1, id)
            guard try row.step(), !row.isNull(1), row.integer(1) == row.integer(2) else { return nil }
            told = row.bytes16(0).map { UserHandle($0) }
        }
        guard let told else { return nil }
        let others = try tables.cursor(.userByHandle)
        let hasOther = try others.withBinding(1, told.bytes) { () throws(StoreError) in
            try others.step() && others.integer(0) != id
        }
        return hasOther ? nil : told
    }

    // MARK: Providers

    private func discardProvider(_ row: DamagedRow, _ id: Int64, _ event: AuditEvent) throws(StoreError) {
        let told = try handleToldOfProvider(id, row.provider)
        for provider in [row.provider, told].compactMap(\.self) {
            try requireUnused(
                provider,
                hint: "keep them with `vaultctl provider add --replace-damaged \(row.name)`, or end its logins first")
        }
        try deleteRow(.provider, id)
        try audit(event, about: AuditSubject(provider: row.provider))
        for provider in Set([row.provider, told].compactMap(\.self)) {
            let last = try? lastRevision(of: provider)
            try changeVault(
                AuditEvent(.providerRemoved, [.init("cause", "damaged")]),
                about: AuditSubject(provider: provider, revision: (last ?? 0) + 1)
            ) { $0.manifest.providers[provider.bytes] = nil }
        }
    }

    /// The provider behind a row with a damaged handle: one that the trail names, that has no row, and under whose
    /// handle the cell opens.
    func handleToldOfProvider(_ id: Int64, _ handle: ProviderHandle?) throws(StoreError) -> ProviderHandle? {
        let row = try tables.cursor(.providerByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        for candidate in try providersWithoutRow() where candidate != handle {
            let record = try? unsafe opener.root(
                row.blob(2), .provider, table: "provider", handle: candidate.bytes,
                ProviderRecord.associatedData(context.vaultID, candidate, revision: row.integer(1))
            ) { bytes throws(VaultCryptoError) in try unsafe ProviderRecord(bytes) }
            if record != nil { return candidate }
        }
        return nil
    }

    /// The providers that the trail names and that have no row.
    private func providersWithoutRow() throws(StoreError) -> Set<ProviderHandle> {
        let rows = try tables.cursor(.auditedProviders)
        defer { rows.reset() }
        var found: Set<ProviderHandle> = []
        while try rows.step() {
            if rows.isNull(1), let handle = rows.bytes16(0) { found.insert(ProviderHandle(handle)) }
        }
        return found
    }
}

extension Query {
    fileprivate static let ownerOfLoginRow = select(
        Table.login.columns("user"), from: .login, where: [.equal(Table.login["id"], 1)])

    /// The user that the audit row of a user's last change names, that row's revision, and the user's own.
    fileprivate static let lastChangeOfUserRow = select(
        Table.audit.columns("user", "revision") + Table.user.columns("revision"), from: .user,
        joins: [.each(Table.audit["sequence"], is: Table.user["auditSequence"])],
        where: [.equal(Table.user["id"], 1)])

    /// The provider of each row of the trail that names one, and the number of the provider's row if it exists.
    fileprivate static let auditedProviders = select(
        Table.audit.columns("provider") + Table.provider.columns("id"), from: .audit,
        joins: [.optional(Table.provider["handle"], is: Table.audit["provider"])],
        where: [.isNotNull(Table.audit["provider"])])
}

/// Formats bytes for people who compare them.
package enum Hexadecimal {
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
