package import OAuthClient
package import VaultCrypto

extension AccessToken {
    /// Of what is stored; nil if it is no access token.
    package init?(stored secret: SecretBytes) {
        guard let token = unsafe secret.withUnsafeBytes({ unsafe AccessToken(visible: $0) }) else { return nil }
        self = token
    }
}
