import FoundationEssentials
import Synchronization
public import TokenVault
import VaultAdministration
import VaultStorage

extension Vault {
    /// Makes this vault the owner of chains that a source has owned: from now on they are renewed here. Nothing is sent by
    /// this itself.
    ///
    /// The source must have stopped renewing: with rotation, the second of two renewals ends the grant for both (RFC
    /// 9700 §4.14.2). So this asks for proof: complete readings of the source, of which the first and the last are at least
    /// ``ImportProof/pause`` apart, have found nothing new. Logins that the last reading did not find, and contested ones, stay as they are.
    ///
    /// - Parameters:
    ///   - source: What the import called the source.
    ///   - provider: Only logins of this provider; nil: of all.
    ///   - limit: How many at most; nil: all.
    ///   - rate: How many a second fall due at most; nil: each when its token runs out.
    ///   - proof: What the operator can do without.
    /// - Returns: The logins that were accepted; at most a thousand of them are named.
    /// - Throws: ``VaultError/Code/sourceNotQuiet`` without such a proof.
    @discardableResult
    public func acceptImport(
        from source: String, provider: String? = nil, limit: Int? = nil, rate: Double? = nil,
        proof: ImportProof = .init()
    ) async throws -> ImportAcceptance {
        try requireOpen()
        try await require(proof, of: source)
        let handle = try await handle(ofProvider: provider)
        let pace = DuePace(rate, from: now)
        var acceptance = ImportAcceptance()
        var cursor: Int64?
        repeat {
            try Task.checkCancellation()
            if let limit, acceptance.count >= limit { break }
            let (after, most) = (cursor, limit.map { $0 - acceptance.count })
            let (page, results) = try await VaultError.translating {
                let page = try await store.loginsHeldBySource(of: handle, after: after, limit: Self.importsAtOnce)
                // A page has logins of other sources, too, so it is not the limit that it is cut to.
                let left = Mutex(most ?? .max)
                let results = try await store.updateEach(page.logins) { state in
                    guard state.session.origin?.source == source, left.withLock({ $0 > 0 }) else {
                        return ImportAcceptance.Step.other
                    }
                    guard state.acceptImport() else { return .skipped }
                    left.withLock { $0 -= 1 }
                    state.dueAt = state.userStatus == .active ? pace.due(state.nextDue) : nil
                    return .accepted
                }
                return (page, results)
            }
            cursor = page.next
            acceptance.note(results, tried: page.logins.count)
        } while cursor != nil
        return acceptance
    }

    /// In one transaction: some milliseconds' worth.
    private static let importsAtOnce = 64
    /// A source that is read more often within the pause is read too often.
    private static let mostReadings = 100

    private func require(_ proof: ImportProof, of source: String) async throws {
        guard let pause = proof.pause else { return }
        let readings = try await readings(of: source, limit: Self.mostReadings)
        let quiet = readings.prefix { $0.isQuiet }
        let problem: String? =
            if readings.isEmpty {
                "no complete reading of \(source.debugDescription) is on record"
            } else if let changed = readings.first, !changed.isQuiet {
                "the last reading of the source found changes (\(changed.changes)): it may still renew"
            } else if !quiet.contains(where: { readings[0].date.timeIntervalSince($0.date) >= pause / .seconds(1) }) {
                "the source was not seen to be quiet for \(pause.components.seconds) seconds"
            } else {
                nil
            }
        guard let problem else { return }
        throw VaultError(
            .sourceNotQuiet, problem,
            hint: "stop what renews there, and read it to its end: vaultctl import run SOURCE --final")
    }
}

/// What must be known of a source before its logins are accepted.
public struct ImportProof: Sendable, Equatable {
    /// For how long readings must have found nothing new. Nil: no proof is asked for,
    /// because the source is known to be gone.
    public var pause: Duration?

    public init(pause: Duration? = .seconds(60)) {
        self.pause = pause
    }
}

/// What `Vault.acceptImport` did.
public struct ImportAcceptance: Sendable, Equatable {
    public internal(set) var count = 0
    /// Logins of the source that stay as they are: missing there, contested, or dead.
    public internal(set) var skipped = 0
    /// Logins that stay as they are because their rows cannot be opened.
    public internal(set) var damaged = 0
    /// The first thousand.
    public internal(set) var logins: [LoginID] = []

    package static let none = ImportAcceptance()

    /// Of several calls.
    package mutating func add(_ other: ImportAcceptance) {
        count += other.count
        skipped += other.skipped
        damaged += other.damaged
        logins += other.logins.prefix(max(0, 1_000 - logins.count))
    }

    enum Step: Sendable {
        case accepted, skipped, other
    }

    fileprivate mutating func note(_ results: [(login: LoginHandle, value: Step)], tried: Int) {
        damaged += tried - results.count
        for result in results {
            switch result.value {
            case .accepted:
                count += 1
                if logins.count < 1_000 { logins.append(LoginID(result.login)) }
            case .skipped: skipped += 1
            case .other: break
            }
        }
    }
}

/// Spreads when logins are due, so that a source's renewals do not all come at once.
private final class DuePace: Sendable {
    private let start: Timestamp
    private let step: Double?
    private let count = Mutex(0)

    init(_ rate: Double?, from start: Timestamp) {
        self.start = start
        step = rate.flatMap { $0.isFinite && $0 > 0 ? 1_000 / $0 : nil }
    }

    func due(_ due: Timestamp?) -> Timestamp? {
        guard let due, let step else { return due }
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        let turn = start.advanced(by: .milliseconds(Int64(min(Double(number) * step, 1e12))))
        return max(due, turn)
    }
}
