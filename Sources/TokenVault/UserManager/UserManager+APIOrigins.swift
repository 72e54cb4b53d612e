import OAuthClient
import VaultStorage

extension UserManager {
    /// Refuses a URL that this provider's tokens must not be sent to. Reads the provider's row, so that a change
    /// applies at once in every process. If the row is damaged, the allowed origins are unknown.
    ///
    /// - Parameter resource: The protected resource that the login is for.
    func requireAllowed(_ url: EndpointURL, by provider: ProviderHandle?, for resource: String?) async throws {
        if let resource, (try? ResourceIdentifier(stored: resource))?.covers(url) != true {
            throw VaultError(
                .originNotAllowed, "this login's tokens go only to the resource that the user has logged in for",
                hint: "for another resource, the user must log in there")
        }
        guard let provider else { return }
        let record = try await VaultError.translating { try await vault.store.provider(provider).record }
        try record.requireAllowed(url)
    }
}

extension ProviderRecord {
    var allowedOrigins: [APIOrigin] {
        get throws(OAuthValueError) {
            try apiOrigins.map { text throws(OAuthValueError) in try APIOrigin(stored: text) }
        }
    }

    func requireAllowed(_ url: EndpointURL) throws {
        guard !apiOrigins.isEmpty else { return }
        let origins = try VaultError.translatingValues { try allowedOrigins }
        guard !origins.contains(where: { $0.covers(url) }) else { return }
        throw VaultError(
            .originNotAllowed, "this provider's tokens may not be sent to \(url.origin)",
            hint:
                "do the provider's own documents name this address as its API? If not, the token would go to a stranger. "
                + "vaultctl provider update --help says how an API is allowed")
    }
}
