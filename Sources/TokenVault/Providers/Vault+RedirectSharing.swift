import OAuthClient
package import VaultStorage

/// Mix-up (RFC 9700 §4.4): where a callback does not say which server it comes from, the redirect URI must.
extension Vault {
    /// Refuses a redirect URI to which the callbacks of another server's provider come, unless both servers name themselves
    /// in each of them (RFC 9207).
    func refuseSharing(_ uri: RedirectURI, with record: ProviderRecord) async throws {
        guard uri.rawValue != record.redirectURI, !uri.isLoopback else { return }
        var changed = record
        changed.redirectURI = uri.rawValue
        try await refuseSharing(changed)
    }

    /// The same for a change of a provider. A redirect URI that was shared before is no reason to refuse other changes.
    func refuseSharing(after change: ProviderChange, of name: String) async throws {
        let record = try await VaultError.translating { try await store.provider(named: name).record }
        var changed = record
        try changed.apply(change, now: now)
        guard
            record.redirectURI != changed.redirectURI || record.tokenEndpoint != changed.tokenEndpoint
                || record.requiresIssuerInCallback && !changed.requiresIssuerInCallback
        else { return }
        try await refuseSharing(changed)
    }

    /// The same for a provider that is not added yet.
    package func refuseSharing(_ registration: ProviderRegistration, of tenant: Tenant?) async throws {
        try await refuseSharing(try ProviderRecord(registration, of: tenant, createdAt: now))
    }

    package func refuseSharing(_ record: ProviderRecord) async throws {
        guard record.mayBeMixedUp else { return }
        let others = try await VaultError.translating { try await store.providers() }.compactMap(\.provider?.record)
        guard let other = others.first(where: { $0.name != record.name && $0.canBeMixedUp(with: record) }) else {
            return
        }
        // Another tenant's provider has no name here.
        let isOfSame = Tenant.prefix(of: other.name) == Tenant.prefix(of: record.name)
        let name = isOfSame ? Tenant.of(other.name)?.userId ?? other.name : nil
        throw VaultError(
            .invalidArgument,
            "callbacks of another provider\(name.map { ", \($0)," } ?? "") come to the same redirect URI, and not both name "
                + "their server: a code of one could be sent to the other",
            hint: "give each provider a redirect URI of its own, such as https://app.example/callback/NAME")
    }

    /// The names of providers whose callbacks cannot be distinguished, grouped by redirect URI.
    package func providersThatCanBeMixedUp() async throws -> [[String]] {
        var rest = try await VaultError.translating { try await store.providers() }.compactMap(\.provider?.record)
            .filter(\.mayBeMixedUp)
        var groups: [[String]] = []
        while let first = rest.popLast() {
            let others = rest.filter { $0.canBeMixedUp(with: first) }
            if others.isEmpty { continue }
            groups.append(([first] + others).map(\.name).sorted())
            rest.removeAll { record in others.contains { $0.name == record.name } }
        }
        return groups
    }
}

extension ProviderRecord {
    /// Whether it has log-ins that end with a callback.
    fileprivate var mayBeMixedUp: Bool { authorizationEndpoint != nil && redirectURI != nil }

    fileprivate func canBeMixedUp(with other: ProviderRecord) -> Bool {
        guard mayBeMixedUp, other.mayBeMixedUp, !(requiresIssuerInCallback && other.requiresIssuerInCallback),
            // The same server, with another client.
            tokenEndpoint != other.tokenEndpoint,
            let own = redirectURI.flatMap({ try? RedirectURI($0) }),
            let others = other.redirectURI.flatMap({ try? RedirectURI($0) })
        else { return false }
        return own.isShared(with: others)
    }
}
