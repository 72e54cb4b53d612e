import HTTPTypes
import Synchronization

/// A control request that cannot be carried out.
struct ControlError: Error {
    let sentence: String
    var status: HTTPResponse.Status = .badRequest
}

extension ServerCore {
    /// The endpoints below `/dev`, which exist for tests and would be a hole in any other server.
    func control(_ request: IncomingRequest) -> Reply {
        var reply: Reply
        do throws(ControlError) {
            try refuseForeigners(request)
            reply = try routeControl(request)
        } catch {
            reply = .json(["error": .string(error.sentence)] as JSONValue, status: error.status)
        }
        reply.headers[.devControl] = "not part of an authorization server"
        return reply.uncached
    }

    /// The socket listens on loopback only; a web page could still reach it through a browser on this machine, by a
    /// foreign name that resolves to 127.0.0.1 or by a cross-site request.
    private func refuseForeigners(_ request: IncomingRequest) throws(ControlError) {
        let hosts = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
        guard hosts.contains(request.authority.lowercased()), request.headers[.origin] == nil else {
            throw ControlError(sentence: "control endpoints answer only local programs", status: .forbidden)
        }
    }

    private func routeControl(_ request: IncomingRequest) throws(ControlError) -> Reply {
        let segments = request.path.split(separator: "/").dropFirst().map { FormParameters.decode($0) ?? "" }
        switch (request.method, segments.first, segments.count) {
        case (.get, nil, _): return .json(Self.overview)
        case (.get, "log", 1): return .json(try records(after: request.query))
        case (.delete, "log", 1):
            log.clear()
            return Reply(.noContent)
        case (.get, "counters", 1): return .json(ledger.withLock { $0.counters })
        case (.get, "clock", 1): return .json(clockReading)
        case (.post, "clock", 1): return try setClock(ControlBody(request.body))
        case (.get, "refresh-tokens", 1): return .json(try refreshTokens(request.query))
        case (.get, "behaviour", 1): return .json(behaviourReading)
        case (.post, "behaviour", 1): return try changeBehaviour(ControlBody(request.body))
        case (.delete, "behaviour", 1):
            ledger.withLock { $0.behaviours.reset() }
            return .json(behaviourReading)
        case (.get, "resource", 1): return .json(try resourceReading)
        case (.post, "resource", 1): return try changeResource(ControlBody(request.body))
        case (.delete, "resource", 1):
            protectedResource.withLock { $0 = configuration.protectedResource }
            return .json(try resourceReading)
        case (.get, "faults", 1): return .json(faults.pending.map(\.json))
        case (.post, "faults", 1): return try addFaults(request.body)
        case (.delete, "faults", 1):
            faults.removeAll()
            return Reply(.noContent)
        case (.post, "nonces", 2) where segments[1] == "forget":
            proofs.forgetNonces()
            resourceProofs.forgetNonces()
            return Reply(.noContent)
        case (.post, "devices", 3):
            guard ["approve", "deny"].contains(segments[2]) else { return try act(segments[2], grants: { _ in false }) }
            let user = segments[2] == "approve" ? try ControlBody(request.body).text("user") : nil
            guard
                decideDevice(
                    userCode: segments[1], user: segments[2] == "approve" ? user ?? configuration.defaultUser : nil)
            else { throw ControlError(sentence: "no device waits with this code", status: .notFound) }
            return Reply(.noContent)
        case (.get, "grants", 1): return .json(grantSummaries)
        case (.post, "grants", 1): return .json(try issueGrant(ControlBody(request.body)))
        case (.post, "grants", 3): return try act(segments[2], grants: { $0.id == segments[1] })
        case (.post, "users", 3): return try act(segments[2], grants: { $0.user == segments[1] })
        default:
            throw ControlError(sentence: "no such control endpoint; GET /dev lists them", status: .notFound)
        }
    }

    private func act(_ verb: String, grants isMeant: (Grant) -> Bool) throws(ControlError) -> Reply {
        switch verb {
        case "revoke": return .json(["revoked": .integer(Int64(endGrants(where: isMeant).count))] as JSONValue)
        case "expire-access-tokens":
            return .json(["grants": .integer(Int64(endAccessTokens(where: isMeant)))] as JSONValue)
        default: throw ControlError(sentence: "no such action: \(verb)", status: .notFound)
        }
    }

    private func records(after query: String?) throws(ControlError) -> [RequestRecord] {
        guard let query else { return log.records }
        guard query.hasPrefix("after="), let sequence = Int(query.dropFirst(6)) else {
            throw ControlError(sentence: "the only parameter is after=SEQUENCE")
        }
        return log.records.filter { $0.sequence > sequence }
    }

    private var clockReading: JSONValue {
        ["age_ms": .integer(clock.age.milliseconds), "wall_ms": .integer(clock.wall.milliseconds)]
    }

    private func setClock(_ body: ControlBody) throws(ControlError) -> Reply {
        try body.refuseOthers(than: ["advance_seconds", "skew_seconds"])
        if let seconds = try body.number("advance_seconds") { clock.advance(by: .seconds(seconds)) }
        if let seconds = try body.number("skew_seconds") { clock.skew(by: .seconds(seconds)) }
        return .json(clockReading)
    }

    private func addFaults(_ body: [UInt8]) throws(ControlError) -> Reply {
        let added: [Fault]
        switch JSONValue.parse(body) {
        case .array(let items):
            added = try items.map { (item) throws(ControlError) in try Fault(ControlBody(item)) }
        case .some(let item): added = [try Fault(ControlBody(item))]
        case .none: throw ControlError(sentence: "the body is not JSON")
        }
        for fault in added { faults.add(fault) }
        return .json(["pending": .integer(Int64(faults.pending.count))] as JSONValue)
    }

    private func issueGrant(_ body: ControlBody) throws(ControlError) -> IssuedGrant {
        try body.refuseOthers(than: ["user", "client", "scope", "dpop_jkt"])
        let scope = try body.text("scope").map { $0.split(separator: " ").map(String.init) } ?? ["read"]
        let user = try body.text("user") ?? configuration.defaultUser
        let id = try body.text("client") ?? configuration.clients.first?.id ?? ""
        guard let issued = issueGrant(user: user, client: id, scope: scope, keyThumbprint: try body.text("dpop_jkt"))
        else { throw ControlError(sentence: "no such client: \(id)", status: .notFound) }
        return issued
    }

    private static let overview: JSONValue = [
        "POST /dev/devices/USER_CODE/approve, POST /dev/devices/USER_CODE/deny":
            "decide about a device as its user would; {\"user\"} is optional",
        "GET /dev/log": "the requests so far; ?after=SEQUENCE for later ones",
        "DELETE /dev/log": "clear the log",
        "GET /dev/counters": "codes and tokens issued, rotated, reused; grants revoked",
        "GET /dev/grants": "all grants, with how often their refresh tokens were presented, rotated, reused",
        "GET /dev/refresh-tokens": "the same for each refresh token; ?grant=ID for one grant",
        "GET /dev/behaviour": "rotation, grace, reuse, nonce check, lifetime and delays, by client",
        "POST /dev/behaviour": "change them for one client, or for all; members in docs/dev-authserver.md",
        "DELETE /dev/behaviour": "restore the behaviour of the command line",
        "GET /dev/resource": "what /resource says of itself (RFC 9728), and the hostility in force",
        "POST /dev/resource": "change them; members in docs/dev-authserver.md",
        "DELETE /dev/resource": "restore the resource of the command line",
        "POST /dev/grants": "issue tokens without a log-in: user, client, scope, dpop_jkt",
        "POST /dev/grants/ID/revoke": "end one grant",
        "POST /dev/grants/ID/expire-access-tokens": "expire its access tokens",
        "POST /dev/users/USER/revoke": "end all grants of a user",
        "POST /dev/users/USER/expire-access-tokens": "expire the user's access tokens",
        "GET /dev/clock": "age_ms: the clock by which tokens age; wall_ms: the clock that is shown",
        "POST /dev/clock": "advance_seconds ages tokens; skew_seconds makes the shown clock wrong",
        "GET /dev/faults": "pending faults",
        "POST /dev/faults": "add one fault or a list of them; its members are in docs/dev-authserver.md",
        "DELETE /dev/faults": "remove all faults",
        "POST /dev/nonces/forget": "make every nonce issued before stale",
    ]
}
