import ArgumentParser
import OAuthClient
import TokenVault
import VaultAdministration

struct ProviderRegisterCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register this client at a provider that lets clients register themselves, and add it.",
        discussion: """
            vaultctl provider register acme --issuer https://login.acme.example --redirect-uri https://app.example/callback

            Dynamic client registration (RFC 7591). The client's id and secret and the token that manages the registration \
            are sealed in the vault; vaultctl provider registration shows, changes and deletes it (RFC 7592). A request is \
            sent once: if its reply is lost, the provider may have registered a client that is not known here.
            """)

    @Argument(help: "The provider's name in the vault.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("The issuer, exactly as the provider documents it.", valueName: "url"))
    var issuer: String

    @Option(help: .init("Where callbacks may go. Repeatable; the first is the default of log-ins.", valueName: "url"))
    var redirectURI: [String] = []

    @Option(help: .init("The name that users see when they are asked for their consent.", valueName: "name"))
    var clientName: String?

    @Option(help: .init("The scope of log-ins that do not specify one.", valueName: "scope"))
    var scope: String?

    @Option(
        help: .init("Whether logins are bound to a DPoP key: never, optional or required.", valueName: "policy"),
        completion: .list(DPoPPolicy.allCases.map(\.rawValue)), transform: DPoPPolicy.init(argument:))
    var dpop: DPoPPolicy = .optional

    @Option(
        help: .init(
            "How the client authenticates: \(Self.methods.joined(separator: ", ")). By default: what the options fit.",
            valueName: "method"),
        completion: .list(Self.methods))
    var clientAuth: String?

    @Option(
        help: .init("The client's private key in PEM, for private_key_jwt.", valueName: "path"), completion: .file())
    var clientKeyFile: String?

    @Option(help: .init("The id under which the key is registered.", valueName: "kid"))
    var clientKeyID: String?

    @Option(
        help: .init("The client's certificate in PEM, for self_signed_tls_client_auth.", valueName: "path"),
        completion: .file())
    var clientCertificate: String?

    @Option(help: .init("The private key of that certificate in PEM.", valueName: "path"), completion: .file())
    var clientCertificateKey: String?

    @OptionGroup var initialAccessToken: SecretOptions<InitialAccessTokenKind>

    @Flag(help: "Accept http:// on this machine, for development servers.")
    var allowInsecureLoopback = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let methods = [
        "none", "client_secret_basic", "client_secret_post", "private_key_jwt", "self_signed_tls_client_auth",
    ]

    func run(_ invocation: Invocation) async throws {
        invocation.warnOfCommas(in: scope)
        guard !redirectURI.isEmpty else {
            throw Failure.usage("a client is registered with its redirect URI", hint: "use --redirect-uri URL")
        }
        var client = ClientRegistration(
            redirectURIs: try redirectURI.map { try RedirectURI($0) }, clientName: clientName,
            scope: try scope.map { try Scope($0, of: "--scope") }, dpop: dpop)
        let options = UserManagerOptions(
            recoveryInterval: nil, retriesRevocationsInBackground: false, allowsInsecureLoopback: allowInsecureLoopback)
        let provider = try await VaultAccess(global, invocation).manage(options) { users, reader in
            if tenant.tenant == nil, let other = try await TenantLookalike(name, in: users.vault) {
                throw Failure.usage(
                    "\(Printable.shortened(name)) would look like a provider of the tenant \(other.tenant.name)",
                    hint: "for a provider of that tenant: vaultctl provider register \(other.typed); otherwise choose "
                        + "another name")
            }
            client.authentication = try authentication(&reader)
            let token = try initialAccessToken.source.map {
                try AccessToken(reader.read("Initial access token", from: $0))
            }
            _ = try Issuer(issuer, allowsInsecureLoopback: allowInsecureLoopback)
            do {
                return try await users.registerProvider(
                    name, of: tenant.tenant?.tenant, issuer: issuer, client, initialAccessToken: token)
            } catch let error as VaultError where error.code == .network && error.answer == nil {
                throw Failure(
                    error.code, error.message,
                    hints: ["check the issuer's URL and the network; for a private authority, use --ca-file FILE"])
            }
        }
        try invocation.emit(ProviderView.record(provider))
        if !provider.isRegistrationManaged {
            invocation.note("note: the provider gave no way to manage the registration: change it in its console")
        }
        invocation.hint(
            "next, log a user in: vaultctl login begin --user ID --provider \(Printable.argument(provider.name))")
    }

    private func authentication(_ reader: inout SecretReader) throws -> ClientRegistration.Authentication {
        let fitting =
            clientKeyFile != nil
            ? "private_key_jwt" : clientCertificate != nil ? "self_signed_tls_client_auth" : "client_secret_basic"
        let method = clientAuth ?? fitting
        let needsKey = method == "private_key_jwt"
        let needsCertificate = method == "self_signed_tls_client_auth"
        guard needsKey == (clientKeyFile != nil), needsKey || clientKeyID == nil,
            needsCertificate == (clientCertificate != nil), needsCertificate == (clientCertificateKey != nil)
        else {
            throw Failure.usage(
                "\(Printable.shortened(method)) and the keys that are named do not fit together",
                hint: "private_key_jwt needs --client-key-file; self_signed_tls_client_auth needs --client-certificate "
                    + "and --client-certificate-key")
        }
        switch method {
        case "none": return .none
        case "client_secret_basic": return .clientSecretBasic
        case "client_secret_post": return .clientSecretPost
        case "private_key_jwt":
            let pem = try reader.read(
                "Client key", for: .privateKey, from: .file(clientKeyFile ?? "", from: "--client-key-file"))
            return .privateKeyJWT(try ClientAssertionKey(pem: pem, keyID: clientKeyID))
        case "self_signed_tls_client_auth":
            let key = try reader.read(
                "Key of the client certificate", for: .privateKey,
                from: .file(clientCertificateKey ?? "", from: "--client-certificate-key"))
            let bytes = try InputFile.read(
                clientCertificate ?? "", "Client certificate", from: "--client-certificate", atMost: 65_536)
            return .selfSignedTLSClientAuth(
                try ClientCertificate(chainPEM: String(decoding: bytes, as: UTF8.self), keyPEM: key))
        default:
            throw Failure.usage(
                "\(Printable.shortened(method)) cannot be registered here",
                hint: "use \(Self.methods.joined(separator: ", "))")
        }
    }
}

enum InitialAccessTokenKind: SecretKind {
    static let option = "initial-access-token"
}
