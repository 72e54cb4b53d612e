import Synchronization

/// What was asked of the server, in the order in which it was answered.
public final class RequestLog: Sendable {
    private struct State {
        var records: [RequestRecord] = []
        var lastSequence = 0
    }

    private let state = Mutex(State())

    init() {}

    public var records: [RequestRecord] { state.withLock { $0.records } }

    /// The requests to the token endpoint with this grant type.
    public func tokenRequests(grantType: String = "refresh_token", user: String? = nil) -> [RequestRecord] {
        records.filter { $0.path == "/token" && $0.grantType == grantType && (user == nil || $0.user == user) }
    }

    public func clear() { state.withLock { $0.records = [] } }

    func append(_ record: RequestRecord) {
        state.withLock { state in
            state.lastSequence += 1
            var record = record
            record.sequence = state.lastSequence
            state.records.append(record)
        }
    }
}
