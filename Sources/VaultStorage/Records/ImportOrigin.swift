package import VaultCrypto

/// Where a login was imported from, and who may spend its refresh token.
package struct ImportOrigin: Hashable, Sendable {
    /// Codes are stored.
    package enum Owner: UInt8, Hashable, Sendable, CaseIterable {
        /// The system that the login comes from: this vault sends no refresh token of it.
        case source = 1
        /// This vault.
        case vault = 2
        /// Both have renewed: this vault sends nothing until an operator decides.
        case contested = 3
    }

    /// What the operator calls the system.
    package var source: String
    /// A hash of what names the row there: the same at each reading.
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
    /// When the tokens count as issued, where the source did not say it; nil: the source did.
    package var assumedIssue: Timestamp?

    /// How many former pairs are known again. A source that renews every hour, and is read as often, is known by them
    /// for most of a day.
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
    /// Whether the source once had these tokens, and has left them.
    package func hasLeft(_ tokens: Bytes16) -> Bool { formerTokens.contains(tokens.firstWord) }

    /// Takes over what another record of the same row knows of former tokens.
    package mutating func keepFormer(_ origin: ImportOrigin) {
        var former = origin.formerTokens
        if origin.tokens != tokens { former.insert(origin.tokens.firstWord, at: 0) }
        formerTokens = Array(former.filter { $0 != tokens.firstWord }.prefix(Self.formerLimit))
    }

    /// As they were stored.
    mutating func readFormer(_ tokens: [UInt64]) { formerTokens = tokens }
}

extension SessionRecord {
    /// Whether another system owns the chain, or two do: nothing of it is sent.
    package var isHeldBySource: Bool { origin.map { $0.owner != .vault } ?? false }

    /// Whether ``obtainedAt`` is when the tokens were taken over, because their source did not say when it got them.
    package var isIssueAssumed: Bool { origin?.assumedIssue.map { $0 == obtainedAt } ?? false }
}

extension ImportOrigin {
    /// What ``tokens`` is for these.
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

    /// What ``row`` is for a row that has this name in its source.
    package static func hash(name parts: [String?]) -> Bytes16 {
        var hash = ContentHash()
        for part in parts { hash.add(part) }
        return hash.value
    }
}
