/// What a resource server accepts (RFC 6749 §1.4, Appendix A.12).
public struct AccessToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "access token")
    }

    /// Of bytes that were stored; nil if they are no access token.
    ///
    /// Every read comes by here: what is visible is ASCII, so no text has to be compared with what it was made from.
    package init?(visible bytes: UnsafeRawBufferPointer) {
        guard unsafe !bytes.isEmpty, bytes.count <= SecretGrammar.maximumBytes,
            unsafe SecretGrammar.isVisible(bytes.assumingMemoryBound(to: UInt8.self).span)
        else { return nil }
        value = unsafe String(decoding: bytes, as: UTF8.self)
    }

    public func reveal() -> String { value }
}
