import FoundationEssentials
public import TokenVault

/// A real vault in its own directory, for one test. The directory is removed with it.
///
/// ```swift
/// let temporary = try await TemporaryVault(in: .memory)
/// let users = try await UserManager(vault: temporary.vault, transport: ScriptedTransport())
/// ```
///
/// It is not a simulation: it seals, locks and commits exactly as in production. ``Place/memory`` only saves the wait
/// for a disk, which is most of a test's time. Without it, `TemporaryVault()` is on disk.
public final class TemporaryVault: Sendable {
    /// The location of the files.
    public enum Place: Sendable {
        /// In the system's folder for temporary files.
        case disk
        /// In the machine's memory (`/dev/shm`), where there is such a folder; otherwise on disk.
        case memory
    }

    public let vault: Vault
    public let options: VaultOptions
    private let place: TestDirectory

    /// The directory with the vault, its lock file and its key file.
    public var directory: String { place.path }
    public var path: String { directory + "/vault.db" }
    public var keyFile: String { directory + "/vault.key" }

    /// - Parameters:
    ///   - place: where its files are: by default on disk. ``Place/memory`` is faster.
    ///   - timeSource: the vault's time source.
    ///   - options: everything else.
    public init(
        in place: Place = .disk, timeSource: (any TimeSource)? = nil, options: VaultOptions = .init()
    ) async throws {
        var options = options
        if let timeSource { options.timeSource = timeSource }
        let parent: String? =
            switch place {
            case .disk: nil
            case .memory: TestDirectory.memory
            }
        self.place = try TestDirectory(in: parent ?? Self.temporary)
        let directory = self.place.path
        options.stateDirectory = options.stateDirectory ?? directory + "/state"
        self.options = options
        try KeyFiles.generate(at: directory + "/vault.key")
        vault = try await Vault.create(
            at: directory + "/vault.db", unlockedBy: .keyFile(directory + "/vault.key"), options: options)
    }

    /// Opens the same file again: the second vault behaves like another process.
    public func openAgain() async throws -> Vault {
        try await Vault.open(at: path, unlockedBy: .keyFile(keyFile), options: options)
    }

    private static var temporary: String {
        let path = FileManager.default.temporaryDirectory.path()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

extension UserManagerOptions {
    /// For tests with a ``ManualTimeSource``: nothing runs in the background, and a backoff lasts exactly as long as it
    /// says.
    public static var deterministic: UserManagerOptions {
        UserManagerOptions(recoveryInterval: nil, retriesRevocationsInBackground: false, random: { 1 })
    }
}
