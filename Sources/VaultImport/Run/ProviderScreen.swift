import OAuthClient
import TokenVault
import VaultStorage

/// The vault's providers that rows have named so far. Used by one task at a time.
final class ProviderScreen {
    private let vault: Vault
    private let tenant: Tenant?
    private let rules: [String: ProviderMap.Rule]
    private var known: [String: Known] = [:]
    private var counts: [String: Int] = [:]
    /// The source's client ids, by its own provider names.
    private var clients: [String: ClientID] = [:]
    private var clientsOfMissing: [String: ClientID] = [:]

    /// If a source has more names than this, they are not names of providers.
    private static let mostNames = 1_000

    private struct Known {
        let handle: ProviderHandle?
        let clientID: String?
    }

    /// - Parameter rules: The plan's, by the source's own provider names.
    init(_ vault: Vault, of tenant: Tenant?, _ rules: [String: ProviderMap.Rule]) {
        self.vault = vault
        self.tenant = tenant
        self.rules = rules
    }

    /// The reason why the vault cannot accept the row, regardless of its other values.
    func reason(against login: PlannedLogin) async throws -> RejectReason? {
        let provider: Known
        if let found = known[login.provider] {
            provider = found
        } else {
            provider = try await find(login.provider)
            if known.count < Self.mostNames { known[login.provider] = provider }
        }
        guard provider.handle != nil else {
            note(login)
            return .unknownProvider
        }
        // Where the row names no client, it is the one that the plan names.
        let client = login.source.clientID ?? rules[login.source.provider]?.clientID
        if let own = provider.clientID, let client, own != client.rawValue { return .otherClient }
        return nil
    }

    private func find(_ name: String) async throws -> Known {
        let target = try await vault.importTarget(named: name, of: tenant)
        return Known(handle: target?.provider, clientID: target?.clientID)
    }

    func handle(named name: String) async throws -> ProviderHandle? {
        if let found = known[name] { return found.handle }
        return try await find(name).handle
    }

    func note(_ registration: SourceRegistration) { clients[registration.provider] = registration.clientID }

    private func note(_ login: PlannedLogin) {
        guard counts[login.provider] != nil || counts.count < Self.mostNames else { return }
        counts[login.provider, default: 0] += 1
        if clientsOfMissing[login.provider] == nil {
            clientsOfMissing[login.provider] = login.source.clientID ?? clients[login.source.provider]
        }
    }

    /// Providers that the vault lacks, the one with the most rows first.
    var missing: [MissingProvider] {
        counts.map { MissingProvider(name: $0.key, rows: $0.value, clientID: clientsOfMissing[$0.key]) }
            .sorted { ($1.rows, $0.name) < ($0.rows, $1.name) }
    }
}

/// A provider that rows name but the vault lacks.
public struct MissingProvider: Sendable, Hashable {
    /// The name in the plan, or otherwise in the source.
    public let name: String
    public let rows: Int
    /// The client that the rows' refresh tokens are bound to, where the source names it.
    public let clientID: ClientID?
}
