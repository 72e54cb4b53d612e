package import Foundation
import TestSupport
package import TokenVault
import TokenVaultPostgreSQL
package import TokenVaultTesting

/// Takes the place of the one in `TokenVaultTesting`, so that the same tests run over both engines: where ``TestEngine`` says
/// so on a throw-away server, each vault in a schema of its own; otherwise in a file.
package final class TestVault: Sendable {
    package typealias InFile = TokenVaultTesting.TemporaryVault

    private enum Home: Sendable {
        case file(InFile)
        case server(PrivateDirectory)
    }

    package let vault: Vault
    package let options: VaultOptions
    /// The path of its file, or its connection string.
    package let address: String
    /// Where it lies.
    package let location: VaultLocation
    private let home: Home

    package init(
        in place: InFile.Place = .disk, timeSource: any TimeSource = SystemTimeSource(), options: VaultOptions = .init()
    ) async throws {
        var options = options
        options.cachedLogins = Depth.cachedLogins
        guard TestEngine.isServer else {
            let file = try await InFile(in: place, timeSource: timeSource, options: options)
            (vault, self.options, home) = (file.vault, file.options, .file(file))
            (address, location) = (file.path, .sqlite(file.path))
            return
        }
        options.timeSource = timeSource
        let directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
        options.stateDirectory = directory.file("state")
        self.options = options
        try KeyFiles.generate(at: directory.file("vault.key"))
        address = try Self.newAddress("vault.db", in: directory.path)
        location = try Self.location(address, in: directory.path)
        home = .server(directory)
        vault = try await Vault.create(
            in: location, unlockedBy: .keyFile(directory.file("vault.key")), options: options)
    }

    /// Holds the key file, and the vault's file if it has one.
    package var directory: String {
        switch home {
        case .file(let file): file.directory
        case .server(let directory): directory.path
        }
    }

    package var keyFile: String { directory + "/vault.key" }

    /// To the first, the second is like another process.
    package func openAgain() async throws -> Vault { try await open(by: .keyFile(keyFile)) }

    package func open(by key: KeySource) async throws -> Vault {
        try await Vault.open(in: location, unlockedBy: key, options: options)
    }

    /// Where one more vault can be made.
    package func newLocation() throws -> VaultLocation {
        try Self.location(Self.newAddress("\(UUID().uuidString).db", in: directory), in: directory)
    }

    /// Reads and changes its tables without a key.
    package func intruder() throws -> TableIntruder { try TableIntruder(address) }

    /// Everything that is stored: the files of its directory, and on a server the columns of its tables.
    package func content() throws -> [(name: String, content: Data)] {
        var found: [(name: String, content: Data)] = []
        // The spool is a directory.
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            guard let data = FileManager.default.contents(atPath: directory + "/" + name) else { continue }
            found.append((name, data))
        }
        return try TestEngine.isServer ? found + ServerIntruder(address).content() : found
    }

    // MARK: Places

    /// A file in this directory, or a schema that nothing else uses.
    package static func newAddress(_ name: String, in directory: String) throws -> String {
        guard TestEngine.isServer else { return "\(directory)/\(name)" }
        return try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema())
    }

    package static func location(_ address: String, in directory: String) throws -> VaultLocation {
        guard VaultLocation.isPostgreSQL(address) else { return .sqlite(address) }
        return try .postgreSQL(address, stateDirectory: directory + "/state")
    }
}
