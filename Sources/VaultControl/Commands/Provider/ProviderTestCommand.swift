import ArgumentParser
import OAuthClient
import TokenVault

struct ProviderTestCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Check a provider's metadata and profile, and say what is missing.",
        discussion: """
            vaultctl provider test acme

            Asks the provider for its metadata, if the vault knows its issuer, and compares. Sends no token. Exit code 9 \
            if the provider cannot be reached or something that a log-in needs is missing.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let (provider, profile) = try await access.open { vault in
            (try vault.provider(named: name), try vault.profile(ofProvider: name))
        }
        let metadata = try await metadata(of: provider, access)
        let findings = ProviderFindings(provider, profile, metadata)
        try invocation.emit(
            Sheet([
                .data("provider", ProviderFacts.sheet(provider)), .data("hasMetadata", metadata != nil),
                .data("findings", findings.all.map(\.sheet)),
            ]),
            text: invocation.text(
                ProviderFacts.sheet(provider)
                    + [.line("metadata", provider.issuer == nil ? "not asked: no issuer" : "found")]
                    + Sheet(findings.all.map { .line($0.isFatal ? "missing" : "note", $0.text) })))
        guard !findings.all.contains(where: \.isFatal) else {
            throw invocation.end(
                afterOutput: Failure(
                    .provider, "the provider cannot be used as it is",
                    hints: ["vaultctl provider update \(Printable.escape(name)) changes it; --rediscover asks it again"]
                ))
        }
    }

    private func metadata(of provider: Provider, _ access: VaultAccess) async throws -> ServerMetadata? {
        guard let text = provider.issuer else { return nil }
        do {
            // What is stored was allowed when it was added.
            return try await access.discover(text, allowsInsecureLoopback: true)
        } catch let error as DiscoveryError {
            throw Failure(
                .provider, code: "discoveryFailed", error.description, hints: ["check the issuer and the network"])
        }
    }
}

/// What does not fit between the vault, the profile and the metadata.
struct ProviderFindings {
    struct Finding {
        let isFatal: Bool
        let text: String

        var sheet: Sheet { [.data("missing", isFatal), .data("text", text)] }
    }

    private(set) var all: [Finding] = []

    init(_ provider: Provider, _ profile: ProviderProfile, _ metadata: ServerMetadata?) {
        if provider.authorizationEndpoint == nil { missing("no authorization endpoint, so no user can log in") }
        if provider.pushedAuthorizationEndpoint == nil {
            if profile.wantsPushedRequests {
                missing("the profile wants pushed requests, and no endpoint for them is known")
            } else if provider.requiresPushedRequests {
                missing("the provider takes pushed requests alone, and no endpoint for them is known")
            }
        }
        if provider.revocationEndpoint == nil { note("no revocation endpoint, so a log-out cannot end its grants") }
        let methods = profile.authenticationMethods
        if !methods.isEmpty, !methods.contains(provider.clientAuthentication) {
            note("the profile does not list \(provider.clientAuthentication)")
        }
        if profile.keyBinding == .required, provider.dpop != .required {
            missing("the profile requires DPoP, and this provider was added without")
        }
        if provider.clientSecretCount > 1 {
            note("\(provider.clientSecretCount) client secrets: the first alone goes with refresh tokens and codes")
        }
        guard let metadata else { return }
        compare("token endpoint", provider.tokenEndpoint, metadata.tokenEndpoint.rawValue)
        compare("authorization endpoint", provider.authorizationEndpoint, metadata.authorizationEndpoint?.rawValue)
        compare("revocation endpoint", provider.revocationEndpoint, metadata.revocationEndpoint?.rawValue)
        if provider.dpop == .required, !metadata.supportsDPoP { missing("the provider does not speak DPoP with ES256") }
        let offered = metadata.tokenEndpointAuthMethodsSupported
        if provider.clientAuthentication != "none", !offered.contains(provider.clientAuthentication) {
            missing("the provider does not take \(provider.clientAuthentication)")
        }
        if profile.usesPKCE, !metadata.supportsPKCE { note("the metadata does not offer PKCE with S256") }
    }

    private mutating func compare(_ what: String, _ stored: String?, _ told: String?) {
        guard let told, let stored, told != stored else { return }
        note("the metadata names another \(what): \(Printable.shortened(told, to: 200))")
    }

    private mutating func missing(_ text: String) { all.append(Finding(isFatal: true, text: text)) }
    private mutating func note(_ text: String) { all.append(Finding(isFatal: false, text: text)) }
}
