// swift-tools-version: 6.2

import PackageDescription

// Apart from the library's own package, so that a build of TokenVault never builds its benchmarks.
let package = Package(
    name: "token-vault-benchmarks",
    dependencies: [
        .package(name: "token-vault", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    ],
    targets: [
        .target(name: "BenchProgram"),
        .executableTarget(
            name: "vault-bench",
            dependencies: [
                "BenchProgram",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OAuthClient", package: "token-vault"),
                .product(name: "TokenVault", package: "token-vault"),
                .product(name: "TokenVaultTesting", package: "token-vault"),
                .product(name: "VaultImport", package: "token-vault"),
            ]
        ),
        // Apart from the other, whose memory is measured without an HTTP client.
        .executableTarget(
            name: "service-bench",
            dependencies: [
                "BenchProgram",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OAuthClient", package: "token-vault"),
                .product(name: "TokenVault", package: "token-vault"),
                .product(name: "TokenVaultHTTP", package: "token-vault"),
                .product(name: "TokenVaultTesting", package: "token-vault"),
            ]
        ),
        .executableTarget(
            name: "vault-worker",
            dependencies: [
                "BenchProgram",
                .product(name: "OAuthClient", package: "token-vault"),
                .product(name: "TokenVault", package: "token-vault"),
                .product(name: "TokenVaultHTTP", package: "token-vault"),
                .product(name: "TokenVaultTesting", package: "token-vault"),
            ]
        ),
        // The HTTP server alone, beside `vaultctl serve`.
        .executableTarget(
            name: "constant-server",
            dependencies: ["BenchProgram", .product(name: "Hummingbird", package: "hummingbird")]
        ),
        // Apart from all others, which link no libpq.
        .executableTarget(
            name: "server-bench",
            dependencies: [
                "BenchProgram",
                .product(name: "OAuthClient", package: "token-vault"),
                .product(name: "TokenVault", package: "token-vault"),
                .product(name: "TokenVaultPostgreSQL", package: "token-vault"),
                .product(name: "TokenVaultTesting", package: "token-vault"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
