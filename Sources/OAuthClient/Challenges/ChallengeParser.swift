/// Reads one `WWW-Authenticate` value (RFC 9110 §11.2, §11.3, §11.6.1).
///
/// The grammar's two lists share the comma as their separator: after a comma comes another parameter if a `=` follows
/// the first token, and a new challenge otherwise. The parser makes one pass, and reads every byte a fixed number of
/// times.
struct ChallengeParser {
    static let maximumBytes = 16_384
    static let maximumChallenges = 64
    static let maximumParameters = 64

    private struct Draft {
        let scheme: String
        var token68: String?
        var parameters: [String: String] = [:]
        var isBroken = false
    }

    private let bytes: [UInt8]
    private var position = 0
    private var draft: Draft?
    private var result: [AuthenticationChallenge] = []

    init(_ value: String) {
        bytes = value.utf8.count <= Self.maximumBytes ? Array(value.utf8) : []
    }

    mutating func challenges() -> [AuthenticationChallenge] {
        while true {
            // Lists may have empty elements (RFC 9110 §5.6.1.2).
            skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            guard position < bytes.count, result.count < Self.maximumChallenges else { break }
            if !takeElement() || !isAtElementEnd() {
                draft?.isBroken = true
                skipToComma()
            }
        }
        finishDraft()
        return result
    }

    /// Reads a parameter of the current challenge, or starts a new one. False if it is neither.
    private mutating func takeElement() -> Bool {
        let start = position
        guard let token = takeToken() else { return false }
        let end = position
        skip(Self.isBlank)
        if peek == UInt8(ascii: "=") {
            position = start
            return takeParameter()
        }
        finishDraft()
        draft = Draft(scheme: token.lowercased())
        if isAtElementEnd() { return true }
        guard position > end else { return false }
        return takeToken68() || takeParameter()
    }

    private mutating func takeToken68() -> Bool {
        let start = position
        skip(Self.isToken68)
        let length = position - start
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        guard length > 0, isAtElementEnd() else {
            position = start
            return false
        }
        draft?.token68 = String(decoding: bytes[start..<end], as: UTF8.self)
        return true
    }

    /// `token BWS = BWS ( token / quoted-string )`
    private mutating func takeParameter() -> Bool {
        guard let name = takeToken()?.lowercased() else { return false }
        skip(Self.isBlank)
        guard peek == UInt8(ascii: "=") else { return false }
        position += 1
        skip(Self.isBlank)
        guard let value = peek == UInt8(ascii: "\"") ? takeQuotedString() : takeToken(), let current = draft,
            // Each name may occur once (§11.2): with two values it is unclear which one counts.
            current.token68 == nil, current.parameters[name] == nil,
            current.parameters.count < Self.maximumParameters
        else { return false }
        draft?.parameters[name] = value
        return true
    }

    private mutating func takeToken() -> String? {
        let start = position
        skip(Self.isTokenByte)
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// Nil, with the position inside, if it is unterminated or contains a control character.
    private mutating func takeQuotedString() -> String? {
        var text: [UInt8] = []
        position += 1
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = peek, Self.isText(escaped) else { return nil }
                position += 1
                text.append(escaped)
            default:
                guard Self.isText(byte) else { return nil }
                text.append(byte)
            }
        }
        return nil
    }

    private mutating func finishDraft() {
        if let draft, !draft.isBroken {
            result.append(
                AuthenticationChallenge(scheme: draft.scheme, token68: draft.token68, parameters: draft.parameters))
        }
        draft = nil
    }

    /// Skips to the next comma outside a quoted string.
    private mutating func skipToComma() {
        while let byte = peek, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") {
                if takeQuotedString() == nil { skip { $0 != UInt8(ascii: ",") } }
            } else {
                position += 1
            }
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ matches: (UInt8) -> Bool) {
        while let byte = peek, matches(byte) { position += 1 }
    }

    private mutating func isAtElementEnd() -> Bool {
        skip(Self.isBlank)
        return peek == nil || peek == UInt8(ascii: ",")
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Text of a quoted string, escaped or not: `HTAB`, `SP`, `VCHAR`, `obs-text` (§5.6.4).
    private static func isText(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static let tokenPunctuation = Set("!#$%&'*+-.^_`|~".utf8)
    private static let token68Punctuation = Set("-._~+/".utf8)

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || tokenPunctuation.contains(byte)
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || token68Punctuation.contains(byte)
    }
}
