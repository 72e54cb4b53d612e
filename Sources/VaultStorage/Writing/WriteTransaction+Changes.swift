import VaultCrypto

/// The changes of logins and users. If a body throws, its change is undone and the error is rethrown.
extension WriteTransaction {
    func insertLogin(_ draft: LoginDraft) throws(StoreError) -> StoredLogin {
        let index = try index(ofUserId: draft.userId)
        return try insertLogin(DraftedLogin(draft), of: try loadUser(index), index)
    }

    /// - Parameter known: The user, if the vault has one.
    func insertLogin(
        _ drafted: DraftedLogin, of known: OpenUser?, _ index: BlindIndex
    ) throws(StoreError) -> StoredLogin {
        let draft = drafted.draft
        if let user = draft.user { try require(user, in: known) }
        var login: SealedLogin
        var user: OpenUser
        // Cells that were sealed before all logins were held would be held as well.
        if known == nil, let (sealed, dataKey) = drafted.sealed,
            sealed.open.columns.incarnation == sealer.incarnation(of: draft.session)
        {
            login = sealed
            user = try makeUser(draft.userId, index, dataKey)
            try add(login, to: &user)
        } else {
            user = if let known { known } else { try makeUser(draft.userId, index) }
            guard user.status == .active else {
                throw StoreError(.userDisabled, "the user is disabled", hint: "enable the user first")
            }
            login = try seal(draft, of: &user)
        }
        var tale = Tale()
        tale.add(login.open.auditEvents(of: draft, at: now()), of: login.open.columns.handle)
        // The user's row comes first, because the login's row refers to it.
        try save(&user, telling: tale)
        try insert(&login, ofUserRow: user.columns.rowID)
        return login.open.stored(user: user.columns.handle, userId: user.id, status: user.status, context)
    }

    func updateLogin(_ handle: LoginHandle, _ body: (inout LoginState) throws -> Void) throws {
        try update(try loadLogin(handle), body)
    }

    /// Changes a login, as an operation that does nothing else. It reports when the login is due.
    ///
    /// - Parameter endings: If set, reads the recent ends of the provider's logins; from this many in a row on, the
    ///   usual number as well.
    func changeLogin(
        _ handle: LoginHandle, endings: Int? = nil, _ body: (inout LoginState) throws -> Void
    ) throws {
        makesNothingDue(before: try update(try loadLogin(handle), endings: endings, body))
    }

    /// Changes the login of a user who has exactly one, as an operation that does nothing else.
    ///
    /// - Returns: Whether the user has exactly one; otherwise nothing was changed.
    func changeOnlyLogin(ofUserId id: String, _ body: (inout LoginState) throws -> Void) throws -> Bool {
        guard let found = try loadOnlyLogin(ofUserId: id) else { return false }
        makesNothingDue(before: try update(found, body))
        return true
    }

    /// - Returns: When the login is now due.
    @discardableResult
    private func update(
        _ found: (user: OpenUser, login: OpenLogin), endings: Int? = nil, _ body: (inout LoginState) throws -> Void
    ) throws -> Timestamp? {
        let login = found.login
        var user = found.user
        var state = login.state(of: user, context, nextFence: try nextFence())
        if let endings, let provider = state.provider {
            state.endings = try EndingRows(tables: tables, opener: opener).endings(
                of: provider, head: head.sequence, least: endings)
        }
        try body(&state)
        let hasChanged = try apply(state, to: login, of: &user)
        var tale = Tale()
        tale.add(
            state.auditEvents(since: login.session, login.intent, hasChanged: hasChanged, at: now()),
            of: login.columns.handle)
        if hasChanged {
            try save(&user, telling: tale)
        } else {
            try tell(tale, of: user)
        }
        try queue(state.outbox)
        for event in state.providerEvents { try audit(event, about: AuditSubject(provider: state.provider)) }
        return state.isRemoved ? nil : state.dueAt
    }

    func updateUser<R>(_ id: String, _ body: (inout UserState) throws -> R) throws -> R {
        let index = try index(ofUserId: id)
        guard let user = try loadUserOfAnyTime(index) else { throw StoreError.notFound(.user) }
        let (logins, damaged) = try loadLogins(of: index, user)
        var state = UserState(user, logins, damaged, context, nextFence: try nextFence())
        let result = try body(&state)
        // Erasing a user must remain possible after a former state was put back.
        if !state.isErased { try requireNewest(user.columns) }
        try save(state, of: user, logins)
        return result
    }

    private func save(
        _ state: UserState, of user: OpenUser, _ logins: [OpenLogin]
    ) throws(StoreError) {
        var user = user
        var tale = Tale()
        var hasChanged = state.status != user.status
        var outbox = state.outbox
        for login in logins {
            let handle = login.columns.handle
            guard var changed = state.logins.first(where: { $0.handle == handle }) else { continue }
            if state.isErased {
                changed.isRemoved = true
                changed.auditEvents.append(
                    AuditEvent(.loginRemoved, [.init("cause", AuditEvent.Detail.userErased)]))
            }
            let loginHasChanged = try state.isErased ? true : apply(changed, to: login, of: &user)
            hasChanged = hasChanged || loginHasChanged
            tale.add(
                changed.auditEvents(since: login.session, login.intent, hasChanged: loginHasChanged, at: now()),
                of: handle)
            outbox += changed.outbox
        }
        if state.isErased {
            for login in state.damagedLogins { tale.add(Self.discardingEvents(ofErased: login), of: login) }
        }
        tale.add(state.auditEvents, of: nil)
        if state.isErased {
            try erase(user, telling: tale)
        } else if hasChanged {
            if tale.events.isEmpty { tale.add([AuditEvent(.userChanged)], of: nil) }
            user.status = state.status
            try save(&user, telling: tale)
        } else {
            try tell(tale, of: user)
        }
        try queue(outbox)
    }
}

extension UserState {
    init(
        _ user: OpenUser, _ logins: [OpenLogin], _ damaged: [LoginHandle], _ context: VaultContext, nextFence: Int64
    ) {
        handle = user.columns.handle
        id = user.id
        revision = user.columns.revision
        createdAt = user.createdAt
        status = user.status
        damagedLogins = damaged
        self.logins = logins.enumerated().map { offset, login in
            login.state(of: user, context, nextFence: nextFence + Int64(offset))
        }
    }
}
