import VaultCrypto

/// Takes over the content of another vault. It is resealed under the keys of this vault and keeps its handles. Rows
/// that are already here stay as they are, so that an interrupted move can continue.
extension WriteTransaction {
    func take(_ providers: [StoredProvider], from source: Bytes16) throws(StoreError) {
        try beginTaking(from: source)
        for provider in providers where rows.current.manifest.providers[provider.handle.bytes] == nil {
            try put(provider.record, as: provider.handle)
        }
    }

    func take(_ entries: [StoredOutboxEntry], from source: Bytes16) throws(StoreError) {
        try beginTaking(from: source)
        for entry in entries { try take(entry) }
    }

    func take(_ requests: [AuthorizationRequestRecord], from source: Bytes16) throws(StoreError) {
        try beginTaking(from: source)
        for request in requests where try !isPending(request) { try put(request) }
    }

    func take(_ users: [MovingUser], from source: Bytes16) throws(StoreError) {
        try beginTaking(from: source)
        if users.count > 1 { try tables.expectManyChanges() }
        for user in users where try !isThere(user.user.handle) { try take(user) }
    }

    private func beginTaking(from source: Bytes16) throws(StoreError) {
        isMoving = true
        guard try requireArriving(from: source).stage == .arriving else {
            throw StoreError(.conflict, "the move is complete already")
        }
    }

    private func isThere(_ user: UserHandle) throws(StoreError) -> Bool {
        let row = try tables.cursor(.userByHandle)
        return try row.withBinding(1, user.bytes) { () throws(StoreError) in try row.step() }
    }

    private func take(_ moving: MovingUser) throws(StoreError) {
        let columns = UserColumns(
            rowID: UserColumns.noRow, handle: moving.user.handle,
            blindIndex: rows.keyring.blindIndexes(ofUserId: moving.user.id).current,
            rootKey: context.keyring.primaryRoot.id)
        var user = try sealing { () throws(VaultCryptoError) in
            var user = try OpenUser(new: columns, id: moving.user.id, createdAt: moving.user.createdAt)
            // The key is younger than the user.
            try user.replaceDataKey(at: now())
            return user
        }
        user.status = moving.user.status
        var tale = Tale()
        var logins: [SealedLogin] = []
        for login in moving.logins {
            logins.append(try seal(login, of: &user))
            tale.add([AuditEvent(.loginMoved)], of: login.handle)
        }
        if logins.isEmpty { tale.add([AuditEvent(.userMoved)], of: nil) }
        // The user's row comes first, because the rows of the logins refer to it.
        try save(&user, telling: tale)
        for index in logins.indices {
            try insert(&logins[index], ofUserRow: user.columns.rowID)
            let login = logins[index].open
            if login.session.hasUnreportedFailure { try noteUnreportedFailure(of: login, isUnreported: true) }
        }
        for reply in moving.replies { try keep(reply) }
    }
}
