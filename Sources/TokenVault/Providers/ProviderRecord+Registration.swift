import OAuthClient
import VaultCrypto
import VaultStorage

// Everything is checked once, so that what is stored can be used.
extension ProviderRecord {
    init(_ registration: ProviderRegistration, createdAt: Timestamp) throws {
        guard !registration.name.isEmpty, registration.name.utf8.count <= 128 else {
            throw VaultError(.invalidArgument, "a provider's name has 1 to 128 bytes")
        }
        self.init(
            name: registration.name, issuer: nil, tokenEndpoint: "", clientID: registration.clientID.rawValue,
            clientAuthentication: registration.authentication.methodName, profileName: "", createdAt: createdAt)
        let check = EndpointCheck(allowsInsecureLoopback: registration.allowsInsecureLoopback)
        try VaultError.translatingValues {
            try set(registration.profileDocument.map { .document($0) } ?? .shipped(registration.profile))
            issuer = try registration.issuer.map { try check.issuer($0) }
            tokenEndpoint = try check.endpoint(registration.tokenEndpoint)
            authorizationEndpoint = try registration.authorizationEndpoint.map { try check.endpoint($0) }
            revocationEndpoint = try registration.revocationEndpoint.map { try check.endpoint($0, of: clientID) }
            introspectionEndpoint = try registration.introspectionEndpoint.map { try check.endpoint($0) }
            pushedAuthorizationEndpoint = try registration.pushedAuthorizationEndpoint.map { try check.endpoint($0) }
            jwksURI = try registration.jwksURI.map { try check.endpoint($0) }
            defaultScope = try registration.scope.map { try Scope($0).description }
        }
        requiresPushedRequests = registration.requiresPushedRequests
        set(registration.authentication, alternatives: registration.alternativeSecrets.map { .init(utf8: $0.reveal()) })
        redirectURI = try registration.redirectURI.map { try ArgumentCheck.redirectURI($0) }
        dpop = registration.dpop.stored
        requiresIssuerInCallback = registration.requiresIssuerInCallback
    }

    /// Changes what is asked for, and checks the whole.
    mutating func apply(_ change: ProviderChange) throws {
        let check = EndpointCheck(allowsInsecureLoopback: change.allowsInsecureLoopback)
        try VaultError.translatingValues {
            if let profile = change.profile { try set(profile) }
            if let clientID = change.clientID { self.clientID = clientID.rawValue }
            if let endpoint = change.tokenEndpoint { tokenEndpoint = try check.endpoint(endpoint) }
            issuer = try change.issuer.applied(to: issuer) { try check.issuer($0) }
            authorizationEndpoint = try change.authorizationEndpoint.applied(to: authorizationEndpoint) {
                try check.endpoint($0)
            }
            let client = clientID
            revocationEndpoint = try change.revocationEndpoint.applied(to: revocationEndpoint) {
                try check.endpoint($0, of: client)
            }
            introspectionEndpoint = try change.introspectionEndpoint.applied(to: introspectionEndpoint) {
                try check.endpoint($0)
            }
            pushedAuthorizationEndpoint = try change.pushedAuthorizationEndpoint.applied(
                to: pushedAuthorizationEndpoint
            ) { try check.endpoint($0) }
            jwksURI = try change.jwksURI.applied(to: jwksURI) { try check.endpoint($0) }
            defaultScope = try change.scope.applied(to: defaultScope) { try Scope($0).description }
            redirectURI = try change.redirectURI.applied(to: redirectURI) { try ArgumentCheck.redirectURI($0) }
        }
        try applySecrets(of: change)
        if let requires = change.requiresPushedRequests { requiresPushedRequests = requires }
        if let dpop = change.dpop { self.dpop = dpop.stored }
        if let requires = change.requiresIssuerInCallback { requiresIssuerInCallback = requires }
        let record = self
        try VaultError.translatingValues { _ = try ServerBinding(record) }
    }

    private mutating func applySecrets(of change: ProviderChange) throws {
        var alternatives = Array(clientSecrets.dropFirst())
        if let secrets = change.alternativeSecrets { alternatives = secrets.map { SecretBytes(utf8: $0.reveal()) } }
        if let authentication = change.authentication {
            set(authentication, alternatives: alternatives)
        } else if change.alternativeSecrets != nil {
            guard clientAuthentication.hasPrefix("client_secret"), let first = clientSecrets.first else {
                throw VaultError(.invalidArgument, "this client has no secret that another one could follow")
            }
            clientSecrets = [first] + alternatives
        }
        if change.promotesNextSecret {
            guard clientSecrets.count > 1 else {
                throw VaultError(.invalidArgument, "this client has no second secret")
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

/// Takes addresses that tokens may go to.
private struct EndpointCheck {
    let allowsInsecureLoopback: Bool

    func issuer(_ text: String) throws(OAuthValueError) -> String {
        try Issuer(text, allowsInsecureLoopback: allowsInsecureLoopback).rawValue
    }

    func endpoint(_ text: String) throws(OAuthValueError) -> String {
        try EndpointURL(text, allowsInsecureLoopback: allowsInsecureLoopback).rawValue
    }

    func endpoint(_ text: String, of clientID: String) throws(OAuthValueError) -> String {
        try endpoint(text.replacing("{client_id}", with: clientID))
    }
}

extension ProviderChange.Field {
    fileprivate func applied(to old: Value?, _ checked: (Value) throws -> Value) rethrows -> Value? {
        switch self {
        case .keep: old
        case .set(let new): try checked(new)
        case .remove: nil
        }
    }
}
