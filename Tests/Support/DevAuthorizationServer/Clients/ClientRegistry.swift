import Synchronization

/// The clients: those that the server was started with, and those that were registered since.
final class ClientRegistry: Sendable {
    /// One that manages itself.
    struct Registration: Sendable {
        var metadata: [String: JSONValue]
        var token: String
        var secret: String?
    }

    private struct State {
        var clients: [String: RegisteredClient]
        var registrations: [String: Registration] = [:]
    }

    private let state: Mutex<State>

    init(_ clients: [RegisteredClient]) {
        state = Mutex(State(clients: Dictionary(clients.map { ($0.id, $0) }) { _, last in last }))
    }

    subscript(id: String) -> RegisteredClient? { state.withLock { $0.clients[id] } }

    func put(_ client: RegisteredClient, _ registration: Registration) {
        state.withLock { state in
            state.clients[client.id] = client
            state.registrations[client.id] = registration
        }
    }

    /// Nil unless this is the token for it.
    func registration(_ id: String, token: String) -> Registration? {
        state.withLock { $0.registrations[id] }.flatMap { constantTimeEquals($0.token, token) ? $0 : nil }
    }

    func remove(_ id: String) {
        state.withLock { state in
            state.clients[id] = nil
            state.registrations[id] = nil
        }
    }
}
