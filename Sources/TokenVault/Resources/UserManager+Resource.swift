import OAuthClient
import VaultStorage

extension UserManager {
    /// A good access token of this user's only login for one resource (RFC 8707).
    ///
    /// ```swift
    /// let token = try await users.accessToken(userId: "alice", resource: "https://calendar.example")
    /// ```
    ///
    /// Tokens are kept for each resource and scope, beside the login's own token, which stays as it is: at most 16 for
    /// a login, of which the one that expires first is dropped first. All of them come from the login's one refresh
    /// token, so callers that want tokens for different resources are served one after the other; each gets its own.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them.
    ///   - resource: Where the token is to be used: an absolute URI without a fragment, as the provider knows it.
    ///   - scope: Less than what was granted; by default all of it.
    ///   - minimumValidity: As in ``accessToken(userId:minimumValidity:deadline:)``.
    ///   - deadline: As there.
    /// - Throws: ``VaultError``, ``VaultError/Code/resourceRefused`` if the provider gives no token for this; or
    ///   `CancellationError`.
    public func accessToken(
        userId: String, resource: String, scope: String? = nil, minimumValidity: Duration? = nil,
        deadline: Duration? = nil
    ) async throws -> VaultToken {
        try await token(
            .user(ArgumentCheck.userID(userId)), for: Self.target(resource, scope), minimumValidity: minimumValidity,
            deadline: deadline)
    }

    /// A good access token of this login for one resource.
    /// See ``accessToken(userId:resource:scope:minimumValidity:deadline:)``.
    public func accessToken(
        login: LoginID, resource: String, scope: String? = nil, minimumValidity: Duration? = nil,
        deadline: Duration? = nil
    ) async throws -> VaultToken {
        try await token(
            .login(login.handle), for: Self.target(resource, scope), minimumValidity: minimumValidity,
            deadline: deadline)
    }

    /// A good access token for what this one was for, after it was refused.
    package func accessToken(replacing token: VaultToken, deadline: Duration?) async throws -> VaultToken {
        try await self.token(
            .login(token.login.handle), for: token.target, minimumValidity: nil, deadline: deadline)
    }

    private static func target(_ resource: String, _ scope: String?) throws -> TokenTarget {
        guard ArgumentCheck.isResource(resource) else {
            throw VaultError(.invalidArgument, "a resource is an absolute URI without a fragment")
        }
        // In one order, so that the same scope is one key.
        let tokens = try VaultError.translatingValues { try scope.map { try Scope($0).tokens.sorted() } }
        guard tokens?.isEmpty != true else { throw VaultError(.invalidArgument, "the scope is empty") }
        return TokenTarget(resource: resource, scope: tokens?.joined(separator: " "))
    }

    /// No token is asked for that is wider than the grant (RFC 6749 §6).
    static func check(_ scope: String, against granted: String?) throws {
        guard let granted = granted.flatMap({ try? Scope($0) }), !granted.isEmpty else { return }
        let missing = try VaultError.translatingValues { try Scope(scope) }.tokens.filter {
            !granted.tokens.contains($0)
        }
        guard missing.isEmpty else {
            throw VaultError(
                .invalidArgument, "the scope is wider than what the user granted",
                hint: "log the user in again with the wider scope")
        }
    }
}
