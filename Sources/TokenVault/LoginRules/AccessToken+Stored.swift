package import OAuthClient
package import VaultCrypto

extension AccessToken {
    /// Restores a stored access token; nil if the bytes are none.
    package init?(stored secret: SecretBytes) {
        guard let token = unsafe secret.withUnsafeBytes({ unsafe AccessToken(visible: $0) }) else { return nil }
        self = token
    }
}
