import HTTPTypes

extension HTTPField.Name {
    static let dpop = literal("DPoP")
    static let dpopNonce = literal("DPoP-Nonce")
    static let pragma = literal("Pragma")
    static let referrerPolicy = literal("Referrer-Policy")
    static let frameOptions = literal("X-Frame-Options")
    static let contentTypeOptions = literal("X-Content-Type-Options")
    static let devControl = literal("X-Dev-Control")

    private static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("not a field name: \(text)") }
        return name
    }
}
