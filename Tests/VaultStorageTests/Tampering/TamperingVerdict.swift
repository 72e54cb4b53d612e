import Testing
import VaultSQLite
import VaultStorage

/// What became of an attack on a closed vault.
enum TamperingVerdict: Hashable {
    /// The vault refuses to open.
    case refusedAtOpening
    /// A read or write that touches it says so; `verify` does too.
    case seenAtTouch
    /// Only `verify` says so.
    case seenByVerify
    /// Nothing says so.
    case unseen
    /// A reading gave something else than before the attack, without an error.
    case wrong(String)
    /// Somebody whose rows were not touched could not be served.
    case spread(String)
}

/// Opens a vault that somebody has been at, reads everything, and runs the full check.
struct TamperingJudge {
    let history: VaultImage.History
    /// Readings that may change silently, because nothing that a reader acts on stands in them.
    var isAdvisory: @Sendable (_ reading: String) -> Bool = { _ in false }

    /// - Parameters:
    ///   - affected: the users whose rows were touched; `nil` if the attack concerns the whole vault.
    ///   - takesRequests: whether the pending log-ins are taken too, which is a write.
    func judge(
        _ vault: VaultFixture, affected: Set<String>?, takesRequests: Bool = true
    ) async -> TamperingVerdict {
        let store: SQLiteVaultStore
        do throws(StoreError) { store = try vault.open() } catch {
            guard affected == nil else { return .spread("opening: \(error)") }
            return Self.isNamed(error) ? .refusedAtOpening : .wrong("opening: \(error.code) \(error)")
        }
        defer { store.close() }
        var isSeenByVerify = false
        do {
            isSeenByVerify = try await !store.verify { _ in }.isClean
        } catch {
            guard let error = error as? StoreError, Self.isNamed(error) else { return .wrong("verify: \(error)") }
            isSeenByVerify = true
        }
        let readings = await Readings(of: store, expecting: history.baseline, takesRequests: takesRequests)
        switch compare(readings, affected: affected, takesRequests: takesRequests) {
        case .same: return isSeenByVerify ? .seenByVerify : .unseen
        case .error: return isSeenByVerify ? .seenAtTouch : .wrong("verify is content with what a reader refuses")
        case .verdict(let verdict): return verdict
        }
    }

    private enum Comparison {
        case same
        case error
        case verdict(TamperingVerdict)
    }

    private func compare(_ readings: Readings, affected: Set<String>?, takesRequests: Bool) -> Comparison {
        var isErrorSeen = false
        for (key, before) in history.baseline.all where takesRequests || !key.hasPrefix("log-in request") {
            // Lists leave out what they cannot name any more: the handle is asked for by other readings.
            guard let now = readings.all[key] else {
                isErrorSeen = true
                continue
            }
            if now.outcome == before.outcome { continue }
            if let affected, let user = before.user, !affected.contains(user) {
                return .verdict(.spread("\(key): \(now.outcome)"))
            }
            guard let error = now.outcome.error else {
                if isAdvisory(key) { continue }
                return .verdict(.wrong(key))
            }
            guard Self.isNamed(error) else { return .verdict(.wrong("\(key): \(error.code) \(error)")) }
            // A file that says of itself that it may only be read is whole.
            if error.code != .readOnly { isErrorSeen = true }
        }
        for (key, now) in readings.all where history.baseline.all[key] == nil && now.outcome.error == nil {
            if !isAdvisory(key) { return .verdict(.wrong("new: \(key)")) }
        }
        return isErrorSeen ? .error : .same
    }

    /// Whether an error tells an operator what is the matter.
    static func isNamed(_ error: StoreError) -> Bool {
        switch error.code {
        case .busy, .full, .outOfMemory, .closed, .vaultMissing, .vaultExists, .vaultUnfinished, .unsafeFile: false
        default: !error.message.isEmpty
        }
    }
}
