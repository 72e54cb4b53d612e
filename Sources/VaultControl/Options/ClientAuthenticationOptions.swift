import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

/// How the client authenticates to a provider, and its credentials.
struct ClientAuthenticationOptions: ParsableArguments {
    @OptionGroup var secret: SecretOptions<ClientSecretKind>

    @Option(
        help: .init(
            """
            \(Self.methods). By default: what is in use, or what the profile prefers, else basic with a secret and \
            none without.
            """,
            valueName: "method"),
        completion: .list(ClientAuthentication.methodNames))
    var clientAuth: String?

    @Option(
        help: .init(
            "The client's private key in PEM, for private_key_jwt: P-256 or RSA. Its certificate may be in the same file.",
            valueName: "path"),
        completion: .file())
    var clientKeyFile: String?

    @Option(help: .init("The id under which the key is registered.", valueName: "kid"))
    var clientKeyID: String?

    @Option(
        help: .init(
            "How an RSA key signs: RS256 or PS256. By default: what the profile says, else RS256.", valueName: "name"),
        completion: .list(["RS256", "PS256"]))
    var clientKeyAlgorithm: String?

    @Option(
        help: .init(
            "The client's certificate chain in PEM, its own certificate first (RFC 8705).", valueName: "path"
        ),
        completion: .file())
    var clientCertificate: String?

    @Option(help: .init("The private key of that certificate in PEM.", valueName: "path"), completion: .file())
    var clientCertificateKey: String?

    @OptionGroup var further: FurtherSecretOptions

    /// All methods, as a list in a sentence.
    private static let methods =
        ClientAuthentication.methodNames.dropLast().joined(separator: ", ")
        + " or \(ClientAuthentication.methodNames.last ?? "")"

    /// Whether the method, the first secret, the key or the certificate is given.
    var isGiven: Bool {
        get throws { try clientCertificate != nil || clientCertificateKey != nil || namesMethod }
    }

    /// Whether only the certificate is given.
    var isCertificateAlone: Bool { get throws { try isGiven && !namesMethod } }

    /// The same without the certificate, which may be for tokens alone.
    private var namesMethod: Bool {
        get throws {
            try clientAuth != nil || clientKeyFile != nil || clientKeyID != nil || clientKeyAlgorithm != nil
                || secret.source != nil
        }
    }

    /// The given method, or else the one that fits the given credentials.
    func method(preferring profile: ProviderProfile, inUse current: String? = nil) throws -> String {
        if let clientAuth { return clientAuth }
        if clientKeyFile != nil { return "private_key_jwt" }
        let hasSecret = try secret.source != nil
        if let clientCertificate, !hasSecret {
            if let current, current == "private_key_jwt" || current.isByCertificate { return current }
            if let known = profile.authenticationMethods.first(where: \.isByCertificate) { return known }
            // A certificate that no authority vouches for must be registered itself.
            let isSelfSigned = try ClientCertificate.isSelfSigned(chainPEM: pem(at: clientCertificate))
            return isSelfSigned == true ? "self_signed_tls_client_auth" : "tls_client_auth"
        }
        if let current, hasSecret == current.hasPrefix("client_secret"), !current.isByCertificate { return current }
        // A provider that refuses public clients is not added with one: instead the secret is asked for, or reported as
        // missing.
        if current == nil, !hasSecret, let first = profile.authenticationMethods.first,
            !profile.authenticationMethods.contains("none")
        {
            return profile.authenticationMethods.first { $0.hasPrefix("client_secret") } ?? first
        }
        let fitting = profile.authenticationMethods.filter { hasSecret == $0.hasPrefix("client_secret") }
        return fitting.first { $0 != "private_key_jwt" && !$0.isByCertificate }
            ?? (hasSecret ? "client_secret_basic" : "none")
    }

    /// The method with its secret or key, which is asked for if possible when none is given.
    func authentication(
        _ method: String, _ profile: ProviderProfile, _ reader: inout SecretReader, _ invocation: Invocation
    ) throws -> ClientAuthentication {
        let source = try secret.source
        if let clientKeyAlgorithm, ClientAssertionKey.Algorithm(rawValue: clientKeyAlgorithm) == nil {
            throw Failure.usage(
                "a client key does not sign with \(Printable.shortened(clientKeyAlgorithm))",
                hint: "use --client-key-algorithm RS256 or PS256")
        }
        guard ClientAuthentication.methodNames.contains(method) else {
            throw Failure.usage(
                method == "client_secret_jwt"
                    ? "client_secret_jwt is not supported"
                    : "\(Printable.shortened(method)) is not a client authentication method",
                hint: "use \(Self.methods)")
        }
        guard
            method == "private_key_jwt" || (clientKeyFile == nil && clientKeyID == nil && clientKeyAlgorithm == nil)
        else {
            throw Failure.usage(
                "the client authentication \(method) does not use a client key",
                hint: clientKeyFile == nil
                    ? "use --client-auth private_key_jwt and --client-key-file PATH, or leave \(keyOptions) out"
                    : "use --client-auth private_key_jwt, or leave \(keyOptions) out")
        }
        guard method != "private_key_jwt" else {
            guard let clientKeyFile, source == nil else {
                throw Failure.usage(
                    "private_key_jwt needs the client's key, and no secret",
                    hint: clientKeyFile == nil ? "use --client-key-file PATH" : Self.withoutSecret)
            }
            let pem = try reader.read(
                "Client key", for: .privateKey, from: .file(clientKeyFile, from: "--client-key-file"))
            let key = try key(pem, profile)
            if let end = key.certificateExpiresAt {
                Self.warn(of: "the certificate of the client key", from: nil, until: end, invocation)
            }
            return .privateKeyJWT(key)
        }
        guard !method.isByCertificate else {
            guard source == nil, let certificate = try certificate(&reader, invocation),
                let authentication = ClientAuthentication(methodName: method, certificate: certificate)
            else {
                throw Failure.usage(
                    "\(method) needs the client's certificate and its key, and no secret",
                    hint: source != nil && clientCertificate != nil
                        ? Self.withoutSecret : "use --client-certificate PATH and --client-certificate-key PATH")
            }
            return authentication
        }
        guard method != "none" else {
            guard source == nil else {
                throw Failure.usage("--client-auth none does not use a client secret", hint: "use only one of them")
            }
            return .none
        }
        guard source != nil || invocation.console.inputIsTerminal else {
            let isOfProfile = clientAuth == nil && profile.authenticationMethods.first == method
            throw Failure.usage(
                isOfProfile && profile.name != "generic"
                    ? "the profile \(profile.name) authenticates by \(method), which needs the client's secret"
                    : "\(method) needs the client's secret",
                hint: "use --client-secret-file PATH or --client-secret -")
        }
        let value = try ClientSecret(reader.read("Client secret", from: source ?? .prompt))
        return method == "client_secret_post" ? .clientSecretPost(value) : .clientSecretBasic(value)
    }
}

extension ClientAuthenticationOptions {
    private static let withoutSecret =
        "leave the client secret out; or, to authenticate by it: --client-auth client_secret_basic"

    /// The given options that only a client key has, in a sentence.
    private var keyOptions: String {
        [
            clientKeyFile.map { _ in "--client-key-file" }, clientKeyID.map { _ in "--client-key-id" },
            clientKeyAlgorithm.map { _ in "--client-key-algorithm" },
        ].compactMap(\.self).joined(separator: " and ")
    }
}

extension String {
    /// Whether this client authentication method uses a certificate.
    var isByCertificate: Bool { self == "tls_client_auth" || self == "self_signed_tls_client_auth" }
}

extension ClientAuthenticationOptions {
    /// The certificate for token binding, shown on every connection in addition to another method; nil if none is
    /// given.
    func tokenCertificate(
        beside method: String, _ reader: inout SecretReader, _ invocation: Invocation
    ) throws -> ClientCertificate? {
        method.isByCertificate ? nil : try certificate(&reader, invocation)
    }

    /// Warns of a certificate that no provider accepts now.
    private static func warn(of subject: String, from start: Date?, until end: Date, _ invocation: Invocation) {
        guard let problem = CertificateValidity.problem(from: start, until: end, now: invocation.now) else { return }
        invocation.warn("\(subject) \(problem), so the provider will not accept it")
    }

    private func certificate(
        _ reader: inout SecretReader, _ invocation: Invocation
    ) throws -> ClientCertificate? {
        guard let clientCertificate, let clientCertificateKey else {
            guard clientCertificate == nil, clientCertificateKey == nil else {
                throw Failure.usage(
                    "a client certificate and its key are given together",
                    hint: "use --client-certificate PATH and --client-certificate-key PATH")
            }
            return nil
        }
        let key = try reader.read(
            "Key of the client certificate", for: .privateKey,
            from: .file(clientCertificateKey, from: "--client-certificate-key"))
        let chain = try pem(at: clientCertificate)
        guard chain.contains("-----BEGIN CERTIFICATE-----") else {
            throw Failure.usage(
                "\(Printable.path(clientCertificate)) (--client-certificate) is not a certificate in PEM form",
                hint: "it begins with -----BEGIN CERTIFICATE-----")
        }
        let certificate = try ClientCertificate(chainPEM: chain, keyPEM: key)
        Self.warn(
            of: "the client certificate", from: certificate.notValidBefore, until: certificate.notValidAfter, invocation
        )
        return certificate
    }

    /// A PEM file that holds another key than the one needed.
    private static func otherKey(_ pem: String) -> (String, String)? {
        if pem.contains("ENCRYPTED") {
            return (
                "is encrypted with a passphrase",
                "write it without, into a private file: (umask 077; openssl pkey -in FILE -out client.key)"
            )
        }
        let count = pem.split(whereSeparator: \.isNewline).count {
            $0.hasPrefix("-----BEGIN ") && $0.contains("PRIVATE KEY-----")
        }
        guard count < 2 else {
            return ("file has \(count) private keys", "give one key alone, with its own certificate if it has one")
        }
        guard !pem.contains("PRIVATE KEY") else { return nil }
        if pem.contains("PUBLIC KEY") { return ("is a public key", "give the private key that belongs to it") }
        if pem.contains("CERTIFICATE REQUEST-----") {
            return ("is a certificate request", "give the private key with which it was made")
        }
        if pem.contains("BEGIN CERTIFICATE") {
            return ("is a certificate without a key", "give the private key of that certificate")
        }
        return nil
    }

    private func pem(at path: String) throws -> String {
        let bytes = try InputFile.read(path, "Client certificate", from: "--client-certificate", atMost: 65_536)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure.usage("the client certificate is not text", hint: "it must be in PEM form")
        }
        return text
    }

    private func key(_ pem: String, _ profile: ProviderProfile) throws -> ClientAssertionKey {
        if let (what, hint) = Self.otherKey(pem) {
            throw Failure.usage("the client key \(what)", hint: hint)
        }
        let key: ClientAssertionKey
        do throws(OAuthValueError) {
            key = try ClientAssertionKey(pem: pem, keyID: clientKeyID)
        } catch {
            let path = clientKeyFile ?? ""
            guard error.code == .malformed, let kind = FileKind(path), kind != .pem else { throw error }
            throw Failure.usage(
                "\(Printable.path(path)) (--client-key-file) is "
                    + (kind == .unknown ? "not" : "\(kind.words), not") + " a private key in PEM form",
                hint: Failure(error).hints.first)
        }
        guard let clientKeyAlgorithm else {
            return try key.isRSA ? profile.assertionAlgorithm.map { try key.signing(by: $0) } ?? key : key
        }
        guard let algorithm = ClientAssertionKey.Algorithm(rawValue: clientKeyAlgorithm),
            key.isRSA == (algorithm != .es256)
        else {
            throw Failure.usage(
                "the client key cannot sign with \(Printable.shortened(clientKeyAlgorithm))",
                hint: key.isRSA ? "an RSA key supports RS256 and PS256" : "a P-256 key supports only ES256")
        }
        return try key.signing(by: algorithm)
    }
}
