package import OAuthClient
package import VaultStorage

extension Vault {
    /// Adds a provider, for the users of one tenant or for those of none. Its name must be free there.
    @discardableResult
    public func addProvider(
        _ registration: ProviderRegistration, of tenant: Tenant? = nil
    ) async throws -> Provider {
        TenantScope(tenant: tenant).plain(try await register(registration, of: tenant))
    }

    /// The same. The provider has its qualified name.
    ///
    /// - Parameter isRehearsal: Whether nothing is added in the end.
    package func register(
        _ registration: ProviderRegistration, of tenant: Tenant?, isRehearsal: Bool = false
    ) async throws -> Provider {
        let record = try ProviderRecord(registration, of: tenant, createdAt: now)
        try await refuseSharing(record)
        return try await VaultError.translating {
            try Provider(await store.putProvider(record, replacing: nil, isRehearsal: isRehearsal).record)
        }
    }

    /// All providers, or those of one tenant under their names in it, in the order in which they were added. One that cannot be
    /// opened is left out; `vaultctl damage list` lists it.
    public func providers(of tenant: Tenant? = nil) async throws -> [Provider] {
        let scope = TenantScope(tenant: tenant)
        return try await providerEntries().compactMap(\.provider).filter { scope.has($0.name) }.map { scope.plain($0) }
    }

    /// In the order in which they were added.
    package func providerEntries() async throws -> [ProviderEntry] {
        try await VaultError.translating {
            try await store.providers().map { listing in
                listing.provider.flatMap { try? .provider(Provider($0.record)) }
                    ?? .damaged(
                        handle: listing.handle?.text ?? DamagedRowName.row(.provider, listing.sequence).description,
                        listing.damage?.message ?? "the row cannot be opened")
            }
        }
    }

    /// The provider of this name. Throws ``VaultError/Code/unknownProvider`` if there is none.
    public func provider(named name: String, of tenant: Tenant? = nil) async throws -> Provider {
        let scope = TenantScope(tenant: tenant)
        return try await VaultError.translating {
            scope.plain(try Provider(await store.provider(named: scope.provider(name)).record))
        }
    }

    /// The provider of this name; nil where none is named.
    package func handle(ofProvider name: String?) async throws -> ProviderHandle? {
        guard let name else { return nil }
        return try await VaultError.translating { try await store.provider(named: name).handle }
    }

    /// How a provider is asked and understood: a shipped profile, or the one that was sealed with it.
    package func profile(ofProvider name: String) async throws -> ProviderProfile {
        let record = try await VaultError.translating { try await store.provider(named: name).record }
        return try VaultError.translatingValues { try record.profile }
    }

    /// The certificate that is shown to a provider, with its key; nil: none.
    package func certificate(ofProvider name: String) async throws -> ClientCertificate? {
        let record = try await VaultError.translating { try await store.provider(named: name).record }
        return try VaultError.translatingValues { try record.certificate }
    }

    /// Removes a provider; refused with ``VaultError/Code/inUse`` while a login belongs to it, or a revocation waits for it.
    public func removeProvider(named name: String, of tenant: Tenant? = nil) async throws {
        try await removeProvider(named: name, of: tenant, force: false)
    }

    /// The same.
    ///
    /// - Parameter force: Removes it even if revocations wait for it: without it, they cannot be sent.
    package func removeProvider(named name: String, of tenant: Tenant? = nil, force: Bool) async throws {
        let name = TenantScope(tenant: tenant).provider(name)
        try await VaultError.translating {
            let provider = try await store.provider(named: name)
            let waiting = if force { 0 } else { try await revocationsWaiting(for: provider.handle) }
            guard waiting == 0 else {
                throw VaultError(
                    .inUse, "\(waiting) pending revocation\(waiting == 1 ? "" : "s") could no longer be sent",
                    hint: "wait until the provider has confirmed, or force the removal")
            }
            try await store.removeProvider(provider.handle)
        }
    }
}

extension TenantScope {
    /// With its name within the tenant.
    func plain(_ provider: Provider) -> Provider {
        var provider = provider
        provider.name = plain(provider: provider.name)
        return provider
    }
}

extension Provider {
    /// A provider from its record, whose values were checked before they were stored.
    package init(_ record: ProviderRecord) throws {
        self = try VaultError.translatingValues {
            func endpoint(_ text: String?) throws(OAuthValueError) -> EndpointURL? {
                if let text { try EndpointURL(stored: text) } else { nil }
            }
            return try Provider(
                name: record.name, issuer: record.issuer.map { try Issuer($0, allowsInsecureLoopback: true) },
                authorizationEndpoint: endpoint(record.authorizationEndpoint),
                tokenEndpoint: EndpointURL(stored: record.tokenEndpoint),
                revocationEndpoint: endpoint(record.revocationEndpoint), clientID: ClientID(record.clientID),
                clientAuthentication: record.clientAuthentication, scope: record.defaultScope.map { try Scope($0) },
                redirectURI: record.redirectURI.map { try RedirectURI($0) }, dpop: DPoPPolicy(record.dpop),
                profile: record.profileName, pushedAuthorizationEndpoint: endpoint(record.pushedAuthorizationEndpoint),
                clientSecretCount: record.clientSecrets.count,
                introspectionEndpoint: endpoint(record.introspectionEndpoint),
                deviceAuthorizationEndpoint: endpoint(record.deviceAuthorizationEndpoint),
                jwksURI: endpoint(record.jwksURI),
                requiresPushedRequests: record.requiresPushedRequests, apiOrigins: record.allowedOrigins,
                certificate: record.certificate.map { Provider.CertificateView($0) },
                bindsTokensToCertificate: record.bindsTokensToCertificate,
                isRegistrationManaged: record.registrationToken != nil,
                clientSecretExpiresAt: record.clientSecretExpiresAt?.date, mostDeaths: record.mostDeaths,
                daysEndedIsKept: record.daysEndedIsKept,
                assertionAudience: record.assertionAudience.flatMap { AssertionAudience(rawValue: $0) },
                isOfResources: record.isOfResources)
        }
    }
}

extension Provider.CertificateView {
    init(_ certificate: ClientCertificate) {
        self.init(
            thumbprint: certificate.thumbprint, notValidBefore: certificate.notValidBefore,
            notValidAfter: certificate.notValidAfter, isSelfSigned: certificate.isSelfSigned)
    }
}

extension DPoPPolicy {
    init(_ stored: ProviderRecord.DPoPPolicy) {
        self =
            switch stored {
            case .never: .never
            case .whenSupported: .optional
            case .required: .required
            }
    }

    var stored: ProviderRecord.DPoPPolicy {
        switch self {
        case .never: .never
        case .optional: .whenSupported
        case .required: .required
        }
    }
}
