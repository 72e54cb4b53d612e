import ArgumentParser
import DevAuthorizationServer

struct AddressOptions: ParsableArguments {
    @Option(help: .init("Port on 127.0.0.1; 0 takes a free one.", valueName: "number"))
    var port = 0

    @Option(help: .init("Issuer to claim instead of the address listened on.", valueName: "url"))
    var issuer: String?

    @Option(help: .init("Serve everything below this path, such as /tenant.", valueName: "path"))
    var issuerPath: String?

    @Option(
        help: .init(
            "Also listen with TLS, where clients may show certificates (RFC 8705): a certificate for localhost, in PEM.",
            valueName: "path"), completion: .file())
    var tlsCertificate: String?

    @Option(help: .init("The private key of that certificate.", valueName: "path"), completion: .file())
    var tlsKey: String?

    @Option(help: .init("Port for TLS on 127.0.0.1; 0 takes a free one.", valueName: "number"))
    var tlsPort = 0

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard (0...65_535).contains(tlsPort) else { throw ValidationError("--tls-port must be between 0 and 65535") }
        guard tlsPort == 0 || tlsCertificate != nil else {
            throw ValidationError("--tls-port needs --tls-certificate and --tls-key")
        }
        guard issuer.map(\.isAbsoluteURI) ?? true else { throw ValidationError("--issuer is not a URL") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key are given together")
        }
        guard issuerPath.map({ $0.hasPrefix("/") && !$0.hasSuffix("/") }) ?? true else {
            throw ValidationError("--issuer-path must begin with / and must not end with it")
        }
    }

    func apply(to configuration: inout AuthorizationServerConfiguration) throws {
        if let tlsCertificate, let tlsKey {
            do {
                configuration.tls = try TLSListener(
                    certificate: TextFile.read(tlsCertificate), key: TextFile.read(tlsKey), port: tlsPort)
            } catch let error as ValidationError {
                throw error
            } catch {
                throw ValidationError("--tls-certificate and --tls-key do not name a certificate and its key")
            }
        }
        configuration.port = port
        configuration.issuer = issuer
        configuration.issuerPath = issuerPath ?? ""
    }
}

struct RegistrationOptions: ParsableArguments {
    @Option(
        help: .init(
            """
            Register a client: ID, ID:basic:SECRET, ID:post:SECRET, ID:jwt: and a JWK or @FILE, ID:tls:@FILE with its own \
            certificate, or ID:tls-subject:@FILE:NAME with that of an authority and a name such as CN=app. Repeatable.
            """,
            valueName: "client"), transform: RegisteredClient.init(argument:))
    var client: [RegisteredClient] = []

    @Option(help: .init("Register a redirect URI for all clients. Repeatable.", valueName: "uri"))
    var redirectURI: [String] = []

    @Option(
        help: .init("A resource that tokens can be requested for, besides /resource. Repeatable.", valueName: "uri"))
    var resource: [String] = []

    @Option(
        help: .init(
            "An issuer that vouches for users: NAME= and its public JWK or @FILE. Repeatable.", valueName: "issuer"),
        transform: TrustedIssuer.init(argument:))
    var trustedIssuer: [TrustedIssuer] = []

    @Option(
        name: .customLong("resource-acr"),
        help: .init("A way to authenticate that /resource accepts (RFC 9470). Repeatable.", valueName: "name"))
    var resourceContextClass: [String] = []

    @Option(help: .seconds("How long ago users of /resource may have authenticated at most."))
    var resourceMaxAge: Seconds?

    @Flag(
        name: .customLong("certificate-bound-tokens"),
        help: "Bind the access tokens of clients that authenticate by certificate to it.")
    var bindsTokensToCertificates = false

    @Flag(name: .customLong("registration"), help: "Let clients register themselves (RFC 7591).")
    var offersRegistration = false

    @Option(
        help: .init("A token without which no client is registered; implies --registration.", valueName: "token"))
    var initialAccessToken: String?

    @Flag(help: "Replace the token for a registration at each use, and the client's secret at each change (RFC 7592).")
    var rotateRegistrations = false

    @Flag(name: .customLong("require-par"), help: "Refuse authorization requests that were not pushed.")
    var requiresPushedRequests = false

    @Option(help: .init("A profile that clients are held to beyond the RFCs.", valueName: "profile"))
    var strict = AuthorizationServerConfiguration.Strictness.none

    @Option(help: .init("The scopes that exist, separated by spaces.", valueName: "list"))
    var scopes = AuthorizationServerConfiguration().scopes.joined(separator: " ")

    @Option(help: .init("Answer /authorize at once; otherwise show a page.", valueName: "choice"))
    var autoApprove = YesOrNo.yes

    @Option(help: .init("The user when there is no login_hint.", valueName: "name"))
    var defaultUser = AuthorizationServerConfiguration().defaultUser

    func validate() throws {
        for (name, values) in [("--redirect-uri", redirectURI), ("--resource", resource)] {
            for value in values where !value.isAbsoluteURI { throw ValidationError("\(name) is not a URL: \(value)") }
        }
        guard scopes.contains(where: { $0 != " " }) else { throw ValidationError("--scopes is empty") }
        guard initialAccessToken != "" else { throw ValidationError("--initial-access-token is empty") }
    }

    func apply(to configuration: inout AuthorizationServerConfiguration) {
        configuration.clients += client
        for index in configuration.clients.indices { configuration.clients[index].redirectURIs += redirectURI }
        for index in configuration.clients.indices where configuration.clients[index].isByCertificate {
            configuration.clients[index].bindsTokensToCertificate = bindsTokensToCertificates
        }
        if offersRegistration || initialAccessToken != nil || rotateRegistrations {
            configuration.registration = RegistrationPolicy(
                initialAccessToken: initialAccessToken, rotatesTokens: rotateRegistrations,
                replacesSecrets: rotateRegistrations)
        }
        configuration.resources = resource
        configuration.resourceContextClasses = resourceContextClass
        configuration.resourceMaximumAge = resourceMaxAge?.duration
        for issuer in trustedIssuer { configuration.trustedIssuers[issuer.name] = issuer.key }
        configuration.requiresPushedRequests = requiresPushedRequests
        configuration.strictness = strict
        configuration.scopes = scopes.split(separator: " ").map(String.init)
        configuration.approvesAutomatically = autoApprove == .yes
        configuration.defaultUser = defaultUser
    }
}

struct TokenOptions: ParsableArguments {
    @Option(help: .seconds("Lifetime of access tokens."))
    var accessTokenLifetime = Seconds(AuthorizationServerConfiguration().accessTokenLifetime)

    @Option(help: .seconds("Lifetime of refresh tokens, from the log-in on; unlimited if not given."))
    var refreshTokenLifetime: Seconds?

    @Option(help: .seconds("Lifetime of pushed authorization requests."))
    var pushedRequestLifetime = Seconds(AuthorizationServerConfiguration().pushedRequestLifetime)

    @Option(help: .seconds("Lifetime of device codes (RFC 8628)."))
    var deviceCodeLifetime = Seconds(AuthorizationServerConfiguration().deviceCodeLifetime)

    @Option(help: .seconds("How long a device must wait between two questions."))
    var devicePollInterval = Seconds(AuthorizationServerConfiguration().devicePollInterval)

    @Option(help: .seconds("Lifetime of authorization codes."))
    var codeLifetime = Seconds(AuthorizationServerConfiguration().codeLifetime)

    @Option(help: .init("Whether a refresh returns a new refresh token.", valueName: "choice"))
    var rotation = AuthorizationServerConfiguration.RefreshRotation.always

    @Option(help: .seconds("How long a spent refresh token returns its successor again."))
    var grace = Seconds(.zero)

    @Option(
        help: .init("What reuse ends: the token family, all of the user's tokens, or nothing.", valueName: "choice"))
    var reuse = AuthorizationServerConfiguration.ReuseResponse.revoke

    @Option(help: .seconds("Wait before acting on a token request."))
    var delay: Seconds?

    @Option(help: .seconds("Wait between acting on a token request and replying."))
    var replyDelay: Seconds?

    @Option(
        help: .init(
            """
            Other values for one client, as in demo:rotation=never,grace=30. The names are those of these options: \
            rotation, grace, reuse, nonce-check, access-token-lifetime, delay, reply-delay. Repeatable.
            """, valueName: "id:name=value,…"), transform: NamedBehaviour.init(argument:))
    var behaviour: [NamedBehaviour] = []

    @Flag(help: "A refresh ends the access token issued before.")
    var oneAccessToken = false

    @Flag(name: .customLong("no-refresh-tokens"), help: "Issue no refresh tokens.")
    var withholdsRefreshTokens = false

    @Flag(name: .customLong("no-expires-in"), help: "Leave expires_in out of replies.")
    var withholdsExpiry = false

    @Option(help: .init("Characters of an access token after its prefix.", valueName: "number"))
    var accessTokenLength = AuthorizationServerConfiguration().accessTokenLength

    @Option(name: .customLong("id-token-alg"), help: .init("How id tokens are signed.", valueName: "algorithm"))
    var idTokenAlgorithm = AuthorizationServerConfiguration.SigningAlgorithm.es256

    @Option(help: .init("Text in every code and token, to find leaks by.", valueName: "text"))
    var secretMarker = ""

    func validate() throws {
        guard (22...8_192).contains(accessTokenLength) else {
            throw ValidationError("--access-token-length must be between 22 and 8192")
        }
    }

    /// Comes after the clients are registered.
    func apply(to configuration: inout AuthorizationServerConfiguration) throws {
        configuration.accessTokenLifetime = accessTokenLifetime.duration
        configuration.refreshTokenLifetime = refreshTokenLifetime?.duration
        configuration.pushedRequestLifetime = pushedRequestLifetime.duration
        configuration.deviceCodeLifetime = deviceCodeLifetime.duration
        configuration.devicePollInterval = devicePollInterval.duration
        configuration.codeLifetime = codeLifetime.duration
        configuration.refreshRotation = rotation
        configuration.graceWindow = grace.duration
        configuration.reuseResponse = reuse
        configuration.behaviour = ClientBehaviour(delay: delay?.duration, replyDelay: replyDelay?.duration)
        configuration.keepsOneAccessToken = oneAccessToken
        configuration.announcesExpiry = !withholdsExpiry
        configuration.accessTokenLength = accessTokenLength
        configuration.idTokenAlgorithm = idTokenAlgorithm
        configuration.secretMarker = secretMarker
        for index in configuration.clients.indices {
            configuration.clients[index].receivesRefreshTokens = !withholdsRefreshTokens
        }
        for named in behaviour {
            guard let index = configuration.clients.lastIndex(where: { $0.id == named.client }) else {
                throw ValidationError("--behaviour names a client that is not registered: \(named.client)")
            }
            configuration.clients[index].behaviour = named.behaviour
        }
    }
}

struct DPoPOptions: ParsableArguments {
    @Flag(
        name: .customLong("require-dpop"),
        help: "Refuse token requests without a proof, and Bearer tokens at a /resource that has metadata.")
    var isRequired = false

    @Option(help: .init("required: one nonce at a time; once: a new one for each request.", valueName: "choice"))
    var nonce = NonceMode.none

    @Option(help: .seconds("Lifetime of a nonce with --nonce required. (default: 300)"))
    var nonceRotation: Seconds?

    @Option(help: .init("When to check the nonce; last spends the refresh token first.", valueName: "choice"))
    var nonceCheck = AuthorizationServerConfiguration.NonceCheck.first

    func validate() throws {
        guard nonceRotation == nil || nonce == .required else {
            throw ValidationError("--nonce-rotation needs --nonce required")
        }
    }

    /// Comes after the clients are registered.
    func apply(to configuration: inout AuthorizationServerConfiguration) {
        for index in configuration.clients.indices { configuration.clients[index].requiresDPoP = isRequired }
        configuration.protectedResource?.requiresDPoP = isRequired
        configuration.nonceCheck = nonceCheck
        configuration.noncePolicy =
            switch nonce {
            case .none: .none
            case .required: .required(rotation: nonceRotation?.duration ?? .seconds(300))
            case .once: .requiredOnce
            }
    }
}

struct RunningOptions: ParsableArguments {
    @Option(help: .init("Also write the ready line to this file.", valueName: "path"), completion: .file())
    var readyFile: String?

    @Option(help: .seconds("Stop after this long."))
    var stopAfter: Seconds?

    @Flag(name: .customLong("exit-with-stdin"), help: "Stop when standard input is closed.")
    var exitsWithStandardInput = false
}
