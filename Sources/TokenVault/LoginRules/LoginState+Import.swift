import VaultCrypto
package import VaultStorage

/// What a reading of a source does to the logins that it meets.
package enum ImportPurpose: Sendable, Equatable {
    /// New ones are added, and those that the source owns follow it.
    case take(ImportOrigin.Owner)
    /// Nothing is added. A login that the vault owns, and the source has renewed, is held.
    ///
    /// - Parameter adopts: One that is dead or contested takes the source's tokens, for good.
    case check(adopts: Bool)
    /// Nothing is changed.
    case compare
}

extension LoginState {
    /// What this login is to one of a source, and what follows from that; nil: another one.
    mutating func meet(
        _ imported: ImportedLogin, for purpose: ImportPurpose, now: Timestamp
    ) -> ImportMeeting? {
        guard let origin = session.origin, origin.source == imported.source, origin.row == imported.row else {
            return isTaken(by: imported) ? .taken : nil
        }
        let tokens = imported.tokens
        switch purpose {
        case .take:
            guard isLiving, origin.owner == .source else { return verdict(origin, tokens) }
            if origin.tokens == tokens, !origin.isMissing { return .unchanged }
            if isNewer(than: imported) { return .older }
            take(imported, tokens, owner: .source, .importFollowed, now: now)
            return .followed
        case .check(let adopts):
            let verdict = verdict(origin, tokens)
            guard origin.owner != .source, origin.tokens != tokens, session.state != .terminated else { return verdict }
            if adopts, origin.owner == .contested || !session.isLiving {
                take(imported, tokens, owner: .vault, .importAccepted, now: now)
                return .followed
            }
            if origin.owner == .vault, session.isLiving { contest() }
            return verdict
        case .compare:
            guard origin.owner == .source else { return verdict(origin, tokens) }
            let own = ImportOrigin.hash(access: session.accessToken, refresh: refresh?.refreshToken)
            return own == tokens ? .unchanged : .older
        }
    }

    private func verdict(_ origin: ImportOrigin, _ tokens: Bytes16) -> ImportMeeting {
        if session.state == .terminated { return .ended }
        if origin.owner != .source, origin.tokens != tokens { return .renewedBySource }
        return session.isLiving ? .unchanged : .ended
    }

    /// Whether the vault has the account, or the very chain, from elsewhere.
    private func isTaken(by imported: ImportedLogin) -> Bool {
        guard provider == imported.provider, isLiving else { return false }
        if let subject = imported.subject, session.subject == subject { return true }
        guard let token = imported.refreshToken, let own = refresh?.refreshToken else { return false }
        return own == SecretBytes(utf8: token.reveal())
    }

    /// Sources are read from copies, too, and a copy may be older than what was read before. Expiries say nothing about
    /// that: a newer token may live for a shorter time.
    private func isNewer(than imported: ImportedLogin) -> Bool {
        imported.obtainedAt.map { Timestamp($0) < session.obtainedAt } ?? false
    }

    private mutating func take(
        _ imported: ImportedLogin, _ tokens: Bytes16, owner: ImportOrigin.Owner, _ kind: AuditKind, now: Timestamp
    ) {
        position = position.successor
        session.state = .established
        session.clearObstacles()
        session.doubtCause = nil
        session.cameAfterDoubt = false
        intent = nil
        (refresh, key) = imported.fill(&session, generation: position.generation, now: now)
        session.origin = ImportOrigin(
            source: imported.source, row: imported.row, tokens: tokens, owner: owner, takenAt: now)
        tell(kind)
    }

    /// The vault owns the chain from now on. Gives whether it did not before.
    package mutating func acceptImport() -> Bool {
        guard isLiving, let origin = session.origin, origin.owner == .source, !origin.isMissing else { return false }
        session.origin?.owner = .vault
        tell(.importAccepted)
        return true
    }

    private mutating func contest() {
        session.origin?.owner = .contested
        tell(.importContested)
    }

    /// The chain belongs to another system from now on: this vault renews it no longer. For a login without an
    /// ``ExportObstacle``.
    mutating func returnToSource(_ source: String, now: Timestamp) {
        let tokens = ImportOrigin.hash(access: session.accessToken, refresh: refresh?.refreshToken)
        let row = session.origin.flatMap { $0.source == source ? $0.row : nil } ?? handle.bytes
        session.origin = ImportOrigin(source: source, row: row, tokens: tokens, owner: .source, takenAt: now)
        dueAt = nil
        tell(.importReturned)
    }

    /// The last complete reading of the source did not find the row. Gives whether that is news.
    package mutating func missFromSource(_ source: String) -> Bool {
        guard let origin = session.origin, origin.source == source, origin.owner == .source, !origin.isMissing else {
            return false
        }
        session.origin?.isMissing = true
        auditEvents.append(AuditEvent(.loginChanged, [.init(AuditEvent.Detail.Key.cause, AuditCause.missing.rawValue)]))
        return true
    }

    private mutating func tell(_ kind: AuditKind) {
        let source = session.origin.map { AuditEvent.Detail(AuditEvent.Detail.Key.source, $0.source) }
        auditEvents.append(AuditEvent(kind, source.map { [$0] } ?? []))
    }
}
