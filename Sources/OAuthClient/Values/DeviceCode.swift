/// A code that a device uses to request the tokens that its user approves elsewhere (RFC 8628 §3.2). It works once.
public struct DeviceCode: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "device code")
    }

    public func reveal() -> String { value }
}
