public import Logging
package import VaultStorage

/// How a vault is opened.
public struct VaultOptions: Sendable {
    /// Whether a vault of an older version is brought up to date. If not, it is refused with
    /// ``VaultError/Code/migrationNeeded``.
    public var migrate: Bool
    /// Whether a file system is used that is not known to be local, such as one in user space (FUSE), 9p or virtiofs:
    /// only if no other machine uses the vault's file through it. A known network file system is refused anyway.
    public var trustsFileSystem: Bool
    /// By default the clocks of the system.
    public var timeSource: any TimeSource
    /// Messages are constant; nothing above `debug` in normal work; never a secret, never a user id.
    public var logger: Logger
    /// The timing of events; see ``UserManager/events(of:)``.
    public var sessionEvents: SessionEventOptions
    /// The most memory, in bytes, that a passphrase slot may ask for when the vault is opened. A slot of this library
    /// asks for 256 MiB; an attacker who can write to the file can plant one that asks for more.
    public var passphraseMemoryLimit: Int
    /// The witness, which keeps the newest state of the vault apart from it; see ``VaultWitness``.
    public var witness: VaultWitness?
    /// An absolute path on this machine. There, the pin of a vault proves that a key of a recipient or of a wrapping program
    /// opens just this vault, and not another one in its place. Nil: the service's `STATE_DIRECTORY`, or
    /// `~/.local/state/tokenvault`. Only vaults with such key slots have a pin.
    public var stateDirectory: String?
    /// How many logins are kept in memory, sealed as they are in the vault's file, so that reading one again asks the file
    /// nothing as long as nothing has changed. The user's data key stays open with them, in locked memory. Each takes some
    /// 3 KiB; 0: none. A vault on a server keeps none.
    public var cachedLogins: Int
    /// Whether such a key opens a vault without a pin, because the vault's origin is known or the caller inspects it.
    package var trustsUnpinned = false
    /// The person whom the audit trail names for changes; nil: none, as for a service.
    package var actor: Actor?

    /// A person who uses the vault with a tool.
    package struct Actor: Sendable, Equatable {
        /// As the audit trail keeps it.
        package let kept: AuditActor

        /// The UNIX user id of the process.
        package var uid: Int { Int(clamping: kept.uid) }
        /// The login name; nil: not known.
        package var name: String? { kept.name }
        package var host: String { kept.host }
        /// The program and its command, such as `vaultctl user erase`.
        package var tool: String { kept.tool }

        package init(uid: Int, name: String?, host: String, tool: String) {
            kept = AuditActor(uid: Int64(uid), name: name, host: host, tool: tool)
        }

        package init(_ kept: AuditActor) { self.kept = kept }
    }

    public init(
        migrate: Bool = false,
        trustsFileSystem: Bool = false,
        timeSource: (any TimeSource)? = nil,
        logger: Logger = Logger(label: "token-vault"),
        sessionEvents: SessionEventOptions = .init(),
        passphraseMemoryLimit: Int = 1024 * 1024 * 1024,
        witness: VaultWitness? = nil,
        stateDirectory: String? = nil,
        cachedLogins: Int = 4_096
    ) {
        self.migrate = migrate
        self.trustsFileSystem = trustsFileSystem
        self.timeSource = timeSource ?? SystemTimeSource()
        self.logger = logger
        self.sessionEvents = sessionEvents
        self.passphraseMemoryLimit = passphraseMemoryLimit
        self.witness = witness
        self.stateDirectory = stateDirectory
        self.cachedLogins = cachedLogins
    }
}
