import Crypto

/// Ties a log-in to the browser that started it: store it in a cookie of that browser, and pass it back with the
/// callback.
///
/// Without it, a log-in can start in one browser and finish in another. An attacker could then send a victim the URL of
/// their own log-in, and get the victim's tokens (RFC 9700 §4.7). The cookie should be `HttpOnly`, `Secure` and
/// `SameSite=Lax`, and live no longer than the log-in.
public struct BrowserBinding: OAuthSecret {
    private let value: String

    /// Takes the value of the cookie.
    public init(_ value: String) throws(OAuthValueError) {
        guard value.utf8.count <= 256 else { throw OAuthValueError(.tooLong, "browser binding") }
        self.value = try SecretGrammar.requireVisible(value, "browser binding")
    }

    private init(unchecked value: String) {
        self.value = value
    }

    /// 256 random bits, in characters that are valid in every cookie.
    public static func random() -> BrowserBinding {
        BrowserBinding(unchecked: RandomText.make(byteCount: 32))
    }

    /// The stored form, so that a reader of the pending log-in cannot complete it.
    package var hash: [UInt8] { Array(SHA256.hash(data: Array(value.utf8))) }

    public func reveal() -> String { value }
}
