// swift-tools-version: 6.2

import PackageDescription

// scripts/install names the commit, for `vaultctl version`. Other builds leave it out, so that a commit rebuilds nothing.
let commit = (Context.environment["TOKENVAULT_COMMIT"] ?? "").filter { $0.isHexDigit }

// What a package that depends on this one need not check out. Here everything is built.
//
// No trait enables another one. The package manager hands the enabled traits to the compiler in the order of a set, which is
// another order in each process: with two of them, every second build would recompile the whole package.
let http = TargetDependencyCondition.when(traits: ["HTTP", "Hummingbird", "Tools"])
let hummingbird = TargetDependencyCondition.when(traits: ["Hummingbird", "Tools"])
let tools = TargetDependencyCondition.when(traits: ["Tools"])

let package = Package(
    name: "token-vault",
    products: [
        .library(name: "TokenVault", targets: ["TokenVault"]),
        .library(name: "OAuthClient", targets: ["OAuthClient"]),
        .library(name: "TokenVaultHTTP", targets: ["TokenVaultHTTP"]),
        .library(name: "TokenVaultHummingbird", targets: ["TokenVaultHummingbird"]),
        .library(name: "TokenVaultPostgreSQL", targets: ["TokenVaultPostgreSQL"]),
        .library(name: "TokenVaultResources", targets: ["TokenVaultResources"]),
        .library(name: "TokenVaultTesting", targets: ["TokenVaultTesting"]),
        .library(name: "VaultImport", targets: ["VaultImport"]),
        .executable(name: "vaultctl", targets: ["vaultctl"]),
    ],
    traits: [
        .default(enabledTraits: ["Tools"]),
        .trait(
            name: "HTTP", description: "TokenVaultHTTP: the transport on AsyncHTTPClient, and the authorizing client."),
        .trait(
            name: "Hummingbird", description: "TokenVaultHummingbird: the routes of a service. Includes HTTP."),
        .trait(
            name: "Tools",
            description: "vaultctl, the development server, the tests and the example. Includes Hummingbird."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.1"),
        .package(url: "https://github.com/apple/swift-async-algorithms.git", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.36.0"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
    ],
    targets: [
        // C libraries, each with one importer.
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "SQLite3", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CSQLite", dependencies: ["SQLite3"], linkerSettings: [.linkedLibrary("sqlite3")]),
        // Loads libpq when it is first used, and links nothing of it.
        .target(name: "CPostgreSQL", linkerSettings: [.linkedLibrary("dl")]),
        // zlib's names are macros, which Swift cannot import.
        .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "Inflation", dependencies: ["CZlib"]),
        // What Swift cannot import from the C library.
        .systemLibrary(name: "CProcess"),
        // The one door to the operating system. See docs/adr/0139.
        .target(
            name: "Platform", dependencies: ["CProcess", .product(name: "SystemPackage", package: "swift-system")]),
        .target(name: "CBuild", cSettings: commit.isEmpty ? [] : [.define("TOKENVAULT_COMMIT", to: "\"\(commit)\"")]),

        .target(name: "VaultCrypto", dependencies: ["CSodium", "Platform"]),
        // Apart from the code that reads them, because embedded files are slow to compile.
        .target(name: "ProviderProfiles", resources: [.embedInCode("JSON")]),
        // Reads the lines of settings files: a subset of TOML.
        .target(name: "SettingsText"),
        // Reads other systems' catalogues of providers.
        .target(name: "ProviderCatalogue"),
        .testTarget(name: "ProviderCatalogueTests", dependencies: ["ProviderCatalogue"]),
        .target(
            name: "OAuthClient",
            dependencies: [
                "Inflation", "ProviderProfiles",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "VaultMigrations", path: "Migrations", resources: [.embedInCode("SQL"), .embedInCode("PostgreSQL")]),
        .target(name: "VaultStorage", dependencies: ["Platform", "VaultCrypto", "VaultMigrations"]),
        .target(
            name: "VaultSQLite",
            dependencies: ["CSQLite", "Platform", "VaultCrypto", "VaultMigrations", "VaultStorage"]),
        .target(
            name: "VaultPostgreSQL",
            dependencies: ["CPostgreSQL", "Platform", "VaultCrypto", "VaultMigrations", "VaultStorage"]),
        .target(
            name: "TokenVault",
            dependencies: [
                "OAuthClient", "Platform", "VaultCrypto", "VaultSQLite", "VaultStorage",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .target(
            name: "TokenVaultHTTP",
            dependencies: [
                "OAuthClient", "Platform", "TokenVault",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        // The routes of a service. Apart, because a service may have another framework.
        .target(
            name: "TokenVaultHummingbird",
            dependencies: [
                "OAuthClient", "TokenVault",
                .product(name: "Hummingbird", package: "hummingbird", condition: hummingbird),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // Vaults on a server. Apart, because who keeps a vault in a file links nothing of libpq.
        .target(
            name: "TokenVaultPostgreSQL",
            dependencies: ["TokenVault", "VaultCrypto", "VaultPostgreSQL", "VaultStorage"]),
        // The browser's way back to a command line. Apart from the transport, which services use without it.
        .target(
            name: "LoopbackRedirect",
            dependencies: [
                "OAuthClient", "Platform",
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
            ]
        ),
        // The operators' half: what `vaultctl` does with an open vault.
        .target(
            name: "VaultAdministration",
            dependencies: [
                "OAuthClient", "Platform", "TokenVault", "VaultCrypto", "VaultSQLite", "VaultStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Log-ins where a resource says. Apart, because most services know the providers of their users.
        .target(
            name: "TokenVaultResources",
            dependencies: [
                "OAuthClient", "TokenVault", "VaultAdministration", "VaultStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Reads other systems' token stores.
        .target(
            name: "VaultImport",
            dependencies: [
                "Inflation", "OAuthClient", "Platform", "TokenVault", "VaultAdministration", "VaultCrypto",
                "VaultSQLite",
                "VaultStorage",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "TokenVaultTesting",
            dependencies: [
                "OAuthClient", "Platform", "TokenVault", "VaultCrypto", "VaultMigrations", "VaultStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "DevAuthorizationServer",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: tools),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: tools),
                .product(name: "JWTKit", package: "jwt-kit", condition: tools),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: tools),
                .product(name: "X509", package: "swift-certificates", condition: tools),
            ],
            path: "Tests/Support/DevAuthorizationServer"
        ),
        .executableTarget(
            name: "dev-authserver",
            dependencies: [
                "DevAuthorizationServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: tools),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Support/dev-authserver"
        ),
        .target(
            name: "VaultControl",
            dependencies: [
                "CBuild", "LoopbackRedirect", "OAuthClient", "Platform", "ProviderCatalogue", "TokenVault",
                "SettingsText", "TokenVaultHTTP", "TokenVaultPostgreSQL", "TokenVaultResources", "VaultAdministration",
                "VaultCrypto", "VaultImport", "VaultServer", "VaultStorage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: tools),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        // `vaultctl serve`: tokens for the programs of a machine, over HTTP on UNIX sockets.
        .target(
            name: "VaultServer",
            dependencies: [
                "OAuthClient", "Platform", "SettingsText", "TokenVault",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms", condition: tools),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: tools),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
            ]
        ),
        .executableTarget(name: "vaultctl", dependencies: ["Platform", "VaultControl"]),

        // Readers of strangers' bytes, each with what must hold for every input: for scripts/proofs/fuzz and for the tests.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "OAuthClient", "Platform", "VaultCrypto", "VaultImport", "VaultServer", "VaultStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Fuzz/Targets"
        ),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"]),

        // What tests, probes and proofs share.
        .target(
            name: "TestSupport", dependencies: ["CSQLite", .product(name: "Logging", package: "swift-log")],
            path: "Tests/Support/TestSupport", exclude: ["throwaway-postgresql"]),
        // Vaults for tests that run over every engine.
        .target(
            name: "EngineSupport",
            dependencies: [
                "TestSupport", "TokenVault", "TokenVaultPostgreSQL", "TokenVaultTesting", "VaultAdministration",
                "VaultMigrations",
                "VaultPostgreSQL", "VaultSQLite", "VaultStorage",
            ],
            path: "Tests/Support/EngineSupport"),
        // Certificates that are made when a test runs.
        .target(
            name: "TestCertificates",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: tools),
                .product(name: "X509", package: "swift-certificates", condition: tools),
            ],
            path: "Tests/Support/TestCertificates"),
        .testTarget(
            name: "VaultCryptoTests", dependencies: ["CSodium", "Platform", "TestSupport", "VaultCrypto"],
            resources: [.copy("Vectors")]),
        // A process of its own that writes to a vault until it is killed.
        .executableTarget(
            name: "storage-probe",
            dependencies: ["TestSupport", "VaultCrypto", "VaultPostgreSQL", "VaultSQLite", "VaultStorage"],
            path: "Tests/Probes/Storage"),
        // Stands between SQLite and the file system, for tests that let the disk fail. The library knows nothing of it.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/Probes/CFaultVFS"),
        .executableTarget(
            name: "fault-probe",
            dependencies: [
                "CFaultVFS", "CSQLite", "Platform", "TestSupport", "VaultCrypto", "VaultSQLite", "VaultStorage",
            ],
            path: "Tests/Probes/Fault"),
        .testTarget(
            name: "VaultStorageTests",
            dependencies: [
                "CSQLite", "Platform", "TestSupport", "VaultCrypto", "VaultMigrations", "VaultSQLite", "VaultStorage",
                "fault-probe", "storage-probe",
            ]),
        // What every engine does alike.
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "TestSupport", "TokenVaultTesting", "VaultCrypto", "VaultMigrations", "VaultPostgreSQL", "VaultSQLite",
                "VaultStorage",
            ]),
        // What only a server does.
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "OAuthClient", "TestCertificates", "TestSupport", "TokenVault", "TokenVaultPostgreSQL",
                "TokenVaultTesting", "VaultAdministration", "VaultCrypto", "VaultMigrations", "VaultPostgreSQL",
                "VaultStorage",
            ]),
        .testTarget(
            name: "OAuthClientTests",
            dependencies: [
                "OAuthClient", "ProviderProfiles", "TestCertificates", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(
            name: "TokenVaultTests",
            dependencies: [
                "CSQLite", "EngineSupport", "OAuthClient", "ProviderProfiles", "TestSupport", "TokenVault",
                "TokenVaultTesting", "VaultAdministration", "VaultCrypto", "VaultImport", "VaultPostgreSQL",
                "VaultSQLite", "VaultStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "VaultImportTests",
            dependencies: [
                "EngineSupport", "OAuthClient", "TestSupport", "TokenVault", "TokenVaultTesting", "VaultAdministration",
                "VaultCrypto",
                "VaultImport", "VaultStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // Reads one store and says of each row what it is, for scripts/proofs/import.
        .executableTarget(
            name: "import-probe",
            dependencies: [
                "OAuthClient", "TokenVault", "TokenVaultTesting", "VaultCrypto", "VaultImport", "VaultStorage",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/Probes/Import"),
        // What an event costs, in vaults of any size.
        .executableTarget(
            name: "events-probe", dependencies: ["TokenVault", "TokenVaultTesting"], path: "Tests/Probes/Events"),
        // The engine in a simulated world. It takes over Swift's concurrency, so it runs in a process of its own.
        .target(
            name: "VaultSimulation",
            dependencies: [
                "CSodium", "OAuthClient", "TestSupport", "TokenVault", "TokenVaultTesting", "VaultAdministration",
                "VaultCrypto", "VaultPostgreSQL", "VaultStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Proofs/Simulation"
        ),
        .executableTarget(name: "simulate", dependencies: ["VaultSimulation"], path: "Tests/Proofs/Simulate"),
        .testTarget(name: "SimulationTests", dependencies: ["TestSupport", "simulate"]),
        // Servers and clients that do byte for byte what a test says.
        .target(name: "RawSockets", path: "Tests/Support/RawSockets"),
        .testTarget(
            name: "LoopbackRedirectTests",
            dependencies: [
                "LoopbackRedirect", "OAuthClient", "RawSockets",
            ]
        ),
        .testTarget(
            name: "TokenVaultHTTPTests",
            dependencies: [
                "DevAuthorizationServer", "OAuthClient", "RawSockets", "TestCertificates", "TestSupport", "TokenVault",
                "TokenVaultHTTP", "TokenVaultResources", "TokenVaultTesting", "VaultAdministration", "VaultStorage",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
                .product(name: "NIOTLS", package: "swift-nio", condition: http),
            ]
        ),
        .testTarget(
            name: "VaultServerTests",
            dependencies: [
                "OAuthClient", "Platform", "TestSupport", "TokenVault", "TokenVaultTesting", "VaultServer",
                "VaultStorage",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
            ]
        ),
        .testTarget(
            name: "TokenVaultHummingbirdTests",
            dependencies: [
                "OAuthClient", "TestSupport", "TokenVault", "TokenVaultHummingbird", "TokenVaultTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird", condition: hummingbird),
                .product(name: "HummingbirdTesting", package: "hummingbird", condition: tools),
            ]
        ),
        .testTarget(
            name: "DevAuthorizationServerTests",
            dependencies: [
                "DevAuthorizationServer", "TestSupport", "dev-authserver",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: tools),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "JWTKit", package: "jwt-kit", condition: tools),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
            ]
        ),
        // A service that is killed and stopped at every step, alone and among others of its kind.
        .executableTarget(
            name: "crash-probe",
            dependencies: [
                "CFaultVFS", "OAuthClient", "Platform", "TestSupport", "TokenVault", "TokenVaultHTTP",
                "TokenVaultPostgreSQL", "VaultAdministration", "VaultServer", "VaultStorage",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/Probes/Crash"),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "DevAuthorizationServer", "OAuthClient", "TestSupport", "TokenVault", "TokenVaultHTTP",
                "TokenVaultPostgreSQL", "VaultAdministration", "VaultCrypto", "VaultStorage", "crash-probe",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "VaultControlTests",
            dependencies: [
                "DevAuthorizationServer", "EngineSupport", "LoopbackRedirect", "OAuthClient", "Platform", "RawSockets",
                "TestCertificates", "TestSupport", "TokenVault", "TokenVaultHTTP", "VaultAdministration",
                "VaultControl", "VaultCrypto", "VaultImport", "VaultServer", "vaultctl",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: tools),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // Has a manifest of its own for those who start from it. Here too, so that its libraries are built only once, and
        // without access to what is not public.
        .executableTarget(
            name: "Backend",
            dependencies: [
                "TokenVault", "TokenVaultHTTP", "TokenVaultHummingbird",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird", condition: tools),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Examples/backend/Sources/Backend",
            packageAccess: false
        ),
        // The service of docs/first-hour.md: scripts/proofs/first-hour compares the two.
        .executableTarget(
            name: "first-hour",
            dependencies: [
                "TokenVault", "TokenVaultHTTP", "TokenVaultHummingbird",
                .product(name: "Hummingbird", package: "hummingbird", condition: tools),
            ],
            path: "Examples/first-hour",
            packageAccess: false
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}

// The fuzzer's driver is there for scripts/proofs/fuzz alone, which names libFuzzer's library. See docs/adr/0012.
if let library = Context.environment["TOKENVAULT_FUZZER_LIBRARY"] {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz-driver",
            dependencies: ["CFuzzer", "FuzzTargets"],
            path: "Fuzz/Driver",
            linkerSettings: [.unsafeFlags(["-sanitize=address", library, "-lstdc++"])]
        ),
    ]
    let fuzzed = [
        "FuzzTargets", "OAuthClient", "SettingsText", "VaultCrypto", "VaultImport", "VaultServer", "VaultStorage",
    ]
    for target in package.targets where fuzzed.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer,address"]))
    }
}
