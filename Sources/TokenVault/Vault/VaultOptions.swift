public import Logging

/// How a vault is opened.
public struct VaultOptions: Sendable {
    /// Whether a vault of an older version is brought up to date. If not, it is refused with
    /// ``VaultError/Code/migrationNeeded``.
    public var migrate: Bool
    public var timeSource: any TimeSource
    /// Messages are constant; nothing above `debug` in normal work; never a secret, never a user id.
    public var logger: Logger
    /// When ``UserManager/events()`` and its kin tell what.
    public var sessionEvents: SessionEventOptions
    /// The most memory, in bytes, that a passphrase slot may ask for when the vault is opened. A slot of this library asks
    /// for 256 MiB; whoever can write to the file can plant one that asks for more.
    public var passphraseMemoryLimit: Int

    public init(
        migrate: Bool = false,
        timeSource: any TimeSource = SystemTimeSource(),
        logger: Logger = Logger(label: "token-vault"),
        sessionEvents: SessionEventOptions = .init(),
        passphraseMemoryLimit: Int = 1024 * 1024 * 1024
    ) {
        self.migrate = migrate
        self.timeSource = timeSource
        self.logger = logger
        self.sessionEvents = sessionEvents
        self.passphraseMemoryLimit = passphraseMemoryLimit
    }
}
