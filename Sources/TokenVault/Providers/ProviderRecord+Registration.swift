import OAuthClient
import VaultCrypto
package import VaultStorage

// Everything is checked once, so that what is stored can be used.
extension ProviderRecord {
    package init(_ registration: ProviderRegistration, of tenant: Tenant? = nil, createdAt: Timestamp) throws {
        let name = try ArgumentCheck.providerName(registration.name)
        self.init(
            name: tenant?.qualify(name) ?? name, issuer: nil, tokenEndpoint: "",
            clientID: registration.clientID.rawValue,
            clientAuthentication: registration.authentication.methodName, profileName: "", createdAt: createdAt)
        try VaultError.translatingValues {
            try set(registration.profileDocument.map { .document($0) } ?? .shipped(registration.profile))
        }
        issuer = registration.issuer?.rawValue
        tokenEndpoint = registration.tokenEndpoint.rawValue
        authorizationEndpoint = registration.authorizationEndpoint?.rawValue
        revocationEndpoint = registration.revocationEndpoint?.rawValue
        introspectionEndpoint = registration.introspectionEndpoint?.rawValue
        pushedAuthorizationEndpoint = registration.pushedAuthorizationEndpoint?.rawValue
        deviceAuthorizationEndpoint = registration.deviceAuthorizationEndpoint?.rawValue
        jwksURI = registration.jwksURI?.rawValue
        defaultScope = registration.scope?.description
        redirectURI = registration.redirectURI?.rawValue
        requiresPushedRequests = registration.requiresPushedRequests
        set(registration.authentication, alternatives: registration.alternativeSecrets.map { .init(utf8: $0.reveal()) })
        dpop = registration.dpop.stored
        requiresIssuerInCallback = registration.requiresIssuerInCallback
        try setAPIOrigins(registration.apiOrigins)
        if let certificate = registration.tokenCertificate {
            guard registration.authentication.certificate.map({ $0 == certificate }) ?? true else {
                throw VaultError(.invalidArgument, "a client shows one certificate, for itself and for its tokens")
            }
            show(certificate)
        }
        bindsTokensToCertificate = registration.bindsTokensToCertificate
        if let management = registration.management { set(management) }
        clientSecretExpiresAt = registration.clientSecretExpiresAt.map { Timestamp($0) } ?? secretEnd(from: createdAt)
        (mostDeaths, daysEndedIsKept) = (registration.mostDeaths, registration.daysEndedIsKept)
        assertionAudience = registration.assertionAudience?.rawValue
        isOfResources = registration.isOfResources
        try checkEnds()
        try checkCertificate()
        try checkVariables()
        try checkProfile()
    }

    package mutating func set(_ management: RegistrationManagement) {
        registrationURI = management.uri.rawValue
        registrationToken = SecretBytes(utf8: management.token.reveal())
    }

    private mutating func show(_ certificate: ClientCertificate?) {
        clientCertificate = certificate?.chainPEM
        clientCertificateKey = certificate.map { SecretBytes(utf8: $0.revealKeyPEM()) }
    }

    /// Checks the demands that a profile such as FAPI 2.0's makes of every client, before the first login fails on
    /// them.
    private mutating func checkProfile() throws {
        let record = self
        let profile = try VaultError.translatingValues { try record.profile }
        if profile.requiresIssuerInCallback { requiresIssuerInCallback = true }
        // An assertion for a token endpoint alone could be used at another server that has named the same one
        // (draft-ietf-oauth-rfc7523bis).
        let isForIssuer =
            assertionAudience.map { $0 == AssertionAudience.issuer.rawValue }
            ?? (profile.client.assertionAudience == .issuer)
        if clientAuthentication == "private_key_jwt", issuer == nil, isForIssuer {
            throw VaultError(
                .invalidArgument, "private_key_jwt needs the provider's issuer, for whom its assertions are",
                hint: "give the issuer as the provider documents it; or, for a provider without one, the audience "
                    + "token-endpoint: --assertion-audience, or assertionAudience in a profile")
        }
        guard profile.requiresBoundTokens else { return }
        guard dpop == .required || bindsTokensToCertificate else {
            throw VaultError(
                .invalidArgument, "the profile \(profile.name) wants tokens that are bound",
                hint: "require DPoP, or let the client show a certificate that tokens are bound to")
        }
        guard profile.authenticationMethods.contains(clientAuthentication) else {
            throw VaultError(
                .invalidArgument, "the profile \(profile.name) does not allow \(clientAuthentication)",
                hint: "it allows \(profile.authenticationMethods.joined(separator: ", "))")
        }
    }

    /// A certificate is shown in a TLS handshake, and nowhere else.
    private func checkCertificate() throws {
        guard clientCertificate != nil else {
            guard !bindsTokensToCertificate else {
                throw VaultError(
                    .invalidArgument, "there is no client certificate that tokens could be bound to",
                    hint: "give one: --client-certificate PATH --client-certificate-key PATH; or do not bind tokens")
            }
            return
        }
        let endpoints = [
            tokenEndpoint, revocationEndpoint, introspectionEndpoint, pushedAuthorizationEndpoint,
            deviceAuthorizationEndpoint,
        ]
        guard endpoints.compactMap(\.self).allSatisfy({ $0.hasPrefix("https:") }) else {
            throw VaultError(.invalidArgument, "a client certificate is shown to https endpoints only")
        }
    }

    /// Changes what is asked for, and checks the whole.
    mutating func apply(_ change: ProviderChange, now: Timestamp) throws {
        let firstSecret = clientSecrets.first
        if let profile = change.profile { try VaultError.translatingValues { try set(profile) } }
        if let clientID = change.clientID { self.clientID = clientID.rawValue }
        if let endpoint = change.tokenEndpoint { tokenEndpoint = endpoint.rawValue }
        change.issuer.apply(to: &issuer, \.rawValue)
        change.authorizationEndpoint.apply(to: &authorizationEndpoint, \.rawValue)
        change.revocationEndpoint.apply(to: &revocationEndpoint, \.rawValue)
        change.introspectionEndpoint.apply(to: &introspectionEndpoint, \.rawValue)
        change.pushedAuthorizationEndpoint.apply(to: &pushedAuthorizationEndpoint, \.rawValue)
        change.deviceAuthorizationEndpoint.apply(to: &deviceAuthorizationEndpoint, \.rawValue)
        change.jwksURI.apply(to: &jwksURI, \.rawValue)
        change.scope.apply(to: &defaultScope, \.description)
        change.redirectURI.apply(to: &redirectURI, \.rawValue)
        try applySecrets(of: change)
        if clientSecrets.first != firstSecret { clientSecretExpiresAt = secretEnd(from: now) }
        switch change.clientSecretExpiresAt {
        case .keep where !hasClientSecret: clientSecretExpiresAt = nil
        case .keep: break
        case .set(let date): clientSecretExpiresAt = Timestamp(date)
        case .remove: clientSecretExpiresAt = nil
        }
        switch change.tokenCertificate {
        case .keep: break
        case .set(let certificate): show(certificate)
        case .remove: show(nil)
        }
        if let binds = change.bindsTokensToCertificate { bindsTokensToCertificate = binds }
        if let certificate = change.authentication?.certificate {
            show(certificate)
        } else if change.authentication != nil, change.tokenCertificate.isKept, !bindsTokensToCertificate {
            show(nil)
        }
        if let requires = change.requiresPushedRequests { requiresPushedRequests = requires }
        if let dpop = change.dpop { self.dpop = dpop.stored }
        if let requires = change.requiresIssuerInCallback { requiresIssuerInCallback = requires }
        try applyAPIOrigins(of: change)
        change.mostDeaths.apply(to: &mostDeaths)
        change.daysEndedIsKept.apply(to: &daysEndedIsKept)
        change.assertionAudience.apply(to: &assertionAudience, \.rawValue)
        try checkEnds()
        try checkCertificate()
        try checkVariables()
        try checkProfile()
        let record = self
        try VaultError.translatingValues { _ = try ServerBinding(record, for: record.profile.exampleValues) }
    }

    /// When a new client secret ends, as far as the profile knows: a day, so that a change that is shown first and made then
    /// is the same.
    private func secretEnd(from now: Timestamp) -> Timestamp? {
        guard hasClientSecret, let lifetime = try? profile.secretLifetime else { return nil }
        let day: Int64 = 86_400_000
        return Timestamp(milliseconds: now.advanced(by: lifetime).milliseconds / day * day)
    }

    /// Whether there is a secret that can end. A key is kept among the secrets, too.
    private var hasClientSecret: Bool { clientAuthentication.hasPrefix("client_secret") && !clientSecrets.isEmpty }

    private func checkEnds() throws {
        guard clientSecretExpiresAt == nil || hasClientSecret else {
            throw VaultError(
                .invalidArgument, "the client has no secret that could end",
                hint: "give the secret, too: --client-secret-file PATH; or leave --client-secret-expires out")
        }
        guard (0...100_000).contains(mostDeaths ?? 0), (1...365).contains(daysEndedIsKept ?? 1) else {
            throw VaultError(
                .invalidArgument,
                "a provider may end 0 to 100000 logins in a row, and what it ended is kept for 1 to 365 days")
        }
    }

    private mutating func applyAPIOrigins(of change: ProviderChange) throws {
        guard change.apiOrigins != nil || !change.addedAPIOrigins.isEmpty || !change.removedAPIOrigins.isEmpty else {
            return
        }
        var origins = try change.apiOrigins ?? VaultError.translatingValues { try allowedOrigins }
        origins += change.addedAPIOrigins
        let hadSome = !origins.isEmpty
        origins.removeAll { change.removedAPIOrigins.contains($0) }
        guard !hadSome || !origins.isEmpty else {
            throw VaultError(
                .invalidArgument, "without its last API origin, the provider's tokens could be sent to every https URL",
                hint: "if that is right, set an empty list")
        }
        try setAPIOrigins(origins)
    }

    /// Each of them once, in the order in which they were named.
    private mutating func setAPIOrigins(_ origins: [APIOrigin]) throws {
        var known: Set<APIOrigin> = []
        apiOrigins = origins.filter { known.insert($0).inserted }.map(\.rawValue)
        guard apiOrigins.count <= 64 else {
            throw VaultError(.invalidArgument, "a provider has up to 64 API origins")
        }
    }

    private mutating func applySecrets(of change: ProviderChange) throws {
        var alternatives = Array(clientSecrets.dropFirst())
        if let secrets = change.alternativeSecrets { alternatives = secrets.map { SecretBytes(utf8: $0.reveal()) } }
        let added = change.addedSecrets.map { SecretBytes(utf8: $0.reveal()) }
        if change.authentication == nil, let first = clientSecrets.first, added.contains(first) {
            throw VaultError(
                .invalidArgument, "the first client secret cannot follow itself",
                hint: "the second one is another secret, which the provider accepts, too")
        }
        for secret in added where !alternatives.contains(secret) { alternatives.append(secret) }
        if let authentication = change.authentication {
            set(authentication, alternatives: alternatives)
        } else if change.alternativeSecrets != nil || !added.isEmpty {
            guard clientAuthentication.hasPrefix("client_secret"), let first = clientSecrets.first else {
                let isDrop = change.alternativeSecrets?.isEmpty == true && added.isEmpty
                throw VaultError(
                    .invalidArgument,
                    isDrop
                        ? "this client has no further secrets: there is nothing to drop"
                        : "this client has no secret that another one could follow")
            }
            clientSecrets = [first] + alternatives
        }
        if change.promotesNextSecret {
            guard clientSecrets.count > 1 else {
                throw VaultError(
                    .invalidArgument, "this client has no second secret",
                    hint: "add the new one first: --second-client-secret-file PATH")
            }
            clientSecrets.append(clientSecrets.removeFirst())
        }
    }

    private mutating func set(_ authentication: ClientAuthentication, alternatives: [SecretBytes]) {
        clientAuthentication = authentication.methodName
        (clientKeyID, clientKeyAlgorithm) = (nil, nil)
        switch authentication {
        case .none: clientSecrets = []
        case .clientSecretBasic(let secret), .clientSecretPost(let secret):
            let first = SecretBytes(utf8: secret.reveal())
            // One that was to follow and now comes first does not follow itself.
            clientSecrets = [first] + alternatives.filter { $0 != first }
        case .privateKeyJWT(let key):
            clientSecrets = [SecretBytes(utf8: key.revealPEM())]
            clientKeyID = key.keyID
            clientKeyAlgorithm = key.isRSA ? key.algorithm.rawValue : nil
        case .tlsClientAuth(let certificate), .selfSignedTLSClientAuth(let certificate):
            clientSecrets = []
            show(certificate)
        }
    }

    private mutating func set(_ profile: ProviderChange.Profile) throws(ProfileError) {
        switch profile {
        case .shipped(let name):
            profileName = try ProviderProfile.named(name).name
            profileDocument = nil
        case .document(let bytes):
            profileName = try ProviderProfile(parsing: bytes, file: "the profile").name
            profileDocument = String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension ProviderChange.Field<Int> {
    fileprivate func apply(to stored: inout Int?) {
        switch self {
        case .keep: break
        case .set(let new): stored = new
        case .remove: stored = nil
        }
    }
}

extension ProviderChange.Field {
    fileprivate var isKept: Bool { if case .keep = self { true } else { false } }

    fileprivate func apply(to stored: inout String?, _ text: (Value) -> String) {
        switch self {
        case .keep: break
        case .set(let new): stored = text(new)
        case .remove: stored = nil
        }
    }
}
