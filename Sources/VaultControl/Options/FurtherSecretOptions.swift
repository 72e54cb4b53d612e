import ArgumentParser
import OAuthClient
import TokenVault

/// The secrets after the first, while secrets are being rotated. A refresh request never uses them.
struct FurtherSecretOptions: ParsableArguments {
    @Option(
        help: .init("- reads a second client secret from standard input.", valueName: "-", visibility: .hidden))
    var secondClientSecret: String?

    @Option(
        help: .init(
            """
            A second client secret, while secrets are being replaced. It is never sent with a refresh token. Repeatable; \
            --second-client-secret - reads standard input.
            """, valueName: "path"),
        completion: .file())
    var secondClientSecretFile: [String] = []

    @Option(help: .init("Read a second client secret from an open file descriptor.", valueName: "number"))
    var secondClientSecretFd: Int32?

    var isGiven: Bool {
        secondClientSecret != nil || secondClientSecretFd != nil || !secondClientSecretFile.isEmpty
    }

    /// In order; nil if none is given.
    ///
    /// - Parameter first: the first secret, if it is given, too.
    func secrets(
        after method: String, _ first: ClientAuthentication?, _ reader: inout SecretReader
    ) throws -> [ClientSecret]? {
        let source = try SecretSource.chosen(
            "second-client-secret", dash: secondClientSecret, descriptor: secondClientSecretFd,
            file: secondClientSecretFile.first)
        guard let source else { return nil }
        guard method.hasPrefix("client_secret") else {
            throw Failure.usage(
                "client authentication \(method) has no secret to add a second one to",
                hint: "give the first one, too: --client-secret-file PATH")
        }
        let sources =
            [source] + secondClientSecretFile.dropFirst().map { .file($0, from: "--second-client-secret-file") }
        var secrets: [ClientSecret] = []
        var known = Set([first?.secret].compactMap(\.self))
        for source in sources {
            let secret = try ClientSecret(reader.read("Second client secret", from: source))
            guard known.insert(secret).inserted else {
                throw Failure.usage(
                    "the same client secret is given twice",
                    hint:
                        "the second one is another secret, which the provider accepts, too: check which file is which")
            }
            secrets.append(secret)
        }
        return secrets
    }
}

extension ClientAuthentication {
    fileprivate var secret: ClientSecret? {
        switch self {
        case .clientSecretBasic(let secret), .clientSecretPost(let secret): secret
        default: nil
        }
    }
}
