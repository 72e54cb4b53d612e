import OAuthClient

extension FuzzTarget {
    /// The values of `WWW-Authenticate`, one per line: parsed values can be written, and parse to the same values.
    static let challenge = FuzzTarget("challenge") { bytes throws(FuzzFinding) in
        let values = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let challenges = AuthenticationChallenge.all(in: values)
        try require(challenges.count <= 64, "more challenges than are read")
        for challenge in challenges {
            try require(challenge.parameters.count <= 64, "more parameters than are read")
            try require(challenge.token68 == nil || challenge.parameters.isEmpty, "a challenge of both forms")
            try require(challenge.scheme == challenge.scheme.lowercased(), "a scheme in capitals")
            let isToken = challenge.scheme.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\",;=()".utf8.contains($0) }
            try require(isToken && !challenge.scheme.isEmpty, "a scheme that is no token")
        }
        let written = challenges.map(write).joined(separator: ", ")
        // Escapes may make a value longer than the parser's limit.
        guard written.utf8.count <= 16_384 else { return }
        try require(AuthenticationChallenge.all(in: [written]) == challenges, "challenges do not survive")
    }

    private static func write(_ challenge: AuthenticationChallenge) -> String {
        if let token68 = challenge.token68 { return "\(challenge.scheme) \(token68)" }
        let parameters = challenge.parameters.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\(name)=\"\(escaped)\""
        }
        return parameters.isEmpty ? challenge.scheme : "\(challenge.scheme) \(parameters.joined(separator: ", "))"
    }
}
