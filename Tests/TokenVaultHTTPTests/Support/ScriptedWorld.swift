import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A real vault, and a scripted provider and API on both sides of it.
struct ScriptedWorld {
    let time = ManualTimeSource()
    let temporary: TemporaryVault
    let provider = ScriptedTransport()
    let api = ScriptedTransport()
    let users: UserManager
    let client: AuthorizingClient

    init(_ registration: ProviderRegistration? = nil) async throws {
        temporary = try await TemporaryVault(in: .memory, timeSource: time)
        try await temporary.vault.addProvider(registration ?? Sample.provider())
        provider.fallback = .freshTokens()
        users = try await UserManager(vault: temporary.vault, transport: provider, options: .deterministic)
        client = AuthorizingClient(users: users, transport: api)
    }

    @discardableResult
    func addLogin(key: DPoPKey? = nil) async throws -> Login {
        try await users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
            expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken(), dpopKey: key)
    }

    /// The header fields of the requests that reached the API.
    func fields(_ name: HTTPField.Name) -> [String?] { api.requests.map { $0.request.headerFields[name] } }
}

/// The claims of a proof.
struct ProofClaims: Decodable {
    let htm: String
    let htu: String
    let nonce: String?

    init(_ proof: String?) throws {
        let parts = try #require(proof).split(separator: ".")
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        self = try JSONDecoder().decode(Self.self, from: try #require(Data(base64Encoded: String(text))))
    }
}
