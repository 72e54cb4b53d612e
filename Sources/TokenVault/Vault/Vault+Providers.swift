public import OAuthClient
import VaultCrypto
import VaultStorage

extension Vault {
    /// Adds a provider. The name must be free.
    @discardableResult
    public func addProvider(_ registration: ProviderRegistration) async throws -> Provider {
        let record = try ProviderRecord(registration, createdAt: now)
        return try await VaultError.translating {
            Provider(try await store.putProvider(record, replacing: nil).record)
        }
    }

    public func providers() throws -> [Provider] {
        try VaultError.translating { try store.providers().map { Provider($0.record) } }
    }

    public func provider(named name: String) throws -> Provider {
        try VaultError.translating { Provider(try store.provider(named: name).record) }
    }

    /// How a provider is asked and understood: a shipped profile, or the one that was sealed with it.
    public func profile(ofProvider name: String) throws -> ProviderProfile {
        try VaultError.translatingValues {
            try VaultError.translating { try store.provider(named: name).record }.profile
        }
    }

    /// Removes a provider; refused with ``VaultError/Code/inUse`` while a login belongs to it.
    public func removeProvider(named name: String) async throws {
        try await VaultError.translating {
            let provider = try store.provider(named: name)
            try await store.removeProvider(provider.handle)
        }
    }
}

extension Provider {
    init(_ record: ProviderRecord) {
        self.init(
            name: record.name, issuer: record.issuer, authorizationEndpoint: record.authorizationEndpoint,
            tokenEndpoint: record.tokenEndpoint, revocationEndpoint: record.revocationEndpoint,
            clientID: record.clientID, clientAuthentication: record.clientAuthentication,
            scope: record.defaultScope, redirectURI: record.redirectURI, dpop: DPoPPolicy(record.dpop),
            profile: record.profileName, pushedAuthorizationEndpoint: record.pushedAuthorizationEndpoint,
            clientSecretCount: record.clientSecrets.count)
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

extension ProviderRecord {
    /// Checks everything once, so that what is stored can be used.
    init(_ registration: ProviderRegistration, createdAt: Timestamp) throws {
        guard !registration.name.isEmpty, registration.name.utf8.count <= 128 else {
            throw VaultError(.invalidArgument, "a provider's name has 1 to 128 bytes")
        }
        func checked(_ url: String?) throws -> String? {
            try url.map {
                try EndpointURL($0, allowsInsecureLoopback: registration.allowsInsecureLoopback).rawValue
            }
        }
        let profile = try VaultError.translatingValues { () throws -> ProviderProfile in
            guard let document = registration.profileDocument else { return try .named(registration.profile) }
            return try ProviderProfile(parsing: document, file: "the profile")
        }
        self.init(
            name: registration.name,
            issuer: nil, tokenEndpoint: "", clientID: registration.clientID.rawValue,
            clientAuthentication: registration.authentication.methodName, profileName: profile.name,
            createdAt: createdAt)
        try VaultError.translatingValues {
            issuer = try registration.issuer.map {
                try Issuer($0, allowsInsecureLoopback: registration.allowsInsecureLoopback).rawValue
            }
            tokenEndpoint = try checked(registration.tokenEndpoint) ?? ""
            authorizationEndpoint = try checked(registration.authorizationEndpoint)
            let revocation = registration.revocationEndpoint?
                .replacing("{client_id}", with: registration.clientID.rawValue)
            revocationEndpoint = try checked(revocation)
            pushedAuthorizationEndpoint = try checked(registration.pushedAuthorizationEndpoint)
            defaultScope = try registration.scope.map { try Scope($0).description }
        }
        switch registration.authentication {
        case .none: clientSecrets = []
        case .clientSecretBasic(let secret), .clientSecretPost(let secret):
            clientSecrets = ([secret] + registration.alternativeSecrets).map { SecretBytes(utf8: $0.reveal()) }
        case .privateKeyJWT(let key):
            clientSecrets = [SecretBytes(utf8: key.revealPEM())]
            clientKeyID = key.keyID
        }
        profileDocument = registration.profileDocument.map { String(decoding: $0, as: UTF8.self) }
        redirectURI = registration.redirectURI
        dpop = registration.dpop.stored
        requiresIssuerInCallback = registration.requiresIssuerInCallback
    }
}
