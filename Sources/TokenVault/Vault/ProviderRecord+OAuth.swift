import OAuthClient
import VaultCrypto
import VaultStorage

// Records that were stored after they had been checked, back as OAuth's values.
extension ServerBinding {
    init(_ record: ProviderRecord) throws(OAuthValueError) {
        let secret: ClientSecret? =
            if let text = record.clientSecrets.first?.string() { try ClientSecret(text) } else { nil }
        guard let authentication = ClientAuthentication(methodName: record.clientAuthentication, secret: secret) else {
            throw OAuthValueError(.malformed, "client authentication")
        }
        self.init(
            tokenEndpoint: try EndpointURL(stored: record.tokenEndpoint), clientID: try ClientID(record.clientID),
            authentication: authentication)
    }
}

extension EndpointURL {
    /// Plain `http` to this machine was allowed when the provider was added, or it would not be stored.
    init(stored text: String) throws(OAuthValueError) {
        try self.init(text, allowsInsecureLoopback: true)
    }
}

extension DPoPContext {
    /// Nil if what is stored is no key.
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
