/// Refresh tokens in a reply that cannot be read as a whole: a truncated body, or one with tokens among other text.
///
/// Guesswork for an operator: the results were never checked by the rules of a reply.
package enum SalvagedTokens {
    private static let names = ["refresh_token", "refreshToken"].map { Array($0.utf8) }

    /// Whether the body mentions a refresh token.
    package static func mayBe(in body: [UInt8]) -> Bool {
        let body = unpacked(body)
        return names.contains { name in body.firstRange(of: name) != nil }
    }

    /// The body, or its readable part if it is compressed.
    package static func unpacked(_ body: [UInt8]) -> [UInt8] { ContentCoding.salvaged(body) }

    /// All distinct tokens, in order of appearance.
    ///
    /// - Parameter isComplete: whether a value at the very end is known to be complete.
    package static func find(in body: [UInt8], isComplete: Bool) -> [RefreshToken] {
        let body = unpacked(body)
        var found: [RefreshToken] = []
        for name in names {
            var rest = body[...]
            while let range = rest.firstRange(of: name) {
                rest = rest[range.upperBound...]
                guard let value = jsonValue(rest) ?? formValue(rest, isComplete: isComplete),
                    let token = try? RefreshToken(String(decoding: value, as: UTF8.self)),
                    !found.contains(where: { $0.reveal() == token.reveal() })
                else { continue }
                found.append(token)
            }
        }
        return found
    }

    /// Reads `": "value"` after the name. An unterminated value is only part of a token, so it is ignored, as is one
    /// with an escape, which no token of RFC 6749 needs except for a slash.
    private static func jsonValue(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = text
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        rest = rest.drop(while: isSpace)
        guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
        rest = rest.drop(while: isSpace)
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard rest.popFirst() == UInt8(ascii: "/") else { return nil }
                value.append(UInt8(ascii: "/"))
            default: value.append(byte)
            }
        }
        return nil
    }

    /// Reads `=value` after the name, up to the next member or the end.
    private static func formValue(_ text: ArraySlice<UInt8>, isComplete: Bool) -> [UInt8]? {
        guard text.first == UInt8(ascii: "=") else { return nil }
        let value = text.dropFirst().prefix { $0 != UInt8(ascii: "&") && !isSpace($0) }
        guard isComplete || value.endIndex < text.endIndex else { return nil }
        let plain = Array(value)
        return plain.contains(UInt8(ascii: "%")) || plain.contains(UInt8(ascii: "+")) ? nil : plain
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
