import VaultCrypto
package import VaultStorage

/// How an import pass treats existing logins.
package enum ImportPurpose: Sendable, Equatable {
    /// New logins are added, and those that the source owns follow it. A login that the vault owns, and the source has
    /// renewed, is held; one that the vault is to own, and has not renewed itself, follows the source.
    case take(ImportOrigin.Owner)
    /// Nothing is added. A login that the vault owns, and the source has renewed, is held.
    ///
    /// - Parameter adopts: One that is dead or contested takes the source's tokens, for good.
    case check(adopts: Bool)
    /// Nothing is changed.
    case compare
}

extension LoginState {
    /// Applies a source's login to this one, and returns the result; nil: it is another login.
    mutating func meet(
        _ imported: ImportedLogin, for purpose: ImportPurpose, now: Timestamp
    ) -> ImportMeeting? {
        guard let origin = session.origin, isRow(imported, origin) else {
            return isTaken(by: imported) ? .taken : nil
        }
        // From now on the row that it has there is its name.
        if origin.isExported(handle), purpose != .compare { session.origin?.row = imported.row }
        let tokens = imported.tokens
        switch purpose {
        case .take(let owner):
            let follows = origin.owner == .vault && owner == .vault && isAsTaken(origin)
            guard isLiving, origin.owner == .source || follows else {
                return contesting(verdict(imported, origin))
            }
            if origin.tokens == tokens, !origin.isMissing { return .unchanged }
            if origin.hasLeft(tokens) || isNewer(than: imported, origin) { return .older }
            take(imported, tokens, owner: origin.owner, .importFollowed, now: now)
            return .followed
        case .check(let adopts):
            let verdict = verdict(imported, origin)
            guard case .renewedBySource = verdict else { return verdict }
            if adopts, origin.owner == .contested || !session.isLiving {
                take(imported, tokens, owner: .vault, .importAccepted, now: now)
                return .followed
            }
            return contesting(verdict)
        case .compare:
            guard origin.owner == .source else { return verdict(imported, origin) }
            return ownTokens == tokens ? .unchanged : .older
        }
    }

    private var ownTokens: Bytes16 {
        ImportOrigin.hash(access: session.accessToken, refresh: refresh?.refreshToken)
    }

    /// Whether the vault still has the tokens that it took, and has sent none of them.
    private func isAsTaken(_ origin: ImportOrigin) -> Bool { intent == nil && ownTokens == origin.tokens }

    /// Holds a login that the vault owns and the source has renewed: the next renewal here would end the grant.
    private mutating func contesting(_ verdict: ImportMeeting) -> ImportMeeting {
        if verdict == .renewedBySource, session.origin?.owner == .vault, session.isLiving { contest() }
        return verdict
    }

    private func verdict(_ imported: ImportedLogin, _ origin: ImportOrigin) -> ImportMeeting {
        if session.state == .terminated { return .ended }
        if origin.owner != .source, origin.tokens != imported.tokens {
            // An older copy of the source may have tokens that no reading has seen.
            let isOlder = origin.hasLeft(imported.tokens) || isAsTaken(origin) && isNewer(than: imported, origin)
            return isOlder ? .older : .renewedBySource
        }
        return session.isLiving ? .unchanged : .ended
    }

    /// Whether the login came from this row: by its name, or by its chain where the name is not enough.
    private func isRow(_ imported: ImportedLogin, _ origin: ImportOrigin) -> Bool {
        guard origin.source == imported.source else { return false }
        if origin.row == imported.row { return true }
        if origin.isExported(handle) { return isExported(as: imported) }
        guard imported.isKnownByChain, provider == imported.provider else { return false }
        if imported.refreshToken != nil || refresh?.refreshToken != nil { return hasChain(of: imported) }
        return origin.tokens == imported.tokens
    }

    /// Whether a row of the system to which the login was exported is this login: no row there has named it yet. The row
    /// may have kept the id that the export wrote, or it has the account, or the tokens.
    private func isExported(as imported: ImportedLogin) -> Bool {
        guard provider == imported.provider else { return false }
        if imported.exportedLogin == handle { return true }
        if let subject = imported.subject, let own = session.subject { return subject == own }
        return hasChain(of: imported)
    }

    private func hasChain(of imported: ImportedLogin) -> Bool {
        guard let token = imported.refreshToken else { return false }
        return refresh?.has(token) == true
    }

    /// Whether the vault has the account, the row, or the very chain from elsewhere.
    private func isTaken(by imported: ImportedLogin) -> Bool {
        guard provider == imported.provider, isLiving else { return false }
        if let subject = imported.subject, session.subject == subject { return true }
        return isRowElsewhere(imported) || hasChain(of: imported) || hasHadTokens(of: imported) || hasSpent(imported)
    }

    /// Whether the login once came with these tokens: the row is an old copy under another name, and what the vault has
    /// renewed since would end with a renewal of its refresh token.
    private func hasHadTokens(of imported: ImportedLogin) -> Bool {
        guard let origin = session.origin else { return false }
        // Rows of one source may share an access token, which no renewal spends.
        guard imported.refreshToken != nil || origin.source != imported.source else { return false }
        return origin.hasHad(imported.tokens)
    }

    /// Whether the vault has renewed the row's refresh token.
    private func hasSpent(_ imported: ImportedLogin) -> Bool {
        guard let token = imported.refreshToken else { return false }
        return refresh?.hasSpent(token) == true
    }

    /// Whether another source's name has the row: a misspelt name makes the source look like a new one, and the two
    /// logins would follow one chain, whatever tokens the row has by now.
    private func isRowElsewhere(_ imported: ImportedLogin) -> Bool {
        session.origin.map { $0.row == imported.row && $0.source != imported.source } ?? false
    }

    /// Sources are also read from copies, and a copy may be older than an earlier reading. Expiries prove nothing here:
    /// a newer token may live for a shorter time. Nor does the time of the reading.
    private func isNewer(than imported: ImportedLogin, _ origin: ImportOrigin) -> Bool {
        guard origin.assumedIssue == nil else { return false }
        return imported.obtainedAt.map { Timestamp($0) < session.obtainedAt } ?? false
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
        let former = session.origin
        // The row keeps the name that it was first known by.
        var origin = imported.origin(tokens, row: former?.row ?? imported.row, owner: owner, now: now)
        if let former { origin.keepFormer(former) }
        session.origin = origin
        tell(kind)
    }

    /// The vault owns the chain from now on. Returns whether it did not before.
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
    package mutating func returnToSource(_ source: String, now: Timestamp) {
        let former = session.origin
        let row = former?.source == source ? former?.row : nil
        var origin = ImportOrigin(
            source: source, row: row ?? handle.bytes, tokens: ownTokens, owner: .source, takenAt: now)
        // Old copies of another source are still recognised.
        if let former { origin.keepFormer(former) }
        origin.assumedIssue = session.isIssueAssumed ? session.obtainedAt : nil
        session.origin = origin
        dueAt = nil
        tell(.importReturned)
    }

    /// The last complete reading of the source did not find the row. Returns whether that is news.
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
