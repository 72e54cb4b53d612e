import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVault
import TokenVaultHTTP

/// What a resource server without manners sees.
@Suite(.timeLimit(.minutes(10)))
struct AuthorizingClientWireTests {
    private static let refusal = """
        HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="a, b", error="invalid_token"\r\n\
        Content-Length: 0\r\nConnection: close\r\n\r\n
        """
    private static let success = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

    private func server(_ replies: String...) throws -> RawServer {
        let left = Mutex(replies)
        return try RawServer { connection in
            connection.readRequest()
            let reply = left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            connection.write(reply)
        }
    }

    @Test(arguments: ["000", "099", "100"])
    func aHeadThatAnnouncesNothingIsAnErrorAndNotTheEndOfTheProcess(_ status: String) async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server("HTTP/1.1 \(status) Odd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await #expect(throws: (any Error).self) {
                _ = try await world.client.send(world.request(.get, port: api.port), login: login.id)
            }
        }
    }

    @Test func bytesAreSentAgainWithTheNewToken() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(Self.refusal, Self.success)
            let response = try await world.client.send(
                world.request(.post, port: api.port), body: .bytes(Array("hello".utf8)), login: login.id)
            #expect(response.head.status == .ok)
            #expect(response.token.generation == login.generation + 1)
            #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
            #expect(api.received.count == 2)
            #expect(api.received.allSatisfy { $0.hasSuffix("hello") })
            #expect(world.renewals == 1)
        }
    }

    @Test func aBare401RenewsOnceWhereTheProfileSaysSo() async throws {
        let bare = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(bare, Self.success)
            #expect(
                try await world.client.send(world.request(port: api.port), login: login.id).head.status
                    == .unauthorized)
            #expect(world.renewals == 0)
        }
        try await ResourceWorld.with(profile: #"{"refusedStatuses":[401]}"#) { world in
            let login = try await world.logIn()
            let api = try server(bare, Self.success)
            #expect(try await world.client.send(world.request(port: api.port), login: login.id).head.status == .ok)
            #expect(world.renewals == 1)
            // A server that refuses every token has one renewed once a minute, and not for each request.
            let stubborn = try server(bare)
            for _ in 0..<4 { _ = try await world.client.send(world.request(port: stubborn.port), login: login.id) }
            #expect(world.renewals == 2)
        }
    }

    @Test func anExpiredTokenInABodyRenewsAndOtherBodiesArriveWhole() async throws {
        func json(_ body: String) -> String {
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)"
        }
        func chunked(_ body: String) -> String {
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
                + "Connection: close\r\n\r\n"
                + String(body.utf8.count, radix: 16) + "\r\n\(body)\r\n0\r\n\r\n"
        }
        let rules = #"{"refusedCodes":["token_expired"],"codeStatuses":[200]}"#
        try await ResourceWorld.with(profile: rules) { world in
            let login = try await world.logIn()
            let good = #"{"ok":true,"text":"token_expired"}"#
            let api = try server(json(#"{"ok":false,"error":"token_expired"}"#), json(good))
            let response = try await world.client.send(world.request(port: api.port), login: login.id)
            #expect(world.renewals == 1)
            #expect(try await response.body.collect(upTo: 1_000) == Array(good.utf8))
            let long = #"{"ok":true,"text":""# + String(repeating: "x", count: 100_000) + #""}"#
            for reply in [json(long), chunked(long)] {
                let other = try server(reply)
                let response = try await world.client.send(world.request(port: other.port), login: login.id)
                #expect(try await response.body.collect(upTo: 200_000) == Array(long.utf8))
            }
            #expect(world.renewals == 1)
        }
    }

    @Test func aStreamIsNotReplayedAndTheNextRequestHasTheNewToken() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(Self.refusal, Self.success)
            let starts = Mutex(0)
            let stream = AsyncThrowingStream<[UInt8], any Error> { continuation in
                starts.withLock { $0 += 1 }
                continuation.yield(Array("hel".utf8))
                continuation.yield(Array("lo".utf8))
                continuation.finish()
            }
            let response = try await world.client.send(
                world.request(.post, port: api.port), body: .stream(stream, length: 5), login: login.id)
            #expect(response.head.status == .unauthorized)
            #expect(api.received.count == 1)
            #expect(api.received[0].hasSuffix("hello"))
            #expect(world.renewals == 1)
            #expect(
                try await world.client.send(world.request(.post, port: api.port), login: login.id).head.status == .ok)
            #expect(world.renewals == 1)
        }
    }

    @Test func aServerThatRefusesEveryTokenDoesNotCostARenewalForEach() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(Self.refusal)
            for expected in [2, 3, 4] {
                let response = try await world.client.send(world.request(port: api.port), login: login.id)
                #expect(response.head.status == .unauthorized)
                #expect(api.received.count == expected)
                #expect(world.renewals == 1)
            }
        }
    }

    @Test func aNonceThatIsAskedForWithoutEndIsGivenThreeTimes() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn(key: .generate())
            let count = Mutex(0)
            let api = try RawServer { connection in
                connection.readRequest()
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                connection.write(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n\(number)\r\n"
                        + "Content-Length: 0\r\nConnection: close\r\n\r\n")
            }
            let response = try await world.client.send(world.request(port: api.port), login: login.id)
            #expect(response.head.status == .unauthorized)
            #expect(api.received.count == 4)
            #expect(world.renewals == 0)
        }
    }

    /// A nonce that is good for three requests: of sixteen that come together most are refused at first.
    @Test func aNonceThatChangesEveryFewUsesFailsNoneOfManyRequests() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn(key: .generate())
            let state = Mutex((nonce: 0, uses: 0))
            let api = try RawServer { connection in
                let request = connection.readRequest()
                let proof = request.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("dpop:") }
                let claims = (proof?.split(separator: ".").dropFirst().first).flatMap { Base64URL.decode($0) }
                let text = String(decoding: claims ?? [], as: UTF8.self)
                let (isGood, nonce) = state.withLock { state in
                    let isGood = text.contains("\"nonce\":\"n\(state.nonce)\"")
                    if isGood { state.uses += 1 }
                    if state.uses == 3 { state = (state.nonce + 1, 0) }
                    return (isGood, state.nonce)
                }
                connection.write(
                    isGood
                        ? "HTTP/1.1 200 OK\r\nDPoP-Nonce: n\(nonce)\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
                        : "HTTP/1.1 401 No\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\n"
                            + "DPoP-Nonce: n\(nonce)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            let (client, request) = (world.client, world.request(port: api.port))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await client.send(request, login: login.id).head.status.code }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 16))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func noRedirectIsFollowed(status: Int) async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let other = try server(Self.success)
            let api = try server(
                "HTTP/1.1 \(status) Elsewhere\r\nLocation: http://localhost:\(other.port)/\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n")
            let response = try await world.client.send(world.request(port: api.port), userId: "alice")
            #expect(response.head.status.code == status)
            #expect(other.connections == 0)
            #expect(api.connections == 1)
        }
    }

    @Test func theTokenIsInOneFieldAndTheAppsOwnIsReplaced() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let api = try server(Self.success)
            var request = world.request(port: api.port)
            request.headerFields[.authorization] = "Basic b2xk"
            _ = try await world.client.send(request, userId: "alice")
            let lines = api.received[0].lowercased().split(separator: "\r\n").filter { $0.hasPrefix("authorization:") }
            #expect(lines.count == 1)
            #expect(lines[0].hasPrefix("authorization: bearer "))
        }
    }

    @Test func withoutAReplyTheErrorSaysWhetherItWasSent() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let port = try RawServer.unusedPort()
            await #expect { try await world.client.send(world.request(port: port), userId: "alice") } throws: { error in
                error as? HTTPTransportError == HTTPTransportError(.notSent, .connect)
            }
            let api = try RawServer { connection in
                connection.readRequest()
                connection.resetOnClose()
            }
            await #expect {
                try await world.client.send(world.request(port: api.port), userId: "alice")
            } throws: { error in
                (error as? HTTPTransportError)?.phase == .maybeSent
            }
            #expect(api.connections == 1)
        }
    }

    @Test func aBodyThatIsTooLongIsCutOff() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let api = try server(Self.success)
            let response = try await world.client.send(world.request(port: api.port), userId: "alice")
            await #expect { try await response.body.collect(upTo: 1) } throws: { error in
                (error as? HTTPTransportError)?.code == .tooLarge
            }
        }
    }
}
