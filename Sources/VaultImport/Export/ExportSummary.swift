public import TokenVault

/// What an export did. The logins that were exported and those that were left out are all that there are.
public struct ExportSummary: Sendable, Equatable {
    /// A login that was not exported.
    public struct LeftOut: Sendable, Hashable {
        public let login: LoginID
        public let reason: ExportRefusal
    }

    /// Logins that were written.
    public private(set) var exported = 0
    /// Those, by the vault's name of the provider.
    public private(set) var providers: [String: Int] = [:]
    /// Logins that were left out, by reason.
    public private(set) var reasons: [ExportRefusal: Int] = [:]
    /// The first thousand of them.
    public private(set) var leftOut: [LeftOut] = []
    /// Logins that the vault no longer renews, because of this export.
    public internal(set) var heldCount = 0

    init() {}

    /// Logins that were looked at.
    public var rows: Int { exported + reasons.values.reduce(0, +) }

    mutating func add(_ login: ExportedLogin) {
        exported += 1
        providers[login.provider, default: 0] += 1
    }

    mutating func leaveOut(_ login: LoginID, _ reason: ExportRefusal) {
        reasons[reason, default: 0] += 1
        if leftOut.count < 1_000 { leftOut.append(LeftOut(login: login, reason: reason)) }
    }
}

/// An export ended in the middle, when logins were held already.
///
/// Nothing of it may be used: a file of age that is cut short does not open to its end. The vault still has all tokens.
public struct ExportInterruption: Error, Sendable {
    /// How far it came.
    public let summary: ExportSummary
    public let cause: any Error

    package init(summary: ExportSummary, cause: any Error) {
        self.summary = summary
        self.cause = cause
    }
}
