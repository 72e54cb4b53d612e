// swift-tools-version: 6.2

import PackageDescription

// Apart from the library's own package, so that a build of TokenVault never builds its benchmarks.
let package = Package(
    name: "token-vault-benchmarks",
    dependencies: [.package(name: "token-vault", path: "..")],
    targets: [
        .executableTarget(
            name: "vault-bench",
            dependencies: [
                .product(name: "OAuthClient", package: "token-vault"),
                .product(name: "TokenVault", package: "token-vault"),
                .product(name: "TokenVaultTesting", package: "token-vault"),
                .product(name: "VaultImport", package: "token-vault"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
