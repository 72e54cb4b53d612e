import Foundation
import TestSupport
import TokenVault
import TokenVaultPostgreSQL
import TokenVaultTesting

/// Takes the place of the one in `TokenVaultTesting`, so that the same tests run over both engines: on a throw-away server,
/// each vault in a schema of its own, if `TOKENVAULT_TEST_ENGINE` is `postgresql`; otherwise in a file.
final class TemporaryVault: Sendable {
    typealias InFile = TokenVaultTesting.TemporaryVault

    static let isOnServer = ProcessInfo.processInfo.environment["TOKENVAULT_TEST_ENGINE"] == "postgresql"

    private enum Home: Sendable {
        case file(InFile)
        case server(VaultLocation, PrivateDirectory)
    }

    let vault: Vault
    let options: VaultOptions
    private let home: Home

    init(
        in place: InFile.Place = .disk, timeSource: any TimeSource = SystemTimeSource(), options: VaultOptions = .init()
    ) async throws {
        guard Self.isOnServer else {
            let file = try await InFile(in: place, timeSource: timeSource, options: options)
            (vault, self.options, home) = (file.vault, file.options, .file(file))
            return
        }
        var options = options
        options.timeSource = timeSource
        self.options = options
        let directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
        try KeyFiles.generate(at: directory.file("vault.key"))
        let location = try VaultLocation.postgreSQL(
            PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema()),
            stateDirectory: directory.file("state"))
        home = .server(location, directory)
        vault = try await Vault.create(
            in: location, unlockedBy: .keyFile(directory.file("vault.key")), options: options)
    }

    var directory: String {
        switch home {
        case .file(let file): file.directory
        case .server(_, let directory): directory.path
        }
    }

    /// Where the vault lies.
    var location: VaultLocation {
        switch home {
        case .file(let file): .sqlite(file.path)
        case .server(let location, _): location
        }
    }

    /// The vault's file; on a server there is none.
    var path: String { directory + "/vault.db" }
    var keyFile: String { directory + "/vault.key" }

    /// To the first, the second is like another process.
    func openAgain() async throws -> Vault {
        try await Vault.open(in: location, unlockedBy: .keyFile(keyFile), options: options)
    }
}
