package import VaultCrypto

/// The source from which a login was imported, and the owner of its refresh token.
package struct ImportOrigin: Hashable, Sendable {
    /// The codes are stored.
    package enum Owner: UInt8, Hashable, Sendable, CaseIterable {
        /// The system that the login comes from: this vault sends none of its refresh tokens.
        case source = 1
        /// This vault.
        case vault = 2
        /// Both have renewed: this vault sends nothing until an operator decides.
        case contested = 3
    }

    /// The operator's name for the system.
    package var source: String
    /// A hash of the row's identity in the source, the same at each reading.
    package var row: Bytes16
    /// A hash of the tokens that the row had when it was last taken over.
    package var tokens: Bytes16
    package var owner: Owner
    /// When tokens were last taken over.
    package var takenAt: Timestamp
    /// The last complete reading of the source did not find the row.
    package var isMissing = false
    /// The first halves of former ``tokens``, the newest first: a row that has such a pair again is an old copy.
    package private(set) var formerTokens: [UInt64] = []
    /// When the tokens are assumed to have been issued; nil if the source recorded the time.
    package var assumedIssue: Timestamp?

    /// The number of former pairs that are recognized. For a source that renews and is read every hour, they cover most
    /// of a day.
    package static var formerLimit: Int { 16 }

    package init(source: String, row: Bytes16, tokens: Bytes16, owner: Owner, takenAt: Timestamp) {
        self.source = source
        self.row = row
        self.tokens = tokens
        self.owner = owner
        self.takenAt = takenAt
    }
}

extension ImportOrigin {
    /// Whether the source once had these tokens and has replaced them.
    package func hasLeft(_ tokens: Bytes16) -> Bool { formerTokens.contains(tokens.firstWord) }

    /// Whether the login came with these tokens, at its last take-over or at an earlier one.
    package func hasHad(_ tokens: Bytes16) -> Bool { self.tokens == tokens || hasLeft(tokens) }

    /// Whether the login was exported to the system, and had not come from it: then no row there has named it yet.
    package func isExported(_ login: LoginHandle) -> Bool { row == login.bytes }

    /// Takes over the former tokens that another record of the same login knows.
    package mutating func keepFormer(_ origin: ImportOrigin) {
        var former = origin.formerTokens
        if origin.tokens != tokens { former.insert(origin.tokens.firstWord, at: 0) }
        formerTokens = Array(former.filter { $0 != tokens.firstWord }.prefix(Self.formerLimit))
    }

    /// Restores the stored former tokens.
    mutating func readFormer(_ tokens: [UInt64]) { formerTokens = tokens }
}

extension SessionRecord {
    /// Whether another system owns the chain, or two do: then nothing of it is sent.
    package var isHeldBySource: Bool { origin.map { $0.owner != .vault } ?? false }

    /// Whether ``obtainedAt`` is the time of the take-over, because the source did not record when it got the tokens.
    package var isIssueAssumed: Bool { origin?.assumedIssue.map { $0 == obtainedAt } ?? false }
}

extension ImportOrigin {
    /// The hash for ``tokens``.
    package static func hash(access: SecretBytes?, refresh: SecretBytes?) -> Bytes16 {
        var hash = ContentHash()
        for token in [access, refresh] {
            if let token {
                unsafe token.withUnsafeBytes { unsafe hash.add($0) }
            } else {
                hash.addNone()
            }
        }
        return hash.value
    }

    /// The hash for ``row``, from the row's name in its source.
    package static func hash(name parts: [String?]) -> Bytes16 {
        var hash = ContentHash()
        for part in parts { hash.add(part) }
        return hash.value
    }
}
