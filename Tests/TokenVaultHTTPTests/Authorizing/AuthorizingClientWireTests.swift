import Glibc
import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultHTTP

/// What a resource server without manners sees.
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
    func invalidStatusIsAnErrorNotACrash(_ status: String) async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server("HTTP/1.1 \(status) Odd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await #expect(throws: (any Error).self) {
                _ = try await world.client.send(world.request(.get, port: api.port), for: .login(login.id))
            }
        }
    }

    /// It answers once all have asked.
    @Test func aSlowAPIIsAskedForManyAtOnce() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let (callers, asked, hasEnded) = (100, Counter(), Flag())
            defer { hasEnded.set() }
            let api = try RawServer { connection in
                connection.readRequest()
                asked.add()
                while asked.value < callers, !hasEnded.isSet { usleep(1_000) }
                connection.write(Self.success)
            }
            let client = world.client
            let replies = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<callers {
                    group.addTask {
                        try? await client.send(world.request(port: api.port), userId: "alice").head.status.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.allSatisfy { $0 == 200 } && replies.count == callers)
        }
    }

    @Test func bytesAreSentAgainWithTheNewToken() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(Self.refusal, Self.success)
            let response = try await world.client.send(
                world.request(.post, port: api.port), body: .bytes(Array("hello".utf8)), for: .login(login.id))
            #expect(response.head.status == .ok)
            #expect(response.token?.generation == login.generation + 1)
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
                try await world.client.send(world.request(port: api.port), for: .login(login.id)).head.status
                    == .unauthorized)
            #expect(world.renewals == 0)
        }
        try await ResourceWorld.with(profile: #"{"refusedStatuses":[401]}"#) { world in
            let login = try await world.logIn()
            let api = try server(bare, Self.success)
            #expect(
                try await world.client.send(world.request(port: api.port), for: .login(login.id)).head.status == .ok)
            #expect(world.renewals == 1)
            // A server that refuses every token has one renewed once a minute, and not for each request.
            let stubborn = try server(bare)
            for _ in 0..<4 {
                _ = try await world.client.send(world.request(port: stubborn.port), for: .login(login.id))
            }
            #expect(world.renewals == 2)
        }
    }

    @Test func streamIsNotReplayedButNextRequestHasNewToken() async throws {
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
                world.request(.post, port: api.port), body: .stream(stream, length: 5), for: .login(login.id))
            #expect(response.head.status == .unauthorized)
            #expect(api.received.count == 1)
            #expect(api.received[0].hasSuffix("hello"))
            #expect(world.renewals == 1)
            #expect(
                try await world.client.send(world.request(.post, port: api.port), for: .login(login.id)).head.status
                    == .ok)
            #expect(world.renewals == 1)
        }
    }

    @Test func serverRefusingEveryTokenCausesOneRenewal() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let api = try server(Self.refusal)
            for expected in [2, 3, 4] {
                let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
                #expect(response.head.status == .unauthorized)
                #expect(api.received.count == expected)
                #expect(world.renewals == 1)
            }
        }
    }

    @Test func aNonceThatIsAskedForWithoutEndIsGivenFiveTimes() async throws {
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
            let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
            #expect(response.head.status == .unauthorized)
            #expect(api.received.count == 6)
            #expect(world.renewals == 0)
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
