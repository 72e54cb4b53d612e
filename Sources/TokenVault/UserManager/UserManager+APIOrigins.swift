import OAuthClient
import VaultStorage

extension UserManager {
    /// Refuses a URL that this provider's tokens must not be sent to. A change of the provider applies at once in every
    /// process. If its row is damaged, the allowed origins are unknown.
    ///
    /// - Parameter resource: The protected resource that the login is for.
    func requireAllowed(_ url: EndpointURL, by provider: ProviderHandle?, for resource: String?) async throws {
        if let resource, (try? ResourceIdentifier(stored: resource))?.covers(url) != true {
            throw VaultError(
                .originNotAllowed, "this login's tokens go only to the resource that the user has logged in for",
                hint: "for another resource, the user must log in there")
        }
        guard let provider else { return }
        try await newestFacts(of: provider).allowedOrigins.requireAllowed(url)
    }

    /// A provider's data for a request to its APIs, as it is now.
    func newestFacts(of provider: ProviderHandle) async throws -> ResourceServer {
        let known = resourceServers.facts(of: provider)
        let read = try await VaultError.translating {
            try await vault.store.provider(provider, changedSince: known?.mark)
        }
        if let read {
            let facts = try VaultError.translatingValues { try ResourceServer(read.provider.record) }
            resourceServers.keep(.init(facts: facts, readAt: vault.now, mark: read.mark), of: provider)
            return facts
        }
        guard let known else { throw VaultError(StoreError.notFound(.provider)) }
        return known.facts
    }
}

extension [APIOrigin] {
    /// Refuses a URL that none of them covers; if there is none, all are allowed.
    func requireAllowed(_ url: EndpointURL) throws {
        guard !isEmpty, !contains(where: { $0.covers(url) }) else { return }
        throw VaultError(
            .originNotAllowed, "this provider's tokens may not be sent to \(url.origin)",
            hint:
                "do the provider's own documents name this address as its API? If not, the token would go to a stranger. "
                + "vaultctl provider update --help says how an API is allowed")
    }
}

extension ProviderRecord {
    var allowedOrigins: [APIOrigin] {
        get throws(OAuthValueError) {
            try apiOrigins.map { text throws(OAuthValueError) in try APIOrigin(stored: text) }
        }
    }
}
