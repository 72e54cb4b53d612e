/// The result of one of `doctor`'s checks, or why it was impossible.
struct DoctorFinding: Sendable {
    enum Level: String, Sendable, CaseIterable {
        case ok
        /// Good to know; no action is needed.
        case note
        /// It works, but needs attention soon.
        case warning
        /// Something does not work, or is not safe.
        case problem

        var needsAttention: Bool { self == .warning || self == .problem }
    }

    /// The subject of the check: a stable word for programs.
    enum Check: String, Sendable, CaseIterable {
        case vault, configuration, file, keyFile, keySlots, sqlite, lockedMemory, ownership, renewal, spool, writing,
            outbox, login, provider, backup, clock, witness, rootKey, indexKey, certificate, clientSecret,
            server, trail, mixUp, drift

        var words: String {
            switch self {
            case .keyFile: "key file"
            case .keySlots: "key slots"
            case .rootKey: "root key"
            case .indexKey: "index key"
            case .sqlite: "SQLite"
            case .lockedMemory: "locked memory"
            case .ownership: "owner lock"
            case .renewal: "renewals"
            case .login: "logins"
            case .provider: "providers"
            case .backup: "backups"
            case .trail: "audit trail"
            case .mixUp: "redirect URIs"
            case .certificate: "certificates"
            case .clientSecret: "client secrets"
            case .drift: "providers' rules"
            default: rawValue
            }
        }
    }

    let level: Level
    let check: Check
    /// One of several: a path, a login's id, a provider's name.
    var subject: String?
    let text: String
    var hint: String?
    var wasLookedAt = true
    /// An operator has accepted this finding as intended.
    var isAccepted = false

    /// The level that people see.
    var shownLevel: Level { isAccepted ? .note : level }

    /// Whether it counts for the exit code.
    var needsAttention: Bool { level.needsAttention && !isAccepted }

    init(
        _ level: Level, _ check: Check, about subject: String? = nil, _ text: String, hint: String? = nil
    ) {
        self.level = level
        self.check = check
        self.subject = subject
        self.text = text
        self.hint = hint
    }

    var record: OutputRecord {
        [
            Field("level", level.rawValue).column("level"), Field("check", check.rawValue).column("check"),
            Field("subject", subject).column("subject"), Field("text", text).column("text"),
            Field("hint", hint).column("hint"), .data("wasLookedAt", wasLookedAt), .data("isAccepted", isAccepted),
        ]
    }

    /// A check that was impossible, and why.
    static func unseen(
        _ check: Check, about subject: String? = nil, _ why: String, level: Level = .warning, hint: String? = nil
    ) -> DoctorFinding {
        var finding = DoctorFinding(level, check, about: subject, "not checked: \(why)", hint: hint)
        finding.wasLookedAt = false
        return finding
    }
}

extension DoctorFinding {
    /// The findings of a check, or one that it was impossible: a read error is reported, and does not hide the rest.
    static func findings(
        of checks: Check..., body: () async throws -> [DoctorFinding]
    ) async -> [DoctorFinding] {
        do { return try await body() } catch {
            let failure = Failure(error)
            return checks.map { .unseen($0, failure.message, level: .problem, hint: failure.hints.first) }
        }
    }
}
