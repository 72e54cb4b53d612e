// The test of docs/testing.md, as a user would write it: scripts/readme-check compares the two.
// snippet.show
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

@Test func notesAreFoundAndOthersAreNot() async throws {
    let temporary = try await TemporaryVault(in: .memory)
    let users = try await UserManager(
        vault: temporary.vault, transport: ScriptedTransport(), options: .deterministic)
    try await temporary.vault.addProvider(Sample.provider())
    let login = try await users.addLogin(userId: "alice", provider: "acme", accessToken: Sample.accessToken())
    let api = ScriptedTransport()
    api.fallback = ScriptedReply { request throws(HTTPTransportError) in
        let reply: ScriptedReply =
            request.path == "/notes" ? .json(#"["milk"]"#) : .status(.notFound, headers: [.retryAfter: "60"])
        return try await reply.reply(to: request)
    }
    let client = AuthorizingClient(users: users, transport: api)
    let notes = try await client.get("https://api.example/notes?since=1", for: .login(login.id))
    #expect(try await notes.json(as: [String].self) == ["milk"])
    let none = try await client.get("https://api.example/photos", for: .login(login.id))
    #expect(none.head.status == .notFound)
    #expect(api.requests.map(\.path) == ["/notes", "/photos"])
    #expect(api.requests.map(\.authorizationScheme) == ["Bearer", "Bearer"])
}
// snippet.hide
