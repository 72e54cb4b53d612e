import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import Testing
import TokenVault
import TokenVaultHTTP

/// APIs whose nonce changes every few uses: of many requests that come together most are refused at first.
struct ChangingNonceTests {
    private struct State {
        var nonces: [String: Int] = [:]
        var uses: [String: Int] = [:]
        var refusals = 0
    }

    /// An API of which each nonce is good for so many requests.
    private struct API {
        let server: RawServer
        private let state: @Sendable () -> Int

        var port: UInt16 { server.port }
        var refusals: Int { state() }

        init(uses: Int, isBoundToKey: Bool = false) throws {
            let state = Shared()
            self.state = { state.value.withLock { $0.refusals } }
            server = try RawServer { connection in
                let request = connection.readRequest()
                let line = request.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("dpop:") }
                let parts = line?.split(separator: ".") ?? []
                let claims = parts.count > 1 ? Base64URL.decode(parts[1]) : nil
                let text = String(decoding: claims ?? [], as: UTF8.self)
                let key = isBoundToKey ? String(parts.first?.suffix(24) ?? "") : ""
                let (isGood, nonce) = state.value.withLock { state in
                    let isGood = text.contains("\"nonce\":\"\(key)n\(state.nonces[key] ?? 0)\"")
                    if isGood { state.uses[key, default: 0] += 1 } else { state.refusals += 1 }
                    if state.uses[key] == uses {
                        state.nonces[key, default: 0] += 1
                        state.uses[key] = 0
                    }
                    return (isGood, "\(key)n\(state.nonces[key] ?? 0)")
                }
                connection.write(
                    isGood
                        ? "HTTP/1.1 200 OK\r\nDPoP-Nonce: \(nonce)\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
                        : "HTTP/1.1 401 No\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\n"
                            + "DPoP-Nonce: \(nonce)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
        }
    }

    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    private func statuses(_ world: ResourceWorld, _ logins: [LoginID], _ api: API) async throws -> [Int] {
        let (client, request) = (world.client, world.request(port: api.port))
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for login in logins {
                group.addTask { try await client.send(request, for: .login(login)).head.status.code }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: [1, 3])
    func noneOfSixtyFourCallersOfOneLoginIsRefused(_ uses: Int) async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn(key: .generate())
            let api = try API(uses: uses)
            let statuses = try await statuses(world, Array(repeating: login.id, count: 64), api)
            #expect(statuses == Array(repeating: 200, count: 64))
        }
    }

    /// The nonce is the client's, so each login uses up the others'.
    @Test(arguments: [1, 3])
    func noneOfSixtyFourLoginsIsRefused(_ uses: Int) async throws {
        try await ResourceWorld.with { world in
            var logins: [LoginID] = []
            for number in 0..<64 { logins.append(try await world.logIn("u\(number)", key: .generate()).id) }
            let api = try API(uses: uses)
            for _ in 0..<2 {
                let statuses = try await statuses(world, logins, api)
                #expect(statuses == Array(repeating: 200, count: 64))
            }
            #expect(world.renewals == 0)
        }
    }

    @Test func whereNoncesAreBoundToKeysEachLoginKeepsItsOwn() async throws {
        try await ResourceWorld.with { world in
            var logins: [LoginID] = []
            for number in 0..<12 { logins.append(try await world.logIn("u\(number)", key: .generate()).id) }
            let api = try API(uses: .max, isBoundToKey: true)
            for _ in 0..<3 {
                for login in logins { #expect(try await statuses(world, [login], api) == [200]) }
            }
            // Each learns its own once; nonces of others are tried no more than a few times.
            #expect(api.refusals <= 12 + 4)
        }
    }
}
