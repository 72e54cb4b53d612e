package import VaultCrypto

extension VaultStore {
    /// The current mark of a move in the vault.
    package func moveMark() async throws(StoreError) -> MoveMark? {
        try await read { reader throws(StoreError) in try reader.moveMark() }
    }

    /// Counts the rows to move. Takes as long as counting all users and logins.
    package func moveCounts() async throws -> MoveCounts {
        try await survey { reader in try reader.withSnapshot { () throws(StoreError) in try reader.moveCounts() } }
    }

    package func trailHead() async throws(StoreError) -> AuditPosition {
        try await read { reader throws(StoreError) in try reader.trailHead() }
    }

    /// Throws if the vault cannot be the target of a move.
    package func requireEmpty() async throws(StoreError) {
        try await read { reader throws(StoreError) in try reader.tables.requireEmpty() }
    }

    // MARK: The source

    package func leave(for target: Bytes16) async throws { try await write { try $0.leave(for: target) } }

    package func finishLeaving(for target: Bytes16, _ counts: MoveCounts) async throws {
        try await write { try $0.finishLeaving(for: target, counts) }
    }

    /// - Parameter target: the other vault; nil for any.
    package func stay(besides target: Bytes16?) async throws { try await write { try $0.stay(besides: target) } }

    package func movingUsers(
        after handle: UserHandle?, users: Int, logins: Int
    ) async throws(StoreError) -> MovingPage {
        try await read { reader throws(StoreError) in
            try reader.movingUsers(after: handle, users: users, logins: logins)
        }
    }

    package func pendingLogIns(
        after row: Int64?, limit: Int
    ) async throws(StoreError) -> (requests: [AuthorizationRequestRecord], last: Int64?) {
        try await read { reader throws(StoreError) in try reader.pendingLogIns(after: row, limit: limit) }
    }

    // MARK: The target

    package func arrive(from source: Bytes16, head: AuditPosition, incarnation: Int64) async throws {
        try await write { try $0.arrive(from: source, head: head, incarnation: incarnation) }
    }

    package func take(_ providers: [StoredProvider], from source: Bytes16) async throws {
        try await write { try $0.take(providers, from: source) }
    }

    package func take(_ users: [MovingUser], from source: Bytes16) async throws {
        try await write { try $0.take(users, from: source) }
    }

    package func take(_ requests: [AuthorizationRequestRecord], from source: Bytes16) async throws {
        try await write { try $0.take(requests, from: source) }
    }

    package func take(_ entries: [StoredOutboxEntry], from source: Bytes16) async throws {
        try await write { try $0.take(entries, from: source) }
    }

    package func finishArriving(from source: Bytes16, _ counts: MoveCounts) async throws {
        try await write { try $0.finishArriving(from: source, counts) }
    }

    package func abandonArrival(from source: Bytes16) async throws {
        try await write { try $0.abandonArrival(from: source) }
    }
}
