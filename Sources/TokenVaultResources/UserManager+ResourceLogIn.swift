package import OAuthClient
public import TokenVault

extension UserManager {
    /// Begins a log-in where a protected resource says: its metadata names the authorization server (RFC 9728), whose metadata
    /// names the endpoints (RFC 8414), and this service becomes a client there if it is none yet.
    ///
    /// ```swift
    /// let client = try ResourceClient(redirectURI: "https://app.example/callback", clientName: "Example")
    /// let begun = try await users.beginLogIn(
    ///     ResourceLogIn(userId: "alice", resource: "https://notes.example/mcp"), as: client)
    /// ```
    ///
    /// The callback is completed like any other. The login's tokens go to this resource and nowhere else, and every renewal names
    /// it (RFC 8707).
    ///
    /// - Throws: `VaultError`: `invalidArgument` for a resource or a server that is not allowed, and where this service cannot
    ///   become a client; `protocolViolation` if what the resource or its server says cannot be used, or has changed;
    ///   `network` and `tryLater` if they cannot be asked now.
    public func beginLogIn(_ logIn: ResourceLogIn, as client: ResourceClient) async throws -> AuthorizationRequest {
        try await ResourceConnector(users: self, client: client).begin(logIn) { _ in nil }
    }

    /// The same for a program that waits for the callback itself.
    ///
    /// - Parameter redirectURI: Called once the provider is known; nil: that of the provider.
    package func beginLogIn(
        _ logIn: ResourceLogIn, as client: ResourceClient,
        redirectURI: (_ provider: Provider) async throws -> RedirectURI?
    ) async throws -> AuthorizationRequest {
        try await ResourceConnector(users: self, client: client).begin(logIn, redirectURI)
    }
}
