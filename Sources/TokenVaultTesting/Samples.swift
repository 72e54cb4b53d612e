public import OAuthClient
public import TokenVault

/// Values for tests. Every secret among them carries a marker, so that a scan finds it where it must not be.
///
/// ```swift
/// try await vault.addProvider(Sample.provider())
/// _ = try await users.addLogin(userId: "alice", provider: "acme", accessToken: Sample.accessToken())
/// ```
///
/// None of them throws: whatever a name contains, the sample is valid.
public enum Sample {
    /// Contained in every secret sample.
    public static let marker = "CANARY-"

    /// A registration at a fictitious provider.
    ///
    /// - Parameters:
    ///   - name: Its name in the vault; its URLs are made from it.
    ///   - dpop: Whether its logins are bound to a key. Where they are, replies must say so: `.freshTokens(tokenType: "DPoP")`.
    ///   - canRevoke: Whether it has a revocation endpoint.
    ///   - namesIssuer: Whether its callbacks name it (RFC 9207), and the vault refuses one that does not.
    public static func provider(
        name: String = "acme", dpop: DPoPPolicy = .optional, canRevoke: Bool = true, namesIssuer: Bool = false
    ) -> ProviderRegistration {
        let host = hostLabel(name) + ".example"
        return valid {
            try ProviderRegistration(
                name: name, issuer: Issuer("https://\(host)"),
                authorizationEndpoint: EndpointURL("https://\(host)/authorize"),
                tokenEndpoint: EndpointURL("https://\(host)/token"),
                revocationEndpoint: canRevoke ? EndpointURL("https://\(host)/revoke") : nil,
                clientID: ClientID("client-1"),
                authentication: .clientSecretBasic(ClientSecret(marker + "client-secret")), scope: Scope("read write"),
                // Each has its own, so that callbacks of two servers are not confused.
                redirectURI: RedirectURI(
                    "https://app.example/callback" + (name == "acme" ? "" : "/\(hostLabel(name))")),
                dpop: dpop, requiresIssuerInCallback: namesIssuer)
        }
    }

    /// A second provider, `other`.
    public static func otherProvider() -> ProviderRegistration { provider(name: "other") }

    /// A provider whose logins are all bound to a key (RFC 9449), `bound`. Its replies are
    /// `.freshTokens(tokenType: "DPoP")`.
    public static func boundProvider() -> ProviderRegistration { provider(name: "bound", dpop: .required) }

    public static func accessToken(_ name: String = "1") -> AccessToken {
        valid { try AccessToken(marker + "access-" + visible(name)) }
    }

    public static func refreshToken(_ name: String = "1") -> RefreshToken {
        valid { try RefreshToken(marker + "refresh-" + visible(name)) }
    }

    private static let longestName = 4_096
    private static let longestLabel = 48

    /// What a token may not contain is replaced.
    private static func visible(_ name: String) -> String {
        String(
            decoding: name.utf8.prefix(longestName).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "_") },
            as: UTF8.self)
    }

    /// A label of a host name, the same for the same name.
    private static func hostLabel(_ name: String) -> String {
        let letters = name.lowercased().utf8.prefix(longestLabel).map { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) ? byte : UInt8(ascii: "-")
        }
        let label = String(decoding: letters, as: UTF8.self)
        let isPlain = !label.isEmpty && label.first != "-" && label.last != "-"
        return isPlain ? label : "x\(label)x"
    }

    /// The parts are constants, and names that were made fit for their place.
    private static func valid<Value>(_ make: () throws -> Value) -> Value {
        do {
            return try make()
        } catch {
            preconditionFailure("a sample is not valid: \(error)")
        }
    }
}
