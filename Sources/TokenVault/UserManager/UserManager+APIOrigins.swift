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
        try await newestFacts(of: provider).requireAllowed(url)
    }

    /// A provider's data for a request to its APIs, as it is now.
    func newestFacts(of provider: ProviderHandle) async throws -> ResourceServer {
        var known = resourceServers.facts(of: provider)
        let mark = known?.mark
        let read = try await VaultError.translating { try await vault.store.provider(provider, changedSince: mark) }
        if let read {
            let facts = try VaultError.translatingValues { try ResourceServer(read.provider.record) }
            known = .init(facts: facts, readAt: vault.now, mark: read.mark)
        }
        guard let known else { throw VaultError(StoreError.notFound(.provider)) }
        if read != nil { resourceServers.keep(known, of: provider) }
        return known.facts
    }
}

extension ResourceServer {
    func requireAllowed(_ url: EndpointURL) throws {
        guard !allowedOrigins.isEmpty, !allowedOrigins.contains(where: { $0.covers(url) }) else { return }
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
