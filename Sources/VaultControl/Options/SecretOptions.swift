import ArgumentParser

/// An access token, from anywhere but the command line.
struct AccessTokenOptions: ParsableArguments {
    @Option(help: .init("- reads the access token from standard input.", valueName: "-"))
    var accessToken: String?

    @Option(help: .init("Read the access token from a file.", valueName: "path"), completion: .file())
    var accessTokenFile: String?

    @Option(help: .init("Read the access token from an open file descriptor.", valueName: "number"))
    var accessTokenFd: Int32?

    var source: SecretSource? {
        get throws {
            try .chosen("access-token", dash: accessToken, descriptor: accessTokenFd, file: accessTokenFile)
        }
    }
}

/// A refresh token, from anywhere but the command line.
struct RefreshTokenOptions: ParsableArguments {
    @Option(help: .init("- reads the refresh token from standard input.", valueName: "-"))
    var refreshToken: String?

    @Option(help: .init("Read the refresh token from a file.", valueName: "path"), completion: .file())
    var refreshTokenFile: String?

    @Option(help: .init("Read the refresh token from an open file descriptor.", valueName: "number"))
    var refreshTokenFd: Int32?

    var source: SecretSource? {
        get throws {
            try .chosen("refresh-token", dash: refreshToken, descriptor: refreshTokenFd, file: refreshTokenFile)
        }
    }
}

/// A client secret, from anywhere but the command line.
struct ClientSecretOptions: ParsableArguments {
    @Option(help: .init("- reads the client secret from standard input.", valueName: "-"))
    var clientSecret: String?

    @Option(help: .init("Read the client secret from a file.", valueName: "path"), completion: .file())
    var clientSecretFile: String?

    @Option(help: .init("Read the client secret from an open file descriptor.", valueName: "number"))
    var clientSecretFd: Int32?

    var source: SecretSource? {
        get throws {
            try .chosen("client-secret", dash: clientSecret, descriptor: clientSecretFd, file: clientSecretFile)
        }
    }
}
