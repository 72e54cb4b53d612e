import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting

import TokenVault

/// The time in which a reply exists in the memory of one process only. It cannot be nothing; here is how long it is.
@Suite(.tags(.everyEngine))
struct WindowTests {
    /// Hands out tokens, and remembers when.
    private final class Provider: HTTPTransport {
        private let state = Mutex((count: 1, repliedAt: ContinuousClock.Instant?.none))

        /// How many tokens it has handed out.
        var replies: Int { state.withLock { $0.count - 1 } }

        /// When the last reply was given; nil once it was asked for.
        func takeReply() -> ContinuousClock.Instant? {
            state.withLock { state in
                defer { state.repliedAt = nil }
                return state.repliedAt
            }
        }

        func send(
            _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
        ) async throws(HTTPTransportError) -> HTTPReply {
            let count = state.withLock { state in
                state.count += 1
                return state.count
            }
            let text =
                #"{"access_token":"access-\#(count)-\#(String(repeating: "x", count: 1_000))","token_type":"Bearer","#
                + #""expires_in":3600,"refresh_token":"refresh-\#(count)"}"#
            let reply = HTTPReply(
                response: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                body: Array(text.utf8))
            state.withLock { $0.repliedAt = ContinuousClock.now }
            return reply
        }
    }

    @Test func fromTheReplyToTheDurableCommit() async throws {
        let temporary = try await TestVault()
        try await temporary.vault.addProvider(Sample.provider())
        let provider = Provider()
        let store = FaultyStore(temporary.vault.store, spool: nil)
        let vault = Vault(
            path: temporary.address, store: store, timeSource: SystemTimeSource(), logger: temporary.options.logger)
        let users = try await UserManager(
            vault: vault, transport: provider, options: UserManagerOptions(recoveryInterval: nil))
        let login = try await users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(), refreshToken: Sample.refreshToken())
        let measured = Mutex<[Duration]>([])
        // The first commit after a reply is that of its tokens. Those before it are of the intent, of which there may be several:
        // who does not get to send in time gives its intent up and begins again.
        store.afterCommit { _ in
            guard let repliedAt = provider.takeReply() else { return }
            let window = repliedAt.duration(to: .now)
            measured.withLock { $0.append(window) }
        }
        let rounds = 300
        for _ in 0..<rounds { _ = try await users.accessToken(for: .login(login.id), .renewed) }
        let windows = measured.withLock { $0 }.sorted()
        #expect(provider.replies == rounds)
        #expect(windows.count == rounds)
        #expect(windows.allSatisfy { $0 > .zero })
        print(
            "window from reply to durable commit, \(rounds) renewals: median \(windows[rounds / 2]), "
                + "p99 \(windows[rounds * 99 / 100]), longest \(windows[rounds - 1])")
        await vault.close()
    }
}
