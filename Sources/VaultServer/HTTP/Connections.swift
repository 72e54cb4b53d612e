import Platform
import Synchronization

/// The open connections, of which each client has so many at most.
final class Connections: Sendable {
    private struct Origin: Hashable {
        let user: UInt32
        let socket: String

        init(_ connection: Connection) { (user, socket) = (connection.peer.user, connection.socket) }
    }

    private struct State {
        var all: [Origin: [ObjectIdentifier: Connection]] = [:]
        var isFinishing = false
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: Of one user and socket.
    init(atMost most: Int) { self.most = most }

    /// False: there is no room for it. The connection of the same client that has been idle for the longest makes way.
    func add(_ connection: Connection) -> Bool {
        let (isTaken, leaving) = state.withLock { state -> (Bool, Connection?) in
            if state.isFinishing { connection.finish() }
            let origin = Origin(connection)
            var leaving: Connection?
            if let own = state.all[origin], own.count >= most {
                let idle = own.values.compactMap { other in other.idleSince.map { (other, $0) } }
                leaving = idle.min { $0.1 < $1.1 }?.0
                guard let leaving else { return (false, nil) }
                state.all[origin]?[ObjectIdentifier(leaving)] = nil
            }
            state.all[origin, default: [:]][ObjectIdentifier(connection)] = connection
            return (true, leaving)
        }
        leaving?.close()
        return isTaken
    }

    func remove(_ connection: Connection) {
        let origin = Origin(connection)
        state.withLock { state in
            state.all[origin]?[ObjectIdentifier(connection)] = nil
            if state.all[origin]?.isEmpty == true { state.all[origin] = nil }
        }
    }

    /// Lets each finish, and those that are added later.
    func finish() {
        let all = state.withLock { state in
            state.isFinishing = true
            return state.all.values.flatMap(\.values)
        }
        for connection in all { connection.finish() }
    }

    /// Closes those whose client takes too long to send a body, until the task is cancelled. A timer for each request would
    /// cost more than most requests.
    func closeSlowOnes(every interval: Duration) async throws {
        while true {
            try await Task.sleep(for: interval)
            let now = ContinuousClock.now
            for connection in all where connection.isSlow(at: now) { connection.close() }
        }
    }

    /// Closes those that have sent no request.
    func closeSilentOnes() {
        for connection in all where connection.isSilent { connection.close() }
    }

    func closeAll() {
        for connection in all { connection.close() }
    }

    private var all: [Connection] { state.withLock { $0.all.values.flatMap(\.values) } }
}
