import OAuthClient
import Synchronization
import VaultCrypto
import VaultStorage

// Restores OAuth values from records that were checked before they were stored.
extension ServerBinding {
    /// - Parameter attributes: Those of the login that is asked for, among them the values of the profile's variables.
    init(_ record: ProviderRecord, for attributes: [String: String] = [:]) throws(OAuthValueError) {
        let profile = try record.profile
        var authentications: [ClientAuthentication] = []
        for secret in record.clientSecrets { authentications.append(try ClientAuthentication(record, secret)) }
        if authentications.isEmpty { authentications.append(try ClientAuthentication(record, nil)) }
        self.init(
            profile: profile, tokenEndpoint: try EndpointURL(stored: record.tokenEndpoint, for: attributes),
            clientID: try ClientID(record.clientID), authentication: authentications.removeFirst(),
            issuer: record.issuer, refreshEndpoint: try profile.endpoints.refresh?.filled(with: attributes))
        if !profile.variables.isEmpty { style = try style.filled(with: attributes) }
        alternatives = authentications
        switch record.assertionAudience {
        case "issuer": assertionAudience = record.issuer
        case "token-endpoint": assertionAudience = nil
        default: break
        }
        tokenCertificate = try record.certificate
    }
}

extension VaultError {
    /// The error for a request that was not sent to a provider.
    package init(unsent code: HTTPTransportError.Code) {
        let words = code.isPermanent ? code.obstacle : "the provider cannot be reached: \(code.obstacle)"
        self.init(code.isPermanent ? .providerMisconfigured : .network, words, hint: code.hint)
    }
}

extension HTTPTransportError.Code {
    /// Whether waiting does not help: the app needs another transport or key, or the provider another address.
    var isPermanent: Bool { self == .refused || self == .noClientCertificate || self == .unsigned }

    /// What keeps a request from a provider.
    var obstacle: String { self == .refused ? "the transport does not send requests to this address" : words }

    /// What to do about it.
    var hint: String {
        switch self {
        case .tls: "check which authority vouches for the provider's certificate, and for which name it is"
        case .dns: "check the host of the provider's endpoints, and this machine's DNS"
        case .proxy: "check the proxy and its credentials"
        case .noClientCertificate: "use AsyncHTTPTransport, or implement send(_:body:limits:showing:)"
        case .unsigned: "check the key that the client signs with"
        case .refused:
            "plain http to this machine needs AsyncHTTPTransport.Options.allowsInsecureLoopback; deniesAddress may "
                + "exclude the address"
        default: "check the network between this machine and the provider's endpoints"
        }
    }
}

extension ClientAuthentication {
    fileprivate init(_ record: ProviderRecord, _ secret: SecretBytes?) throws(OAuthValueError) {
        if let certificate = try record.certificate,
            let authentication = ClientAuthentication(
                methodName: record.clientAuthentication, certificate: certificate)
        {
            self = authentication
            return
        }
        let text = secret?.string()
        if record.clientAuthentication == "private_key_jwt", let text {
            let algorithm = try record.clientKeyAlgorithm.map { name throws(OAuthValueError) in
                guard let algorithm = ClientAssertionKey.Algorithm(rawValue: name) else {
                    throw OAuthValueError(.malformed, "algorithm of the client key")
                }
                return algorithm
            }
            self = .privateKeyJWT(
                try ClientAssertionKey(pem: text, keyID: record.clientKeyID, algorithm: algorithm))
            return
        }
        let secret: ClientSecret? = if let text { try ClientSecret(text) } else { nil }
        guard let authentication = ClientAuthentication(methodName: record.clientAuthentication, secret: secret) else {
            throw OAuthValueError(.malformed, "client authentication")
        }
        self = authentication
    }
}

extension ProviderRecord {
    /// How the client authenticates, by its first secret where it has several.
    package var authentication: ClientAuthentication {
        get throws(OAuthValueError) { try ClientAuthentication(self, clientSecrets.first) }
    }

    /// Whether it has nothing to authenticate with.
    var isPublicClient: Bool { clientAuthentication == "none" }

    /// The means to manage the client's registration; nil if it was made elsewhere.
    package var management: RegistrationManagement? {
        get throws(OAuthValueError) {
            guard let registrationURI, let token = registrationToken?.string() else { return nil }
            return RegistrationManagement(
                uri: try EndpointURL(stored: registrationURI), token: try AccessToken(token))
        }
    }

    /// The client's certificate for its connections; nil if it has none.
    var certificate: ClientCertificate? {
        get throws(OAuthValueError) {
            guard let clientCertificate else { return nil }
            guard let key = clientCertificateKey?.string() else {
                throw OAuthValueError(.malformed, "key of the client certificate")
            }
            return try ClientCertificate(chainPEM: clientCertificate, keyPEM: key)
        }
    }

    /// The profile for requests to this provider and for its replies.
    package var profile: ProviderProfile {
        get throws(OAuthValueError) {
            do throws(ProfileError) {
                if let profileDocument {
                    return try ParsedProfiles.profile(profileDocument, file: "\(profileName).json")
                }
                // The name in records from before there were profiles.
                return profileName == "rfc" ? .generic : try .named(profileName)
            } catch {
                throw OAuthValueError(.malformed, "provider profile")
            }
        }
    }
}

/// The operator's own profiles that were parsed recently. The result depends only on the text, and each renewal needs
/// it several times.
private enum ParsedProfiles {
    private struct Key: Hashable {
        let document: String
        let file: String
    }

    private static let recent = Mutex(RecentTable<Key, ProviderProfile>(capacity: 64))

    static func profile(_ document: String, file: String) throws(ProfileError) -> ProviderProfile {
        let key = Key(document: document, file: file)
        if let known = recent.withLock({ $0[key] }) { return known }
        let profile = try ProviderProfile(parsing: Array(document.utf8), file: file)
        recent.withLock { $0.insert(profile, for: key) }
        return profile
    }
}

extension EndpointURL {
    /// Plain `http` to this machine was allowed when the provider was added, or it would not be stored.
    init(stored text: String) throws(OAuthValueError) {
        try self.init(text, allowsInsecureLoopback: true, allowsVariables: true)
    }

    /// The address for one login.
    init(stored text: String, for attributes: [String: String]) throws(OAuthValueError) {
        self = try EndpointURL(stored: text).filled(with: attributes)
    }
}

extension Scope {
    /// Nil for nil. Values from a provider were checked before they were stored.
    init?(stored text: String?) {
        guard let text, let scope = try? Scope(text) else { return nil }
        self = scope
    }
}

extension DPoPContext {
    /// Nil if the stored bytes are no key.
    init?(_ record: KeyRecord) {
        self.init(privateKey: record.dpopPrivateKey, nonces: record.nonces)
    }

    init?(privateKey: SecretBytes, nonces: [String: String] = [:]) {
        let bytes = unsafe privateKey.withUnsafeBytes { unsafe [UInt8]($0) }
        guard let key = try? DPoPKey(rawRepresentation: bytes) else { return nil }
        self.init(key: key, nonces: nonces.compactMapValues { DPoPNonce($0) })
    }
}

extension KeyRecord {
    init(_ key: DPoPKey, nonces: [String: DPoPNonce] = [:]) {
        self.init(
            dpopPrivateKey: SecretBytes(copying: key.revealRawRepresentation()), nonces: nonces.mapValues(\.rawValue))
    }
}
