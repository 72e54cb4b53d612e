import VaultCrypto

extension WriteTransaction {
    var sealer: LoginSealer { LoginSealer(context) }

    func loadLogin(_ handle: LoginHandle) throws(StoreError) -> (user: OpenUser, login: OpenLogin) {
        let row = try tables.cursor(.login)
        row.bind(1, handle.bytes)
        defer { row.reset() }
        guard try row.step() else { throw StoreError.notFound(.login) }
        let columns = try UserColumns(row)
        return try opener.withUser(row, columns) { view throws(StoreError) in
            try requireNewest(columns)
            let login = try opener.login(row, try LoginColumns(row), columns, view)
            return (try openUser(columns, view), login)
        }
    }

    /// The login of a user who has exactly one; nil otherwise.
    func loadOnlyLogin(ofUserId id: String) throws(StoreError) -> (user: OpenUser, login: OpenLogin)? {
        let row = try tables.cursor(.loginsOfUser)
        row.bind(1, try index(ofUserId: id).bytes)
        defer { row.reset() }
        guard try row.step(), !row.isNull(LoginColumns.firstColumn) else { return nil }
        let columns = try UserColumns(row)
        return try opener.withUser(row, columns) { view throws(StoreError) in
            try requireNewest(columns)
            guard view.loginCount == 1 else { return nil }
            let login = try opener.login(row, try LoginColumns(row), columns, view)
            let user = try openUser(columns, view)
            return try row.step() ? nil : (user, login)
        }
    }

    /// Seals a new login, and adds it to the manifest of its user.
    func seal(_ draft: LoginDraft, of user: inout OpenUser) throws(StoreError) -> SealedLogin {
        try seal(new: sealer.login(draft, loginHandles.next()), of: &user)
    }

    /// Seals a login from another vault. It keeps its name and its position in its chain, and stays held if it was.
    func seal(_ moved: StoredLogin, of user: inout OpenUser) throws(StoreError) -> SealedLogin {
        var incarnation = sealer.incarnation(of: moved.session)
        if moved.isHeld, !moved.session.isHeldBySource { incarnation -= 1 }
        var login = OpenLogin(
            columns: LoginColumns(handle: moved.handle, provider: moved.provider, incarnation: incarnation),
            session: moved.session, refresh: moved.refresh, key: moved.key)
        login.columns.position = moved.position
        login.columns.dueAt = moved.dueAt
        return try seal(new: login, of: &user)
    }

    private func seal(new login: OpenLogin, of user: inout OpenUser) throws(StoreError) -> SealedLogin {
        let sealed = try sealer.seal(new: login, of: user.columns.handle, user.dataKey)
        try add(sealed, to: &user)
        return sealed
    }

    /// Adds a login to the manifest of its user.
    func add(_ login: SealedLogin, to user: inout OpenUser) throws(StoreError) {
        let columns = login.open.columns
        if let provider = columns.provider { try requireProvider(provider) }
        try put(ManifestEntry(login: columns.handle, revision: columns.revision, tag: login.tag), into: &user)
    }

    func insert(_ login: inout SealedLogin, ofUserRow user: Int64) throws(StoreError) {
        let columns = login.open.columns
        let insert = try tables.cursor(.insertLogin)
        insert.bind(1, columns.handle.bytes)
        insert.bind(2, user)
        insert.bind(3, columns.provider?.bytes)
        bindChanging(insert, columns, from: 4)
        try insert.run(12, borrowing: login.session)
        login.open.columns.rowID = tables.lastInsertedRow
        guard login.refresh != nil || login.key != nil else { return }
        let secrets = try tables.cursor(.insertSecrets)
        secrets.bind(1, login.open.columns.rowID)
        secrets.bind(2, login.refresh)
        secrets.bind(3, login.key)
        try secrets.run()
    }

    private func requireProvider(_ handle: ProviderHandle) throws(StoreError) {
        let query = try tables.cursor(.providerExists)
        query.bind(1, handle.bytes)
        defer { query.reset() }
        guard try query.step() else { throw .notFound(.provider) }
    }

    /// Binds chain, generation, revision, incarnation, dueAt, expiresAt and the tags: eight parameters. The cell
    /// follows.
    private func bindChanging(_ cursor: any RowCursor, _ columns: LoginColumns, from first: Int32) {
        cursor.bind(first, columns.position.chain)
        cursor.bind(first + 1, columns.position.generation)
        cursor.bind(first + 2, columns.revision)
        cursor.bind(first + 3, columns.incarnation)
        cursor.bind(first + 4, columns.dueAt?.milliseconds)
        cursor.bind(first + 5, columns.expiresAt?.milliseconds)
        cursor.bind(first + 6, columns.refreshTag?.bytes)
        cursor.bind(first + 7, columns.keyTag?.bytes)
    }

    /// Seals the session cell over the current columns, and updates the manifest.
    private func seal(
        _ session: SessionRecord, _ columns: inout LoginColumns, _ user: inout OpenUser
    ) throws(StoreError) -> [UInt8] {
        let (cell, tag) = try sealer.seal(session, &columns, user.columns.handle, user.dataKey)
        try put(ManifestEntry(login: columns.handle, revision: columns.revision, tag: tag), into: &user)
        return cell
    }

    private func writeSecrets(_ login: OpenLogin, _ refresh: [UInt8]?, _ key: [UInt8]?) throws(StoreError) {
        let isNone = refresh == nil && key == nil
        let write = try tables.cursor(isNone ? .deleteSecretsOfLogin : .putSecrets)
        write.bind(1, login.columns.rowID)
        if !isNone {
            write.bind(2, refresh)
            write.bind(3, key)
        }
        try write.run()
    }

    /// Writes a body's changes to a login. Returns whether the login's row changed, and so the user's.
    func apply(_ state: LoginState, to login: OpenLogin, of user: inout OpenUser) throws(StoreError) -> Bool {
        if state.isRemoved {
            try delete(login, of: &user)
            return true
        }
        if state.intent != login.intent {
            if state.intent != nil { try requireNotToldLater(user.columns) }
            try writeIntent(state.intent, replacing: login)
        }
        let secretsChanged = state.refresh != login.refresh || state.key != login.key
        // The session comes last: comparing tokens takes the same time wherever they differ.
        guard
            secretsChanged || state.position != login.columns.position || state.dueAt != login.columns.dueAt
                || state.isAccepted && state.isHeld || state.session != login.session
        else { return false }
        var (columns, session) = (login.columns, state.session)
        let isOtherChain = state.position.chain != columns.position.chain
        columns.dueAt = state.dueAt
        columns.revision += 1
        columns.position = state.position
        // The other system owned the former chain, not this one.
        if isOtherChain, session.origin != nil { session.origin = nil }
        if state.isAccepted || isOtherChain || session.origin?.owner != login.session.origin?.owner {
            columns.incarnation = sealer.incarnation(of: session)
        }
        if state.movesOn(from: login) { try forgetUnusableReplies(of: login) }
        if secretsChanged { try replaceSecrets(of: login, with: state, &columns, user) }
        if state.session.hasUnreportedFailure != login.session.hasUnreportedFailure {
            try noteUnreportedFailure(of: login, isUnreported: state.session.hasUnreportedFailure)
        }
        let cell = try seal(session, &columns, &user)
        let update = try tables.cursor(.updateLogin)
        update.bind(1, columns.rowID)
        bindChanging(update, columns, from: 2)
        try update.run(10, borrowing: cell)
        return true
    }

    /// Reseals only the cell that has changed.
    private func replaceSecrets(
        of login: OpenLogin, with state: LoginState, _ columns: inout LoginColumns, _ user: OpenUser
    ) throws(StoreError) {
        var hasRow = login.refresh != nil || login.key != nil
        if state.refresh != login.refresh {
            let sealed = try state.refresh.map { value throws(StoreError) in
                try sealer.seal(value.encoded(), .refresh, login.columns, user.columns.handle, user.dataKey)
            }
            columns.refreshTag = sealed?.tag
            try write(sealed?.cell, columns.rowID, .updateRefreshCell, hasRow: hasRow)
            hasRow = true
        }
        if state.key != login.key {
            let sealed = try state.key.map { value throws(StoreError) in
                try sealer.seal(value.encoded(), .key, login.columns, user.columns.handle, user.dataKey)
            }
            columns.keyTag = sealed?.tag
            try write(sealed?.cell, columns.rowID, .updateKeyCell, hasRow: hasRow)
        }
    }

    /// The row of the secrets is created with the first of them, and deleted with the login.
    private func write(
        _ cell: [UInt8]?, _ login: Int64, _ update: Query, hasRow: Bool
    ) throws(StoreError) {
        if !hasRow {
            let make = try tables.cursor(.makeSecrets)
            make.bind(1, login)
            try make.run()
        }
        let update = try tables.cursor(update)
        update.bind(1, login)
        update.bind(2, cell)
        try update.run()
    }

    /// Seals a login under its user's new data key. The content stays the same.
    func reseal(_ login: OpenLogin, of user: inout OpenUser) throws(StoreError) {
        var changed = login
        changed.columns.revision = login.columns.revision + 1
        let (refreshCell, keyCell) = try sealer.sealSecrets(of: &changed, user.columns.handle, user.dataKey)
        let cell = try seal(changed.session, &changed.columns, &user)
        let update = try tables.cursor(.updateLogin)
        update.bind(1, login.columns.rowID)
        bindChanging(update, changed.columns, from: 2)
        try update.run(10, borrowing: cell)
        try writeSecrets(changed, refreshCell, keyCell)
    }

    func delete(_ login: OpenLogin, of user: inout OpenUser) throws(StoreError) {
        try deleteLogin(login.columns.rowID)
        try remove(login.columns.handle, from: &user)
    }

    private func writeIntent(_ intent: IntentRecord?, replacing login: OpenLogin) throws(StoreError) {
        if let old = login.intent, old.fence != intent?.fence {
            let delete = try tables.cursor(.deleteIntentOfLogin)
            delete.bind(1, login.columns.rowID)
            try delete.run()
        }
        guard let intent else { return }
        if login.intent?.fence != intent.fence {
            openedIntents.append((login.columns.handle, intent.generation))
        }
        if let highest = highestFence { highestFence = max(highest, intent.fence) }
        let write = try tables.cursor(.putIntent)
        write.bind(1, intent.fence)
        write.bind(2, login.columns.rowID)
        write.bind(3, intent.generation)
        write.bind(4, intent.owner)
        write.bind(5, intent.startedAt.milliseconds)
        write.bind(6, intent.doubtSince?.milliseconds)
        write.bind(7, Int64(intent.tries))
        write.bind(8, intent.mac(context.vaultID, rows.keyring, login: login.columns.handle))
        try write.run()
    }
}

extension LoginState {
    /// Whether this ends a doubt with a new link or a new chain. Only after a doubt are there replies to forget.
    fileprivate func movesOn(from login: OpenLogin) -> Bool {
        let before = login.columns.position
        if position.chain != before.chain { return true }
        let wasInDoubt = login.session.doubtCause != nil || login.refresh?.doubtSince != nil
        return position != before && wasInDoubt && session.doubtCause == nil && refresh?.doubtSince == nil
    }
}

extension Query {
    fileprivate static let insertLogin = insert(
        into: .login, "handle", "user", "provider", "chain", "generation", "revision", "incarnation", "dueAt",
        "expiresAt", "refreshTag", "keyTag", "cell")

    fileprivate static let updateLogin = update(
        .login, "chain", "generation", "revision", "incarnation", "dueAt", "expiresAt", "refreshTag", "keyTag", "cell",
        first: 2, where: [.equal(Table.login["id"], 1)])

    static let providerExists = select(
        Table.provider.columns("id"), from: .provider, where: [.equal(Table.provider["handle"], 1)])

    fileprivate static let insertSecrets = insert(into: .loginSecret, "login", "refreshCell", "keyCell")

    fileprivate static let makeSecrets = insert(into: .loginSecret, "login", onConflict: .keeps)

    fileprivate static let putSecrets = insert(
        into: .loginSecret, "login", "refreshCell", "keyCell", onConflict: .updates(by: "login"))

    fileprivate static let updateRefreshCell = update(
        .loginSecret, "refreshCell", first: 2, where: [.equal(Table.loginSecret["login"], 1)])

    fileprivate static let updateKeyCell = update(
        .loginSecret, "keyCell", first: 2, where: [.equal(Table.loginSecret["login"], 1)])

    fileprivate static let putIntent = insert(
        into: .refreshIntent, "fence", "login", "generation", "owner", "startedAt", "doubtSince", "tries", "mac",
        onConflict: .updates(by: "fence"))
}
