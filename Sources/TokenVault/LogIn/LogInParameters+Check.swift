import OAuthClient

extension LogInParameters {
    private static let mostResources = 16
    private static let mostExtra = 32
    private static let longestValue = 4_096
    private static let longestDetails = 16_384

    /// Refuses values that no provider accepts, before anything is sent.
    func check() throws {
        guard resources.count <= Self.mostResources, Set(resources).count == resources.count,
            resources.allSatisfy(ArgumentCheck.isResource)
        else {
            throw VaultError(.invalidArgument, "resources must be at most 16 distinct absolute URIs without fragments")
        }
        guard prompt.map(Self.isPlain) ?? true, contextClasses.allSatisfy({ Self.isPlain($0) && !$0.contains(" ") })
        else { throw VaultError(.invalidArgument, "prompt and context classes are printable ASCII") }
        if let maximumAge, !(Duration.zero...(.seconds(3_155_760_000))).contains(maximumAge) {
            throw VaultError(.invalidArgument, "the maximum age must be between 0 and 100 years")
        }
        if let authorizationDetails, !Self.isArray(authorizationDetails) {
            throw VaultError(.invalidArgument, "authorization details are a JSON array of at most 16 KiB")
        }
        guard extra.count <= Self.mostExtra,
            extra.allSatisfy({ Self.isPlain($0.name) && $0.value.utf8.count <= Self.longestValue })
        else { throw VaultError(.invalidArgument, "there are up to 32 extra parameters of at most 4 KiB") }
        let own = extra.first { AuthorizationURL.ownParameters.contains($0.name) || $0.name == "nonce" }
        if let own {
            throw VaultError(
                .invalidArgument, "the parameter \(own.name) is set by the log-in itself, and cannot be an extra one")
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...longestValue).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isArray(_ text: String) -> Bool {
        guard text.utf8.count <= longestDetails,
            let object = try? JSONObject(document: Array("{\"details\":\(text)}".utf8)), object.names == ["details"],
            case .array? = object["details"]
        else { return false }
        return true
    }
}
