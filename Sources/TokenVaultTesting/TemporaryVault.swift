import FoundationEssentials
public import TokenVault

/// A real vault in a directory of its own, for one test. The directory goes with it.
///
/// ```swift
/// let temporary = try await TemporaryVault()
/// let users = try await UserManager(vault: temporary.vault, transport: ScriptedTransport())
/// ```
public final class TemporaryVault: Sendable {
    public let vault: Vault
    /// Holds the vault, its lock file and its key file.
    public let directory: String
    public let options: VaultOptions

    public var path: String { directory + "/vault.db" }
    public var keyFile: String { directory + "/vault.key" }

    /// - Parameters:
    ///   - timeSource: where the vault gets the time from.
    ///   - options: everything else.
    public init(
        timeSource: any TimeSource = SystemTimeSource(), options: VaultOptions = .init()
    ) async throws {
        var options = options
        options.timeSource = timeSource
        self.options = options
        let files = FileManager.default
        directory = files.temporaryDirectory.path() + "/token-vault-" + UUID().uuidString
        try files.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try KeyFiles.generate(at: directory + "/vault.key")
        vault = try await Vault.create(
            at: directory + "/vault.db", unlockedBy: .keyFile(directory + "/vault.key"), options: options)
    }

    /// Opens the same file once more: to the first, the second is like another process.
    public func openAgain() async throws -> Vault {
        try await Vault.open(at: path, unlockedBy: .keyFile(keyFile), options: options)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
