// The example of TokenVaultTesting.docc, as a user would write it: scripts/readme-check compares the two.
// snippet.show
import FoundationEssentials
import Testing
import TokenVault
import TokenVaultTesting

struct OutageTests {
    @Test func anOutageIsWaitedOutAndARevokedGrantIsNot() async throws {
        let time = ManualTimeSource()
        let temporary = try await TemporaryVault(in: .memory, timeSource: time)
        let transport = ScriptedTransport()
        transport.fallback = .freshTokens()
        try await temporary.vault.addProvider(Sample.provider())
        let users = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
        _ = try await users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
            expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken())

        // The provider is down. The token is still valid for a while, so alice notices nothing.
        transport.simulate(.temporary)
        time.advance(by: .seconds(3_500))
        let token = try await users.accessToken(userId: "alice")
        #expect(token.generation == 1)

        // The token expires, and the provider is back.
        transport.simulate(nil)
        time.advance(by: .seconds(600))
        let newer = try await users.accessToken(userId: "alice")
        #expect(newer.generation == 2)

        // Alice has revoked the grant: the login is dead, and the provider gets no more requests.
        transport.simulate(.permanent)
        time.advance(by: .seconds(3_600))
        let asked = transport.requestCount
        for _ in 0..<3 {
            let error = await #expect(throws: VaultError.self) { try await users.accessToken(userId: "alice") }
            #expect(error?.code == .refreshFailed)
        }
        #expect(transport.requestCount == asked + 1)
    }
}
// snippet.hide
