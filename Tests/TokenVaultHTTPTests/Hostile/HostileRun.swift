import Foundation
import OAuthClient
import RawSockets
import TokenVaultHTTP

/// One case, played once against the token endpoint over the real transport.
struct HostileRun {
    let attempt: TokenAttempt
    let connections: Int
    /// Whether the server has read anything of a request: a connection that was opened and closed again brings none.
    let requestArrived: Bool
    /// Calls of the place that redirects and error texts point to.
    let strayConnections: Int
    let bytesTaken: Int
    let elapsed: Duration

    /// - Parameter isInDoubt: whether an earlier request for this token may have been received.
    init(_ one: HostileCase, through transport: AsyncHTTPTransport, isInDoubt: Bool = false) async throws {
        let other = try RawServer { $0.readRequest() }
        let server = try HostileServer(one.scripts, other: other.port)
        let binding = ServerBinding(
            tokenEndpoint: try EndpointURL("http://127.0.0.1:\(server.port)/token", allowsInsecureLoopback: true),
            clientID: try ClientID("client"), authentication: .none, limits: one.limits)
        let context = ClassificationContext(
            expectedTokenType: one.usesProof ? .dpop : .bearer, inDoubtIntentExisted: isInDoubt,
            expectedIdentity: one.expectedSubject.map { IDTokenIdentity(subject: $0, issuer: nil) })
        let exchange = RefreshRequest(
            refreshToken: try RefreshToken("CANARY-refresh-1"),
            dpop: one.usesProof ? DPoPContext(key: .generate()) : nil)
        let clock = ContinuousClock()
        let started = clock.now
        attempt = await TokenEndpoint(binding: binding, transport: transport, now: { Date() })
            .refresh(exchange, context: context)
        elapsed = clock.now - started
        connections = server.connections
        requestArrived = server.received.contains { !$0.isEmpty }
        strayConnections = other.connections
        bytesTaken = server.bytesTaken
    }

    var outcome: HostileCase.Outcome { HostileCase.Outcome(attempt) }

    /// Whether this is what the case asks for. A busy machine may take all of a short time to connect; then nothing can
    /// have been sent, and the server must not have seen anything.
    func isExpected(_ one: HostileCase, of expected: Set<HostileCase.Outcome>? = nil) -> Bool {
        if outcome == .notSent, one.isSlow, !requestArrived { return true }
        return (expected ?? one.expected).contains(outcome)
    }
}

/// What this process has read from files and connections, by the kernel's count (proc(5), io): nil where it keeps none.
enum ReadBytes {
    static var current: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("rchar: ") })
        else { return nil }
        return Int(line.dropFirst("rchar: ".count))
    }
}

/// What this process holds in memory.
enum ResidentMemory {
    /// In bytes, by the kernel's count of pages (proc(5), statm).
    static var current: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
