import Foundation
import RawSockets
import Synchronization

/// A token endpoint on raw sockets whose refresh tokens count up: `NAME-3` gives way to `NAME-4`, and works once.
final class CountingEndpoint: Sendable {
    private struct State {
        var spent: Set<String> = []
        var requests: [String] = []
        var reuses = 0
    }

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    private let server: RawServer
    private let box: Box

    var url: String { "http://127.0.0.1:\(server.port)/token" }
    /// Refresh tokens in the order in which they came.
    var requests: [String] { box.state.withLock { $0.requests } }
    /// Tokens that came a second time.
    var reuses: Int { box.state.withLock { $0.reuses } }

    /// - Parameters:
    ///   - refusal: what to say instead of tokens to the holder of this name; nil: tokens.
    ///   - lifetime: of access tokens, as it is written.
    init(lifetime: String = "3600", refusal: @escaping @Sendable (String) -> HostileStep? = { _ in nil }) throws {
        let box = Box()
        self.box = box
        server = try RawServer { connection in
            let request = connection.readRequest()
            let token = Self.parameter("refresh_token", of: request)
            let name = String(token.prefix { $0 != "-" })
            let number = Int(token.dropFirst(name.count + 1)) ?? 0
            let step =
                refusal(name)
                ?? box.state.withLock { state -> HostileStep in
                    guard state.spent.insert(token).inserted else {
                        state.reuses += 1
                        return .reply(400, HostileReply.invalidGrant)
                    }
                    return .reply(
                        200,
                        HostileReply.good([
                            "access_token": "\"CANARY-\(name)-\(number + 1)\"",
                            "refresh_token": "\"\(name)-\(number + 1)\"", "expires_in": lifetime,
                        ]))
                }
            box.state.withLock { $0.requests.append(token) }
            if case .write(let bytes) = step { connection.write(bytes) }
        }
    }

    private static func parameter(_ name: String, of request: String) -> String {
        let body = request.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first ?? ""
        let pair = body.split(separator: "&").first { $0.hasPrefix(name + "=") } ?? ""
        return String(pair.dropFirst(name.count + 1))
    }
}
