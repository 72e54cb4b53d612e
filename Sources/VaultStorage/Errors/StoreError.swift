package import VaultCrypto

/// An error of the store. It carries no secret and no user data; a path is the only outside text in it.
package struct StoreError: Error, Equatable, Sendable {
    package enum Subject: String, Hashable, Sendable {
        case user, login, provider, keySlot = "key slot", authorizationRequest = "log-in request"
        case outboxEntry = "outbox entry", damagedRow = "damaged row", backup
    }

    package enum Code: Hashable, Sendable {
        case notFound(Subject)
        /// The user has several logins, and the request does not say which one.
        case ambiguousLogin([LoginHandle])
        case userDisabled
        /// A row that cannot be opened or does not belong where it is. The row is left unchanged.
        case quarantined(table: String, handle: String?)
        /// The vault is older than a state that this process has already seen.
        case rollbackSuspected

        /// Other processes held the write lock for longer than the busy time-out. Nothing was written.
        case busy
        case full
        case readOnly
        /// The engine's code, such as SQLite's extended result code.
        case io(Int32)
        case outOfMemory

        case vaultMissing
        case vaultExists
        /// A process was killed while it created this vault.
        case vaultUnfinished
        case notAVault
        case notABackup
        case unsafeFile
        case newerSchema(found: Int, known: Int)
        case migrationNeeded(found: Int, known: Int)
        case foreignSchemaObject(String)
        /// The file is damaged, or a part that everything else depends on.
        case damaged

        case wrongKey
        /// The key could not be read.
        case keyUnavailable(VaultCryptoError.Code)

        /// The change conflicts with the vault's content, such as a provider's name that is taken.
        case conflict
        /// The callback comes from another browser or user than the log-in.
        case logInNotBound
        case lastKeySlot
        /// No key except the one to be removed has proven that it opens the vault.
        case keySlotNotProven
        case providerInUse
        case invalidValue
        /// Other processes do not, or no longer, see this process as the living owner of its intents: it was forked, or
        /// the host closed the lock's descriptors. Nothing more is written.
        case ownershipLost
        /// The vault's content is moving to another vault, or from one: only that move may change it.
        case moved
        case closed
    }

    package let code: Code
    /// One lower-case sentence for people, without a full stop.
    package let message: String
    /// An action for an operator, if there is one.
    package let hint: String?

    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        guard let hint else { return message }
        return "\(message) (\(hint))"
    }
}

extension StoreError {
    package static func notFound(_ subject: Subject) -> StoreError {
        StoreError(.notFound(subject), "the vault has no such \(subject.rawValue)")
    }

    package static var diskFull: StoreError {
        StoreError(
            .full, "there is no space left for the vault",
            hint: "free some space on its file system; nothing was lost and reading goes on")
    }

    /// A file that is already open can no longer be written either: a kernel does this when a disk has failed.
    package static var turnedReadOnly: StoreError {
        StoreError(
            .readOnly, "the file system has turned read-only: the vault can be read, and not changed",
            hint: "see why in the kernel's log: dmesg; mend the disk, mount it writable, and start what used the vault")
    }

    package static var closed: StoreError { StoreError(.closed, "the vault is closed") }
}

extension StoreError {
    /// Whether the error concerns the vault's content, and not this process or other processes.
    package var isDamage: Bool {
        switch code {
        case .damaged, .quarantined, .io, .notAVault, .invalidValue: true
        default: false
        }
    }
}
