public import TokenVault

/// The result of an export. Each login was either exported or left out.
public struct ExportSummary: Sendable, Equatable {
    /// A login that was not exported.
    public struct LeftOut: Sendable, Hashable {
        public let login: LoginID
        public let reason: ExportRefusal
    }

    /// Logins that were written.
    public private(set) var exported = 0
    /// Exported logins without a refresh token: no system can renew them.
    package private(set) var unrenewable = 0
    /// Exported logins, by the vault's name of the provider.
    public private(set) var providers: [String: Int] = [:]
    /// Logins that were left out, by reason.
    public private(set) var reasons: [ExportRefusal: Int] = [:]
    /// The first thousand logins that were left out.
    public private(set) var leftOut: [LeftOut] = []
    /// Logins that the vault no longer renews, because of this export.
    public internal(set) var heldCount = 0

    init() {}

    /// All logins that were examined.
    public var rows: Int { exported + reasons.values.reduce(0, +) }

    mutating func add(_ login: ExportedLogin) {
        exported += 1
        if login.refreshToken == nil { unrenewable += 1 }
        providers[login.provider, default: 0] += 1
    }

    mutating func leaveOut(_ login: LoginID, _ reason: ExportRefusal) {
        reasons[reason, default: 0] += 1
        if leftOut.count < 1_000 { leftOut.append(LeftOut(login: login, reason: reason)) }
    }
}

/// An export that stopped in the middle, when some logins were already held.
///
/// Do not use any of its output: a truncated age file cannot be decrypted to its end. The vault still has all tokens.
public struct ExportInterruption: Error, Sendable {
    /// The state when it stopped.
    public let summary: ExportSummary
    public let cause: any Error

    package init(summary: ExportSummary, cause: any Error) {
        self.summary = summary
        self.cause = cause
    }
}
