import Synchronization
import TokenVault

/// Which client has had which of a login's tokens.
final class HandOuts: Sendable {
    /// One of a login's tokens, and who has it.
    struct Holding: Hashable, Sendable {
        let client: String
        let login: LoginID
        /// What it is for; nil: what was granted.
        let resource: String?
        let scope: String?
    }

    private enum Record {
        case written
        case underWay(Task<Bool, Never>)
    }

    private static let most = 100_000
    private let known = Mutex<[Holding: (generation: Int, record: Record)]>([:])

    /// Whether it is recorded that this client has a token of this generation.
    func has(_ holding: Holding, generation: Int) -> Bool {
        known.withLock { known in
            guard let found = known[holding], case .written = found.record else { return false }
            return found.generation == generation
        }
    }

    /// Waits until it is recorded that this client has a token of this generation: by this call or by another.
    ///
    /// - Parameter record: Records it; returns whether that worked.
    func note(_ holding: Holding, generation: Int, record: @escaping @Sendable () async -> Bool) async {
        let record = known.withLock { known in
            if let found = known[holding], found.generation == generation { return found.record }
            // Then some rows are written a second time, which does no harm.
            if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
            let record = Record.underWay(Task { await record() })
            known[holding] = (generation, record)
            return record
        }
        guard case .underWay(let task) = record else { return }
        let isWritten = await task.value
        known.withLock { known in
            guard known[holding]?.generation == generation else { return }
            known[holding] = isWritten ? (generation, .written) : nil
        }
    }
}
