import VaultCrypto

/// The steps that make a vault the source or the target of a move, and that end this role. Each step is one transaction
/// with its row in the trail, and does nothing if it was already done.
extension WriteTransaction {
    // MARK: The source

    /// Holds everything for the other vault. No renewal is under way, and from here on none can begin in any process.
    func leave(for target: Bytes16) throws(StoreError) {
        isMoving = true
        switch rows.current.manifest.move {
        case let mark? where mark.other == target && (mark.stage == .leaving || mark.stage == .left): return
        case let mark?: if let refusal = mark.refusal { throw refusal }
        case nil: break
        }
        if try tables.has(.anyIntent) { throw .renewalOpen }
        let mark = MoveMark(.leaving, other: target, since: now())
        try changeVault(AuditEvent(.moveBegun, [.init(MoveDetail.target, Base32.encode(target))])) {
            $0.manifest.move = mark
        }
    }

    /// Notes that everything is in the other vault.
    func finishLeaving(for target: Bytes16, _ counts: MoveCounts) throws(StoreError) {
        isMoving = true
        guard let mark = rows.current.manifest.move, mark.other == target else { throw .otherMove }
        if mark.stage == .left { return }
        guard mark.stage == .leaving else { throw .otherMove }
        try changeVault(
            AuditEvent(.moveFinished, [.init(MoveDetail.target, Base32.encode(target))] + counts.details)
        ) { $0.manifest.move?.stage = .left }
    }

    /// Returns the vault to its services.
    func stay(besides target: Bytes16?) throws(StoreError) {
        isMoving = true
        guard let mark = rows.current.manifest.move, mark.stage == .leaving else { throw .otherMove }
        if let target, mark.other != target { throw .otherMove }
        try changeVault(AuditEvent(.moveAborted, [.init(MoveDetail.target, Base32.encode(mark.other))])) {
            $0.manifest.move = nil
        }
    }

    // MARK: The target

    /// Prepares the vault to be filled. The row names the source and the end of its trail.
    ///
    /// - Parameter incarnation: The source's incarnation: logins that a restore holds there are of an older one.
    func arrive(
        from source: Bytes16, head: AuditPosition, incarnation: Int64
    ) throws(StoreError) {
        isMoving = true
        if let mark = rows.current.manifest.move {
            guard mark.other == source, mark.stage == .arriving || mark.stage == .arrived else {
                throw mark.refusalAsTarget ?? .notEmpty
            }
            return
        }
        try tables.requireEmpty()
        let mark = MoveMark(.arriving, other: source, since: now())
        let details: [AuditEvent.Detail] = [
            .init(MoveDetail.source, Base32.encode(source)), .init(MoveDetail.head, String(head.sequence)),
            .init(MoveDetail.link, Hexadecimal.text(head.link.array)),
        ]
        try changeVault(AuditEvent(.moveArrived, details)) { row in
            row.manifest.move = mark
            row.incarnation = max(row.incarnation, incarnation)
        }
    }

    /// Opens the vault to its services, because everything has arrived.
    ///
    /// - Parameter counts: The content of the source.
    func finishArriving(from source: Bytes16, _ counts: MoveCounts) throws(StoreError) {
        isMoving = true
        let mark = try requireArriving(from: source)
        if mark.stage == .arrived { return }
        guard try tables.moveCounts() == counts else {
            throw StoreError(
                .conflict, "the target does not hold as much as the source",
                hint: "give the move up, and begin again with a new target: vaultctl move abort TARGET")
        }
        try changeVault(
            AuditEvent(.moveFinished, [.init(MoveDetail.source, Base32.encode(source))] + counts.details)
        ) { $0.manifest.move?.stage = .arrived }
    }

    /// Ensures that this move can never complete the vault.
    func abandonArrival(from source: Bytes16) throws(StoreError) {
        isMoving = true
        switch rows.current.manifest.move {
        case let mark? where mark.other == source && mark.stage == .abandoned: return
        case let mark? where mark.other == source && mark.stage == .arriving: break
        case nil: try tables.requireEmpty()
        case let mark? where mark.other == source && mark.stage == .arrived:
            throw StoreError(
                .conflict, "everything is in the target, and its services may have renewed logins there",
                hint: "run the move again to end it; to move back, move to a new vault")
        case .some: throw .otherMove
        }
        let mark = MoveMark(.abandoned, other: source, since: now())
        try changeVault(AuditEvent(.moveAborted, [.init(MoveDetail.source, Base32.encode(source))])) {
            $0.manifest.move = mark
        }
    }

    @discardableResult
    func requireArriving(from source: Bytes16) throws(StoreError) -> MoveMark {
        guard let mark = rows.current.manifest.move, mark.other == source else { throw .otherMove }
        guard mark.stage == .arriving || mark.stage == .arrived else { throw mark.refusalAsTarget ?? .otherMove }
        return mark
    }
}

/// Keys of details of the trail. They are stored, so never rename them.
private enum MoveDetail {
    static let source = "source"
    static let target = "target"
    static let head = "head"
    static let link = "link"
}

extension MoveCounts {
    fileprivate var details: [AuditEvent.Detail] {
        [
            .init("providers", String(providers)), .init("users", String(users)), .init("logins", String(logins)),
            .init("revocations", String(revocations)),
        ]
    }
}

extension TableAccess {
    func moveCounts() throws(StoreError) -> MoveCounts {
        var counts = MoveCounts()
        counts.providers = try count(.provider)
        counts.users = try count(.user)
        counts.logins = try count(.login)
        counts.replies = try count(.unusableReply)
        counts.revocations = try count(.outbox)
        return counts
    }

    /// Throws if the vault holds more than a new one: then it cannot be the target of a move.
    func requireEmpty() throws(StoreError) {
        for table in [Table.provider, .user, .login, .refreshIntent, .authorizationRequest, .outbox]
        where try count(table) > 0 { throw .notEmpty }
    }
}

extension StoreError {
    package static var otherMove: StoreError {
        StoreError(
            .conflict, "these two vaults are not the source and the target of one move",
            hint: "see of which move each is a part: vaultctl move status; if the target no longer exists: "
                + "vaultctl move abort --target-is-lost")
    }

    package static var completeMove: StoreError {
        StoreError(
            .conflict, "the move is complete, and cannot be given up",
            hint: "the other vault has everything: use it, or restore its newest backup; to move back, to a new vault: "
                + "vaultctl move run NEW --vault OTHER")
    }

    package static var renewalOpen: StoreError {
        StoreError(
            .busy, "a renewal is under way, and its refresh token may be spent",
            hint: "stop the services that use the vault; a renewal in doubt ends with: vaultctl maintain --once")
    }

    package static var notEmpty: StoreError {
        StoreError(
            .conflict, "the target of a move must be a vault that holds nothing yet",
            hint: "make a new one for it: vaultctl init --vault NEW --key-file NEW.key")
    }
}
