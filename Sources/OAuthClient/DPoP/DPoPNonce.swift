package import HTTPTypes

/// A value that a server expects in the next proof (RFC 9449 §8). Opaque: neither trimmed nor decoded.
public struct DPoPNonce: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let rawValue: String

    /// `1*NQCHAR` (RFC 9449 §8.1), at most 2 KiB; nil for anything else.
    public init?(_ rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= 2_048,
            rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        self.rawValue = rawValue
    }

    /// The nonce of a reply, if it has exactly one well-formed `DPoP-Nonce` field.
    package init?(in response: HTTPResponse) {
        let values = response.headerFields[values: .dpopNonce]
        guard values.count == 1, let value = values.first else { return nil }
        self.init(value)
    }

    public var description: String { "<nonce>" }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

extension HTTPField.Name {
    package static let dpop = literal("DPoP")
    package static let dpopNonce = literal("DPoP-Nonce")

    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(name)") else { preconditionFailure("not a field name") }
        return name
    }
}
