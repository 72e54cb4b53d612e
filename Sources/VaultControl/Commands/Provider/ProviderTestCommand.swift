import ArgumentParser
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

struct ProviderTestCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Check a provider's metadata and profile, and say what is missing.",
        discussion: """
            vaultctl provider test acme

            Fetches the provider's metadata, if the vault knows its issuer, and compares. Then it asks the token endpoint \
            for nothing, which has to answer that something is missing; a client certificate is shown. Sends no token and no \
            secret. The exit code is 9 if \
            the provider cannot be reached, or something that a log-in needs is missing.

            An endpoint that depends on a value of each log-in, such as {shop}, is tested with --variable shop=acme.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var variables: VariableOptions

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let (provider, profile, certificate) = try await access.open { vault in
            let name = tenant.provider(name)
            return await (
                try vault.provider(named: name), try vault.profile(ofProvider: name),
                try vault.certificate(ofProvider: name)
            )
        }
        let given = try variables.values
        let values = given.isEmpty ? [:] : try profile.valuesForLogIn(given)
        let metadata = try await metadata(of: provider, access)
        var findings = ProviderFindings(provider, profile, metadata, now: invocation.now)
        if values.isEmpty, !profile.variables.isEmpty { findings.noteVariables(of: provider, profile) }
        if let endpoint = try? provider.tokenEndpoint.filled(with: values),
            let outage = await outage(of: endpoint, showing: certificate, access)
        {
            findings.add(outage)
        }
        if let uri = provider.jwksURI, try await !access.canReadKeys(at: uri) { findings.noteUnreadableKeys() }
        try invocation.emit(
            OutputRecord([
                .data("provider", ProviderView.record(provider)), .data("hasMetadata", metadata != nil),
                .data("findings", findings.all.map(\.record)),
            ]),
            text: invocation.text(
                ProviderView.record(provider)
                    + [.line("metadata", provider.issuer == nil ? "not fetched: no issuer" : "found")]
                    + OutputRecord(findings.all.map { .line($0.isFatal ? "missing" : "note", $0.text) })))
        if let fatal = findings.all.first(where: \.isFatal) {
            throw invocation.end(
                afterOutput: Failure(
                    .provider, "the provider cannot be used as it is: \(fatal.text)",
                    hints: [hint(for: fatal, provider, metadata)]))
        }
        if provider.clientSecretCount > 0 {
            invocation.note(
                "note: the client secret was not tried; to try it: vaultctl token client "
                    + Printable.argument(tenant.provider(name)))
        }
    }

    private func hint(
        for finding: ProviderFindings.Finding, _ provider: Provider, _ metadata: ServerMetadata?
    ) -> String {
        guard let option = finding.option else { return "try again later" }
        guard !finding.mayPass else {
            return "check that the server runs, and the network; if it has moved: \(change) \(option)"
        }
        let isNew =
            metadata.map {
                $0.tokenEndpoint != provider.tokenEndpoint || $0.authorizationEndpoint != provider.authorizationEndpoint
                    || $0.pushedAuthorizationRequestEndpoint != provider.pushedAuthorizationEndpoint
            } ?? false
        return "change it: \(change) \(option)" + (isNew ? "; --rediscover asks it again" : "")
    }

    /// Why the token endpoint does not work; nil if it works.
    private func outage(
        of endpoint: EndpointURL, showing certificate: ClientCertificate?, _ access: VaultAccess
    ) async -> ProviderFindings.Finding? {
        guard let transport = try? access.makeTransport() else { return nil }
        let request = HTTPRequest(
            method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.requestTarget,
            headerFields: [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"])
        let answer: Result<HTTPReply, HTTPTransportError>
        do throws(HTTPTransportError) {
            answer = .success(try await transport.send(request, body: [], limits: .init(), showing: certificate))
        } catch {
            answer = .failure(error)
        }
        await transport.shutdown()
        let name = "the token endpoint, \(Printable.shortened(endpoint.rawValue, to: 200)),"
        let option = "--token-endpoint URL"
        switch answer {
        case .failure(let error):
            return .init(text: "\(name) cannot be reached: \(error)", option: option, mayPass: true)
        case .success(let reply):
            switch reply.response.status.code {
            case let status where status >= 500: return .init(text: "\(name) answers \(status)")
            case 404: return .init(text: "\(name) answers 404", option: option)
            case let status where (300..<400).contains(status):
                return .init(text: "\(name) redirects with \(status): its address has changed", option: option)
            case let status where (200..<300).contains(status):
                if reply.body.isWebPage {
                    return .init(
                        text: "\(name) answers \(status) with a web page, not as a token endpoint", option: option)
                }
                // Some providers report an error with a 200.
                guard ProviderAnswer(reply, to: request, body: []).error == nil else { return nil }
                return .init(isFatal: false, text: "\(name) answers an empty request with \(status), and not an error")
            default: return nil
            }
        }
    }

    private func metadata(of provider: Provider, _ access: VaultAccess) async throws -> ServerMetadata? {
        guard let issuer = provider.issuer else { return nil }
        do {
            // A stored URL was allowed when it was added.
            return try await access.discover(issuer, allowsInsecureLoopback: true)
        } catch let error as DiscoveryError {
            let hints = Failure(error, changedBy: change).hints
            throw Failure(.provider, code: "discoveryFailed", error.description, hints: hints)
        }
    }

    /// Changes the provider, with an option after it.
    private var change: String { "vaultctl provider update \(Printable.argument(tenant.provider(name)))" }
}

/// Mismatches between the vault, the profile and the metadata.
struct ProviderFindings {
    struct Finding {
        var isFatal = true
        let text: String
        /// What mends it, after `provider update NAME`; nil if nothing does there.
        var option: String?
        /// Whether it is probably no fault of the registration.
        var mayPass = false

        var record: OutputRecord { [.data("missing", isFatal), .data("text", text)] }
    }

    private(set) var all: [Finding] = []

    init(_ provider: Provider, _ profile: ProviderProfile, _ metadata: ServerMetadata?, now: Date) {
        if let certificate = provider.certificate,
            let problem = CertificateValidity.problem(
                from: certificate.notValidBefore, until: certificate.notValidAfter, now: now)
        {
            missing(
                "the client certificate \(problem)",
                "--client-certificate PATH --client-certificate-key PATH")
        }
        if provider.authorizationEndpoint == nil {
            missing("no authorization endpoint, so no user can log in", "--authorization-endpoint URL")
        }
        if provider.pushedAuthorizationEndpoint == nil {
            if profile.wantsPushedRequests {
                missing(
                    "the profile requires pushed requests, but their endpoint is unknown",
                    "--pushed-authorization-endpoint URL")
            } else if provider.requiresPushedRequests {
                missing(
                    "the provider accepts only pushed requests, but their endpoint is unknown",
                    "--pushed-authorization-endpoint URL")
            }
        }
        if provider.revocationEndpoint == nil { note("no revocation endpoint, so logging out cannot end its grants") }
        let methods = profile.authenticationMethods
        if !methods.isEmpty, !methods.contains(provider.clientAuthentication) {
            note("the profile does not list \(provider.clientAuthentication)")
        }
        if profile.keyBinding == .required, provider.dpop != .required {
            missing("the profile requires DPoP, but this provider was added without it", "--dpop required")
        }
        if provider.clientSecretCount > 1 {
            note("\(provider.clientSecretCount) client secrets: only the first is sent with refresh tokens and codes")
        }
        guard var metadata else { return }
        if provider.certificate != nil { metadata = metadata.forMutualTLS }
        compare("token endpoint", provider.tokenEndpoint, metadata.tokenEndpoint)
        compare("authorization endpoint", provider.authorizationEndpoint, metadata.authorizationEndpoint)
        compare("revocation endpoint", provider.revocationEndpoint, metadata.revocationEndpoint)
        if provider.dpop == .required, !metadata.supportsDPoP {
            missing("the provider does not support DPoP with ES256", "--dpop optional")
        }
        if provider.bindsTokensToCertificate, !metadata.tlsClientCertificateBoundAccessTokens {
            note("the metadata does not say that tokens are bound to client certificates")
        }
        let offered = metadata.tokenEndpointAuthMethodsSupported
        if provider.clientAuthentication != "none", !offered.contains(provider.clientAuthentication) {
            missing("the provider does not accept \(provider.clientAuthentication)", "--client-auth METHOD")
        }
        if provider.clientID.rawValue.hasPrefix("https://"), !metadata.clientIDMetadataDocumentSupported {
            note("the metadata does not say that a client may have the URL of its metadata as its id")
        }
        if profile.usesPKCE(publicClient: true), !metadata.supportsPKCE {
            note("the metadata does not offer PKCE with S256")
        }
        for text in metadata.oddities(for: provider.clientAuthentication) { note(text) }
    }

    mutating func add(_ finding: Finding) { all.append(finding) }

    /// Nothing can be sent to an address that is complete only with the value of a log-in.
    mutating func noteVariables(of provider: Provider, _ profile: ProviderProfile) {
        let endpoints = [
            ("token endpoint", provider.tokenEndpoint), ("authorization endpoint", provider.authorizationEndpoint),
            ("revocation endpoint", provider.revocationEndpoint),
            ("introspection endpoint", provider.introspectionEndpoint),
            ("pushed authorization endpoint", provider.pushedAuthorizationEndpoint),
            ("device authorization endpoint", provider.deviceAuthorizationEndpoint),
        ]
        for variable in profile.variables {
            let names = endpoints.filter { $0.1?.variables.contains(variable.name) == true }.map(\.0)
            guard !names.isEmpty else { continue }
            note(
                "not tested without a value of {\(variable.name)}: \(names.joined(separator: ", ")); with one: "
                    + profile.variables.map(\.option).joined(separator: " "))
        }
    }

    mutating func noteUnreadableKeys() {
        note("its signing keys cannot be read, so the signatures of id tokens are not checked")
    }

    private mutating func compare(_ what: String, _ stored: EndpointURL?, _ found: EndpointURL?) {
        guard let found, let stored, found != stored else { return }
        note("the metadata has a different \(what): \(Printable.shortened(found.rawValue, to: 200))")
    }

    private mutating func missing(_ text: String, _ option: String) { all.append(Finding(text: text, option: option)) }
    private mutating func note(_ text: String) { all.append(Finding(isFatal: false, text: text)) }
}
