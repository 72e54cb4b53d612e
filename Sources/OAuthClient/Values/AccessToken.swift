/// A token that a resource server accepts (RFC 6749 §1.4, Appendix A.12).
public struct AccessToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "access token")
    }

    /// Reads stored bytes; nil if they are not an access token.
    ///
    /// Every read calls this: visible characters are ASCII, so no text has to be compared with its source.
    package init?(visible bytes: UnsafeRawBufferPointer) {
        guard unsafe !bytes.isEmpty, bytes.count <= SecretGrammar.maximumBytes,
            unsafe SecretGrammar.isVisible(bytes.assumingMemoryBound(to: UInt8.self).span)
        else { return nil }
        value = unsafe String(decoding: bytes, as: UTF8.self)
    }

    public func reveal() -> String { value }
}
