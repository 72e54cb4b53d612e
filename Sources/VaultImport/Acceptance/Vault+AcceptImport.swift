import FoundationEssentials
import Synchronization
public import TokenVault
import VaultAdministration
import VaultStorage

extension Vault {
    /// Makes this vault the owner of chains that a source has owned: from then on they are renewed here. The call
    /// itself sends nothing.
    ///
    /// The source must have stopped renewing: with rotation, the second of two renewals ends the grant for both (RFC
    /// 9700 §4.14.2). So this requires proof: complete readings of the source, the first and the last at least
    /// ``ImportProof/pause`` apart, that found nothing new. Logins that the last reading did not find, and contested
    /// ones, are unchanged.
    ///
    /// - Parameters:
    ///   - source: The import's name of the source.
    ///   - provider: Only logins of this provider; nil for all providers.
    ///   - limit: The maximum number of logins; nil for all.
    ///   - rate: The maximum number of logins that fall due per second; nil if each is due when its token expires.
    ///   - proof: The proof that the operator requires.
    /// - Returns: The accepted logins, with the names of at most a thousand of them.
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
                // A page also contains logins of other sources, so the limit cannot be the page size.
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

    /// The number per transaction, which takes some milliseconds.
    private static let importsAtOnce = 64
    /// Only this many readings are considered. A source with more of them within the pause is read too often.
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

/// The evidence about a source that is required before its logins are accepted.
public struct ImportProof: Sendable, Equatable {
    /// How long readings must have found nothing new. Nil requires no proof, because the source is known to be gone.
    public var pause: Duration?

    public init(pause: Duration? = .seconds(60)) {
        self.pause = pause
    }
}

/// The result of `Vault.acceptImport`.
public struct ImportAcceptance: Sendable, Equatable {
    public internal(set) var count = 0
    /// Unchanged logins of the source: missing there, contested, or dead.
    public internal(set) var skipped = 0
    /// Unchanged logins whose rows cannot be opened.
    public internal(set) var damaged = 0
    /// The first thousand logins.
    public internal(set) var logins: [LoginID] = []

    package static let none = ImportAcceptance()

    /// Adds the result of another call.
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

/// Spreads the due times of logins, so that a source's renewals do not all happen at the same time.
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
        let spread = start.advanced(by: .milliseconds(Int64(min(Double(number) * step, 1e12))))
        return max(due, spread)
    }
}
