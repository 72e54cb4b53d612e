// The test of docs/cookbook.md, as a user would write it: scripts/readme-check compares the two.
// snippet.show
import FoundationEssentials
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

@Test func aDeadLoginIsReported() async throws {
    let time = ManualTimeSource()
    let temporary = try await TemporaryVault(in: .memory, timeSource: time)
    let (provider, api) = (ScriptedTransport(), ScriptedTransport())
    let users = try await UserManager(vault: temporary.vault, transport: provider, options: .deterministic)
    let client = AuthorizingClient(users: users, transport: api)
    try await temporary.vault.addProvider(Sample.provider())
    _ = try await users.addLogin(
        userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
        expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken())

    // The API rejects the token, and gets a new one.
    provider.enqueue(.freshTokens())
    api.enqueue(.invalidToken(), .json(#"{"name":"Alice"}"#))
    let profile = try await client.get("https://api.example/me", for: .user("alice")).json(as: [String: String].self)
    #expect(profile["name"] == "Alice")
    #expect(api.requests.map(\.path) == ["/me", "/me"])

    // Alice has revoked the grant.
    provider.enqueue(.error("invalid_grant"))
    api.enqueue(.invalidToken())
    let response = try await client.get("https://api.example/me", for: .user("alice"))
    #expect(response.renewalFailure?.code == .refreshFailed)

    // A reply for Bob is lost on its way. The vault sends the same refresh token again after a moment: let it pass.
    _ = try await users.addLogin(
        userId: "bob", provider: "acme", accessToken: Sample.accessToken("2"), refreshToken: Sample.refreshToken("2"))
    provider.enqueue(.failure(.maybeSent, .reset), .tokens(accessToken: "newer", refreshToken: "next"))
    let token = try await time.passing { try await users.accessToken(for: .user("bob"), .renewed) }
    #expect(token.generation == 2)
}
// snippet.hide
