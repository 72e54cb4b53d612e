extension AuthorizationCallback {
    /// Reads a callback URL, or only its query.
    ///
    /// A repeated parameter is rejected (RFC 6749 §3.1), because two readers might choose different values.
    public init(parsing text: String) throws(AuthorizationCallbackError) {
        try self.init(parsingAny: text)
        guard answer != nil else { throw AuthorizationCallbackError(.missingAnswer) }
    }

    /// The same, for a provider that may have a name of its own for the code.
    package init(parsingAny text: String) throws(AuthorizationCallbackError) {
        guard text.utf8.count <= 131_072 else { throw AuthorizationCallbackError(.malformed) }
        guard !Self.isWithoutQuery(text) else { throw AuthorizationCallbackError(.missingAnswer) }
        guard let query = Self.query(of: text), let parameters = FormCodec.decode(query)
        else { throw AuthorizationCallbackError(.malformed) }
        var values: [String: String] = [:]
        for parameter in parameters where values.updateValue(parameter.value, forKey: parameter.name) != nil {
            throw AuthorizationCallbackError(.repeatedParameter)
        }
        guard let state = values["state"].flatMap({ try? AuthorizationState($0) }) else {
            throw AuthorizationCallbackError(.missingState)
        }
        self.state = state
        issuer = values["iss"]
        self.parameters = values
        if let error = values["error"] {
            guard let code = OAuthErrorCode(error) else { throw AuthorizationCallbackError(.malformed) }
            answer = .refused(code, values["error_description"].map(ServerMessage.init))
        } else if let code = values["code"].flatMap({ try? AuthorizationCode($0) }) {
            answer = .code(code)
        } else {
            answer = nil
        }
    }

    /// Whether it has neither a code nor an error.
    package func isIncomplete(code name: String) -> Bool {
        answer == nil && parameters[name] == nil
    }

    /// Whether this may be the answer of an authorization server, whatever its name for the code is.
    package var mayBeAnswer: Bool {
        // A code that cannot be one is not made up for by anything else.
        answer != nil || (parameters["code"] == nil && parameters.keys.contains { !["state", "iss"].contains($0) })
    }

    /// The code, if this callback answers the request with `expectedState` and comes from `issuer`.
    ///
    /// - Parameters:
    ///   - expectedState: the state of the request that this browser started (RFC 6749 §10.12); compared in constant
    ///     time.
    ///   - issuer: the server that the request went to; nil if it is unknown, and then `iss` is not compared (RFC 9207
    ///     §2.4).
    ///   - issuerIsRequired: whether the server's metadata promises `iss` (RFC 9207 §3).
    ///   - name: the provider's name for the parameter with the code.
    /// - Throws: ``AuthorizationCallbackError``. A refusal is trusted only after state and issuer match.
    public func code(
        expectedState: AuthorizationState, issuer: Issuer?, issuerIsRequired: Bool = false, named name: String = "code"
    ) throws(AuthorizationCallbackError) -> AuthorizationCode {
        guard Self.equal(state.reveal(), expectedState.reveal()) else {
            throw AuthorizationCallbackError(.stateMismatch)
        }
        guard !isIncomplete(code: name) else { throw AuthorizationCallbackError(.missingAnswer) }
        if let named = self.issuer {
            guard issuer == nil || named == issuer?.rawValue else { throw AuthorizationCallbackError(.issuerMismatch) }
        } else if issuerIsRequired {
            // Not trusted, but reported: servers that omit their name in errors are more common than forged errors.
            if case .refused(let error, let message) = answer {
                throw AuthorizationCallbackError(.missingIssuer, error: error, errorDescription: message)
            }
            throw AuthorizationCallbackError(.missingIssuer)
        }
        if case .refused(let error, let message) = answer {
            throw AuthorizationCallbackError(.refused, error: error, errorDescription: message)
        }
        if case .code(let code) = answer, name == "code" { return code }
        guard let code = parameters[name].flatMap({ try? AuthorizationCode($0) }) else {
            throw AuthorizationCallbackError(.missingAnswer)
        }
        return code
    }

    /// The part of a URL after the question mark, or a whole query. Nil if the text could be either: a refusal with a
    /// question mark in one of its values must not become a code.
    private static func query(of text: String) -> Substring.UTF8View? {
        // By bytes, as a browser reads it: Swift combines a mark and the accent after it into one character.
        let rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = rest.firstIndex(of: UInt8(ascii: "?")) else { return rest }
        let front = rest[..<mark]
        guard startsWithScheme(front) || !front.contains(where: "=&".utf8.contains) else { return nil }
        return rest[rest.index(after: mark)...]
    }

    /// A URL that ends before its query, as a browser shows it.
    private static func isWithoutQuery(_ text: String) -> Bool {
        let rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        return startsWithScheme(rest) && !rest.contains(where: "?=&".utf8.contains)
    }

    /// RFC 3986 §3.1
    private static func startsWithScheme(_ text: Substring.UTF8View) -> Bool {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let scheme = text.prefix { $0 != UInt8(ascii: ":") }
        return scheme.first.map(isLetter) == true
            && scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
            && text.dropFirst(scheme.count).starts(with: "://".utf8)
    }

    /// Compares in time that does not depend on the position of the first difference.
    private static func equal(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
