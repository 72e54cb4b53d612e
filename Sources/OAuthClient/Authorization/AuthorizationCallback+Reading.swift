extension AuthorizationCallback {
    /// Reads a callback URL, or its query alone.
    ///
    /// A parameter that is given twice is refused (RFC 6749 §3.1): two readers might choose differently.
    public init(parsing text: String) throws(AuthorizationCallbackError) {
        guard text.utf8.count <= 131_072, let parameters = FormCodec.decode(Self.query(of: text).utf8) else {
            throw AuthorizationCallbackError(.malformed)
        }
        var values: [String: String] = [:]
        for parameter in parameters where values.updateValue(parameter.value, forKey: parameter.name) != nil {
            throw AuthorizationCallbackError(.repeatedParameter)
        }
        guard let state = values["state"].flatMap({ try? AuthorizationState($0) }) else {
            throw AuthorizationCallbackError(.missingState)
        }
        self.state = state
        issuer = values["iss"]
        if let error = values["error"] {
            guard let code = OAuthErrorCode(error) else { throw AuthorizationCallbackError(.malformed) }
            answer = .refused(code, values["error_description"].map(ServerMessage.init))
        } else if let code = values["code"].flatMap({ try? AuthorizationCode($0) }) {
            answer = .code(code)
        } else {
            throw AuthorizationCallbackError(.missingAnswer)
        }
    }

    /// The code, if this callback answers the request with `expectedState` and comes from `issuer`.
    ///
    /// - Parameter issuer: nil if it is not known; then `iss` is not compared.
    /// - Parameter issuerIsRequired: whether the server's metadata promises `iss` (RFC 9207 §3).
    /// - Throws: ``AuthorizationCallbackError``. A refusal is believed only after state and issuer are.
    public func code(
        expectedState: AuthorizationState, issuer: Issuer?, issuerIsRequired: Bool = false
    ) throws(AuthorizationCallbackError) -> AuthorizationCode {
        guard Self.equal(state.reveal(), expectedState.reveal()) else {
            throw AuthorizationCallbackError(.stateMismatch)
        }
        if let named = self.issuer {
            guard issuer == nil || named == issuer?.rawValue else { throw AuthorizationCallbackError(.issuerMismatch) }
        } else if issuerIsRequired {
            throw AuthorizationCallbackError(.issuerMismatch)
        }
        switch answer {
        case .code(let code): return code
        case .refused(let error, let message):
            throw AuthorizationCallbackError(.refused, error: error, errorDescription: message)
        }
    }

    private static func query(of text: String) -> Substring {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        guard let mark = rest.firstIndex(of: "?") else { return rest }
        return rest[rest.index(after: mark)...]
    }

    /// In a time that does not depend on where the first difference is.
    private static func equal(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
