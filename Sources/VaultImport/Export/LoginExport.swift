public import TokenVault
import VaultAdministration
import VaultStorage

/// Hands logins of a vault over to another system.
///
/// A chain of refresh tokens has one owner at a time. So each login is first held here, durably, and then written: an
/// export that stops in the middle leaves logins that no system renews, but no login that two systems renew. Export
/// them again with ``Options/repeats``, or accept them back.
///
/// ```swift
/// var file = try SealedExport(.canonical, at: "logins.age", for: ["age1…"])
/// let summary = try await LoginExport(of: vault, .init(provider: "acme")).run(into: &file)
/// ```
public struct LoginExport: Sendable {
    /// The logins to export, and their owner afterwards.
    public struct Options: Sendable {
        /// Nil for all users.
        public var userId: String?
        /// The provider's name; nil for all.
        public var provider: String?
        /// The system that renews the logins from then on.
        public var owner: Owner
        /// Whether logins that this owner already has are exported again.
        public var repeats: Bool

        public init(
            userId: String? = nil, provider: String? = nil, owner: Owner = .other("export"), repeats: Bool = false
        ) {
            self.userId = userId
            self.provider = provider
            self.owner = owner
            self.repeats = repeats
        }
    }

    /// The system that renews a login.
    public enum Owner: Hashable, Sendable {
        /// The system of this name. The vault holds the logins.
        case other(String)
        /// This vault. The export is a copy, which no system may renew.
        case vault
    }

    /// The number per transaction, which takes some milliseconds.
    private static let atOnce = 64

    private let vault: Vault
    private let options: Options

    public init(of vault: Vault, _ options: Options = Options()) {
        self.vault = vault
        self.options = options
    }

    /// Exports the logins that the options select.
    ///
    /// - Parameters:
    ///   - sink: Receives the logins.
    ///   - progress: Called from time to time with the number of logins examined.
    /// - Throws: `VaultError`, `CancellationError`, or errors of the sink. Logins that were already held remain held:
    ///   the ``ExportSummary`` of an ``ExportInterruption`` says how many.
    public func run(
        into sink: inout some ExportSink, progress: (_ done: Int) -> Void = { _ in }
    ) async throws -> ExportSummary {
        var summary = ExportSummary()
        do {
            try await forEachPage { page in
                let accepted = try accept(page, &sink, &summary)
                for login in try await hand(accepted, sink.name, &summary) {
                    try await sink.write(login)
                    summary.add(login)
                }
                progress(summary.rows)
            }
            try await sink.finish()
        } catch {
            guard summary.heldCount > 0 else { throw error }
            throw ExportInterruption(summary: summary, cause: error)
        }
        return summary
    }

    /// The result that an export would have, without exporting.
    public func plan(
        for sink: inout some ExportSink, progress: (_ done: Int) -> Void = { _ in }
    ) async throws -> ExportSummary {
        var summary = ExportSummary()
        try await forEachPage { page in
            for login in try accept(page, &sink, &summary) { summary.add(login.content) }
            progress(summary.rows)
        }
        return summary
    }

    private func forEachPage(_ body: ([ExportCandidate]) async throws -> Void) async throws {
        var last: LoginID?
        while true {
            try Task.checkCancellation()
            let page = try await vault.loginsToExport(
                ofUser: options.userId, provider: options.provider, after: last, limit: Self.atOnce)
            guard let end = page.last else { return }
            try await body(page.candidates)
            last = end
        }
    }

    private struct Accepted {
        let login: ExportableLogin
        let content: ExportedLogin
    }

    private func accept(
        _ page: [ExportCandidate], _ sink: inout some ExportSink, _ summary: inout ExportSummary
    ) throws -> [Accepted] {
        var accepted: [Accepted] = []
        for candidate in page {
            switch candidate {
            case .damaged(let id): summary.leaveOut(id, .damaged)
            case .login(let login):
                let id = LoginID(login.stored.handle)
                if let obstacle = login.obstacle(owner: owner, repeats: options.repeats) {
                    summary.leaveOut(id, ExportRefusal(obstacle))
                } else if let content = ExportedLogin(login) {
                    if let refusal = try sink.refusal(of: content) {
                        summary.leaveOut(id, refusal)
                    } else {
                        accepted.append(Accepted(login: login, content: content))
                    }
                } else {
                    summary.leaveOut(id, .dead)
                }
            }
        }
        return accepted
    }

    /// Holds the logins in one transaction, and returns those that have not changed since they were checked.
    private func hand(
        _ accepted: [Accepted], _ shape: String, _ summary: inout ExportSummary
    ) async throws -> [ExportedLogin] {
        guard !accepted.isEmpty else { return [] }
        let handed = try await vault.export(accepted.map(\.login), as: shape, to: owner, repeats: options.repeats)
        for login in accepted where !handed.contains(login.content.id) { summary.leaveOut(login.content.id, .changed) }
        if owner != nil { summary.heldCount += handed.count }
        return accepted.map(\.content).filter { handed.contains($0.id) }
    }

    /// Nil for this vault.
    private var owner: String? { if case .other(let name) = options.owner { name } else { nil } }
}

extension ExportRefusal {
    init(_ obstacle: ExportObstacle) {
        self =
            switch obstacle {
            case .dead: .dead
            case .heldBySource: .heldBySource
            case .contested: .contested
            case .heldByRestore: .heldByRestore
            case .renewalOpen: .renewalOpen
            case .userDisabled: .userDisabled
            case .noProvider: .noProvider
            }
    }
}
