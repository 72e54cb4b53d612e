extension VaultError {
    /// The kind of a ``VaultError``. An open set: compare with the static members and expect further ones.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, for instance `refreshFailed`. Stable; used in JSON output.
        public let name: String

        public var description: String { name }

        private init(_ name: String) {
            self.name = name
        }
    }
}

// Codes for names that match nothing, or more than one thing.
extension VaultError.Code {
    /// No such user in this vault.
    public static let unknownUser = Self("unknownUser")
    /// No such login in this vault: it never existed, or it was logged out.
    public static let unknownLogin = Self("unknownLogin")
    /// No such provider in this vault.
    public static let unknownProvider = Self("unknownProvider")
    /// No pending log-in has this `state`: it was completed, has expired, or was never begun here.
    public static let unknownAuthorizationRequest = Self("unknownAuthorizationRequest")
    /// No such revocation is pending: it was confirmed, was given up, or never existed.
    package static let unknownRevocation = Self("unknownRevocation")
    /// The login has no such kept reply, or no longer has it.
    package static let unknownReply = Self("unknownReply")
    /// No row of this vault has this name.
    package static let unknownRow = Self("unknownRow")
    /// No such key slot in this vault.
    package static let unknownKeySlot = Self("unknownKeySlot")
    /// The vault remembers no such backup.
    package static let unknownBackup = Self("unknownBackup")
    /// The user has several logins and none was named; ``VaultError/logins`` lists them.
    public static let ambiguousLogin = Self("ambiguousLogin")
    /// The user has no usable login.
    public static let notLoggedIn = Self("notLoggedIn")
}

// This login.
extension VaultError.Code {
    /// The login is dead. Nothing is sent for it until a new access token is set or the user logs in again.
    public static let refreshFailed = Self("refreshFailed")
    /// The login is dead because a reply of the server was lost: its new tokens never arrived. Treated as
    /// ``refreshFailed``, but separate, because the user did nothing to end the grant.
    public static let lostResponse = Self("lostResponse")
    /// The access token cannot be renewed: the login has no refresh token and no handler is installed.
    public static let notRefreshable = Self("notRefreshable")
    /// The provider wants the user to act: consent, a second factor, a new log-in. The grant is not dead.
    public static let needsUserInteraction = Self("needsUserInteraction")
    /// The provider refused the authorization request or the authorization code.
    public static let logInRefused = Self("logInRefused")
    /// The user did not approve the log-in in time.
    public static let logInExpired = Self("logInExpired")
    /// The callback comes from another browser, or from the session of another user, than the one that began the
    /// log-in. The log-in can still be completed where it was begun.
    public static let logInNotBound = Self("logInNotBound")
    /// Another account logged in at the provider than the one that the login is for. The login is as it was.
    public static let otherAccount = Self("otherAccount")
    /// The provider gives no access token for the resource or the scope that was asked for. The login is not at fault,
    /// and its other tokens are good.
    public static let resourceRefused = Self("resourceRefused")
    /// The user is disabled.
    public static let userDisabled = Self("userDisabled")
    /// The vault was restored from a backup: nothing is sent for this login before the restore is accepted.
    public static let held = Self("held")
    /// The system from which the login was imported owns its chain: nothing is sent for this login before the import is
    /// accepted.
    public static let heldBySource = Self("heldBySource")
    /// It is not proven that the source of an import has stopped renewing.
    package static let sourceNotQuiet = Self("sourceNotQuiet")
    /// This ``AccessTokenRenewal`` has been answered already. The second answer did nothing.
    public static let renewalAnswered = Self("renewalAnswered")
    /// The answer to this ``AccessTokenRenewal`` comes too late: something else has happened to the login. It did
    /// nothing.
    public static let renewalVoid = Self("renewalVoid")
    /// Another task or process has changed the same thing meanwhile.
    public static let conflict = Self("conflict")
}

// The provider and the way to it.
extension VaultError.Code {
    /// The provider refuses this client or this kind of request. No login is at fault.
    public static let providerMisconfigured = Self("providerMisconfigured")
    /// Another living process has begun this renewal and does not finish it. The renewal is taken over only on request:
    /// `vaultctl login take-over`.
    public static let refreshStalled = Self("refreshStalled")
    /// It did not work now and may work later; see ``VaultError/retryAfter``.
    public static let tryLater = Self("tryLater")
    /// The provider's tokens may not be sent there: its ``ProviderRegistration/apiOrigins`` do not name this origin.
    public static let originNotAllowed = Self("originNotAllowed")
    /// The provider could not be reached. May work later.
    public static let network = Self("network")
    /// The caller's deadline passed. The renewal itself continues.
    public static let deadlineExceeded = Self("deadlineExceeded")
    /// The provider's reply breaks the protocol in a way that must not be accepted.
    public static let protocolViolation = Self("protocolViolation")
}

// The vault and its keys.
extension VaultError.Code {
    /// There is no vault at this path.
    public static let vaultMissing = Self("vaultMissing")
    /// There is already a file at this path.
    package static let vaultExists = Self("vaultExists")
    /// A former version was killed while it made the vault at this path: it has no key and holds nothing.
    package static let vaultUnfinished = Self("vaultUnfinished")
    /// The file is not a vault.
    package static let notAVault = Self("notAVault")
    /// The file is not a backup, or was cut short.
    package static let notABackup = Self("notABackup")
    /// The key given opens no key slot of this vault.
    public static let wrongKey = Self("wrongKey")
    /// The key file does not exist.
    public static let keyMissing = Self("keyMissing")
    /// A key file is already there.
    package static let keyExists = Self("keyExists")
    /// The key file was cut short.
    package static let keyTruncated = Self("keyTruncated")
    /// The key file is not one, or has a typing error.
    package static let keyMalformed = Self("keyMalformed")
    /// The key file could be read or changed by others.
    package static let keyUnsafe = Self("keyUnsafe")
    /// The program, the credential or the provider that should give the key did not.
    public static let keyUnavailable = Self("keyUnavailable")
    /// The same for now: a program, or the service behind it, takes too long or asks to try again.
    package static let keyServiceBusy = Self("keyServiceBusy")
    /// Trying a passphrase would take more memory or work than ``VaultOptions/passphraseMemoryLimit`` and its like
    /// allow.
    package static let keyTooCostly = Self("keyTooCostly")
    /// The vault file or its directory could be read or changed by others.
    package static let unsafeFile = Self("unsafeFile")
    /// The file is damaged: SQLite cannot read it, or a part that everything hangs on does not open.
    public static let damaged = Self("damaged")
    /// This row cannot be opened: it was damaged or changed. Other rows are not affected. See `vaultctl damage list`.
    public static let quarantined = Self("quarantined")
    /// The file is older than what this vault has already seen.
    public static let rollbackSuspected = Self("rollbackSuspected")
    /// The vault was written by a newer version.
    package static let newerSchema = Self("newerSchema")
    /// The vault was written by an older version and has not been migrated.
    public static let migrationNeeded = Self("migrationNeeded")
    /// The vault is locked by another process for too long.
    public static let busy = Self("busy")
    /// The disk is full.
    public static let storageFull = Self("storageFull")
    /// The vault cannot be written here.
    public static let readOnly = Self("readOnly")
    /// Reading or writing the file failed.
    package static let storageFailed = Self("storageFailed")
    /// This process must no longer use the vault: it was forked off a process that had it open, or something in it
    /// closed descriptors that it did not open. Restart it, and open the vault only after a fork.
    public static let ownershipLost = Self("ownershipLost")
    /// The vault has been closed.
    public static let closed = Self("closed")
    /// The vault's content is being moved to or from another vault. Until the move is complete, neither of the two
    /// takes changes; after that, the source never takes any. Nothing was sent.
    public static let moved = Self("moved")
}

// The call and this process.
extension VaultError.Code {
    /// An argument is not acceptable.
    public static let invalidArgument = Self("invalidArgument")
    /// The thing named is still used by others.
    public static let inUse = Self("inUse")
    /// Locked memory or the cryptographic library is not available.
    package static let cryptographyUnavailable = Self("cryptographyUnavailable")
}
