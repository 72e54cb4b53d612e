import Glibc
import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import Testing
import TokenVault
import TokenVaultHTTP

/// Providers that say in the body of a good reply that the token has expired.
struct RefusalInBodyTests {
    private static let rules = #"{"refusedCodes":["token_expired"],"codeStatuses":[200]}"#
    private static let expired = #"{"ok":false,"error":"token_expired"}"#
    private static let good = #"{"ok":true,"text":"token_expired"}"#

    enum Framing: CaseIterable, Sendable {
        case stated, chunked, untilClosed

        func callAsFunction(_ body: String) -> [String] {
            switch self {
            case .stated: RefusalInBodyTests.stated(body)
            case .chunked: RefusalInBodyTests.chunked(body)
            case .untilClosed: RefusalInBodyTests.untilClosed(body)
            }
        }
    }

    private static func stated(_ body: String) -> [String] {
        [
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)"
        ]
    }

    /// In several chunks, each sent by itself.
    private static func chunked(_ body: String, type: String = "application/json", size: Int = 7) -> [String] {
        var parts = [
            "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        ]
        var rest = body.utf8[...]
        while !rest.isEmpty {
            let piece = rest.prefix(size)
            parts.append(String(piece.count, radix: 16) + "\r\n" + String(decoding: piece, as: UTF8.self) + "\r\n")
            rest = rest.dropFirst(size)
        }
        return parts + ["0\r\n\r\n"]
    }

    /// Without a length: it ends when the connection does.
    private static func untilClosed(_ body: String) -> [String] {
        ["HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n", body]
    }

    private func server(_ replies: [String]...) throws -> RawServer {
        let left = Mutex(replies)
        return try RawServer { connection in
            connection.readRequest()
            for part in left.withLock({ $0.count > 1 ? $0.removeFirst() : $0[0] }) { connection.write(part) }
        }
    }

    @Test(arguments: Framing.allCases)
    func anExpiredTokenIsRenewedHoweverTheBodyComes(_ framed: Framing) async throws {
        try await ResourceWorld.with(profile: Self.rules) { world in
            let login = try await world.logIn()
            let api = try server(framed(Self.expired), framed(Self.good))
            let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
            #expect(world.renewals == 1)
            #expect(response.token?.generation == login.generation + 1)
            #expect(try await response.body.collect(upTo: 1_000) == Array(Self.good.utf8))
        }
    }

    @Test(arguments: [100_000, 65_536, 65_537, 1_000_000])
    func aLongBodyArrivesWhole(_ length: Int) async throws {
        let body = #"{"ok":true,"text":""# + String(repeating: "x", count: length - 21) + #""}"#
        #expect(body.utf8.count == length)
        try await ResourceWorld.with(profile: Self.rules) { world in
            let login = try await world.logIn()
            for reply in [Self.stated(body), Self.chunked(body, size: 10_000), Self.untilClosed(body)] {
                let api = try server(reply)
                let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
                #expect(try await response.body.collect(upTo: length) == Array(body.utf8))
            }
            #expect(world.renewals == 0)
        }
    }

    /// Nothing but what came is handed on, and the error comes where the rest is missing. A connection that ends may take
    /// along what was not read yet.
    @Test func aBodyThatBreaksOffIsTheCallersMatter() async throws {
        try await ResourceWorld.with(profile: Self.rules) { world in
            let login = try await world.logIn()
            let api = try server(Array(Self.chunked(Self.good, size: 10).prefix(3)))
            let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
            #expect(response.head.status == .ok)
            var bytes: [UInt8] = []
            await #expect(throws: HTTPTransportError.self) {
                for try await piece in response.body { bytes += piece }
            }
            #expect(Self.good.utf8.prefix(20).starts(with: bytes))
            #expect(world.renewals == 0)
        }
    }

    /// A stream that is not an error message is not waited for.
    @Test(arguments: ["application/json-seq", "application/x-ndjson", "text/event-stream"])
    func aStreamIsHandedOnAtOnce(_ type: String) async throws {
        try await ResourceWorld.with(profile: Self.rules) { world in
            let login = try await world.logIn()
            let mayEnd = Mutex(false)
            let parts = Self.chunked("first;second", type: type, size: 6)
            let api = try RawServer { connection in
                connection.readRequest()
                for part in parts.prefix(2) { connection.write(part) }
                while !mayEnd.withLock({ $0 }) { usleep(1_000) }
                for part in parts.dropFirst(2) { connection.write(part) }
            }
            let response = try await world.client.send(world.request(port: api.port), for: .login(login.id))
            // Only now the rest is sent.
            mayEnd.withLock { $0 = true }
            #expect(try await response.body.collect(upTo: 100) == Array("first;second".utf8))
        }
    }
}
