import Crypto
import FoundationEssentials
import OAuthClient

/// The values of one row, converted to the types of a login.
struct FieldReader {
    let row: StoreRow
    let context: StoreContext

    enum TokenReading: Equatable {
        case none
        case placeholder
        case token(String)
    }

    /// Texts that programs store in place of a missing value.
    private static let placeholders: Set<String> = ["None", "null", "NULL", "nil", "undefined", "[object Object]"]

    func text(_ paths: [Path]) throws(RowStop) -> String? {
        switch row[paths]?.reading ?? .none {
        case .none: return nil
        case .text(let text): return text
        case .reject(let reason): throw .reject(reason)
        }
    }

    func token(
        _ paths: [Path], _ description: StoreDescription, _ draft: inout LoginDraft
    ) throws(RowStop) -> TokenReading {
        guard let stored = try stored(paths, description, &draft) else { return .none }
        if Self.placeholders.contains(stored) { return .placeholder }
        let text = try context.open(stored)
        if text.isEmpty { return .none }
        return Self.placeholders.contains(text) ? .placeholder : .token(text)
    }

    /// The value of a token column before the plan's program decrypts it; nil if there is none.
    func stored(
        _ paths: [Path], _ description: StoreDescription, _ draft: inout LoginDraft
    ) throws(RowStop) -> String? {
        if context.decryptor != nil, case .bytes(let bytes)? = row[paths],
            String(validating: bytes, as: UTF8.self) == nil
        {
            return "\\x" + Hex.encode(bytes)
        }
        guard let text = try text(paths) else { return nil }
        let read = try description.readToken(text, &draft, context)
        return read.isEmpty ? nil : read
    }

    func time(_ paths: [Path], _ draft: inout LoginDraft) -> Date? {
        switch Moment(row[paths], context.plan.zonelessTimes) {
        case .none: return nil
        case .at(let date): return date
        case .assumed(let date):
            draft.warn(.zoneAssumed)
            return date
        case .unreadable:
            draft.warn(.expiryUnreadable)
            return nil
        }
    }

    /// Texts with separators, and lists. An unreadable scope is dropped, because it is not worth losing a login.
    func readScope(_ paths: [Path], _ separator: Character, _ draft: inout LoginDraft) {
        let scope: Scope?
        switch row[paths] {
        case nil, .null?: return
        case .array(let values)?:
            let tokens = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            scope = tokens.count == values.count ? try? Scope(tokens: tokens) : nil
        case let value?:
            guard let text = value.text else {
                if case .reject = value.reading { draft.warn(.scopeDropped) }
                return
            }
            let (tokens, isAssumed) = ScopeText.tokens(of: text, separator)
            scope = try? Scope(tokens: tokens)
            if isAssumed, scope != nil { draft.warn(.scopeSeparatorAssumed) }
        }
        guard let scope else { return draft.warn(.scopeDropped) }
        draft.scope = scope.isEmpty ? nil : scope
    }

    /// A private key on P-256 as a JWK (RFC 7518 §6.2), as an object or as its text.
    func key(_ paths: [Path]) throws(RowStop) -> DPoPKey? {
        guard let value = row[paths] else { return nil }
        if case .none = value.reading { return nil }
        guard let key = value.jsonObject, case .string("EC")? = key["kty"], case .string("P-256")? = key["crv"],
            case .string(let encoded)? = key["d"], case .string(let x)? = key["x"], case .string(let y)? = key["y"],
            let bytes = Base64URL.decode(encoded), let made = try? DPoPKey(rawRepresentation: bytes),
            made.isAt(x: x, y: y)
        else { throw .reject(.malformedKey) }
        return made
    }
}

extension DPoPKey {
    /// Whether the public half matches the JWK.
    fileprivate func isAt(x: String, y: String) -> Bool {
        let point = Array(signingKey.publicKey.rawRepresentation)
        return Base64URL.encode(point.prefix(32)) == x && Base64URL.encode(point.suffix(32)) == y
    }
}
