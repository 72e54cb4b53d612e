import FoundationEssentials
import Logging
package import VaultCrypto
import VaultSQLite
package import VaultStorage

extension Vault {
    /// Makes a new vault in a file, with one key slot for this key.
    ///
    /// The directory must exist and be writable by its owner alone. Nothing is overwritten. If the process is killed,
    /// it leaves a whole vault or none.
    /// - Parameters:
    ///   - path: Where the file is made.
    ///   - source: The key of the first slot.
    ///   - recipients: Recipients of age, `age1…`, that get a slot of their own: recovery keys, whose identities need
    ///     never be on this machine.
    ///   - options: How it is opened.
    /// - Throws: ``VaultError``, with the code `vaultExists` if there is already a file.
    public static func create(
        at path: String, unlockedBy source: KeySource, recoverableBy recipients: [String] = [],
        options: VaultOptions = .init()
    ) async throws -> Vault {
        try await create(in: .sqlite(path), unlockedBy: source, recoverableBy: recipients, options: options)
    }

    /// Creates a vault in any location. On a server, the schema must be empty or missing.
    ///
    /// - Parameters:
    ///   - location: The new vault's location.
    ///   - source: The key of the first slot.
    ///   - recipients: As ``create(at:unlockedBy:recoverableBy:options:)``.
    ///   - options: How it is opened.
    public static func create(
        in location: VaultLocation, unlockedBy source: KeySource, recoverableBy recipients: [String] = [],
        options: VaultOptions = .init()
    ) async throws -> Vault {
        let source = try await source.resolved()
        let store = try await offThePool {
            try location.engine.create(
                firstSlot: try source.maker(), label: source.defaultLabel,
                recipients: try recipients.map { try Recipient(text: $0) }, options: options)
        }
        // A vault that is new has no note yet.
        var options = options
        options.witness?.begins = true
        let vault = Vault(
            path: location.description, store: try await witnessed(store, options), timeSource: options.timeSource,
            logger: options.logger, sessionEvents: options.sessionEvents, stateDirectory: options.stateDirectory)
        await vault.writePinIfNeeded()
        return vault
    }

    /// Opens a vault in a file.
    ///
    /// Where nothing can be written, such as on a file system that is mounted read-only, it is opened for reading
    /// alone: ``readOnlyReason`` says why, and calls that would change something throw ``VaultError/Code/readOnly``.
    /// - Throws: ``VaultError``. A wrong key, a damaged file and an absent file are three different errors.
    public static func open(
        at path: String, unlockedBy source: KeySource, options: VaultOptions = .init()
    ) async throws -> Vault {
        try await open(in: .sqlite(path), unlockedBy: source, options: options)
    }

    /// Opens a vault in any location.
    ///
    /// - Throws: As ``open(at:unlockedBy:options:)``.
    public static func open(
        in location: VaultLocation, unlockedBy source: KeySource, options: VaultOptions = .init()
    ) async throws -> Vault {
        let source = try await source.resolved()
        let pin = VaultPin(of: location.description, in: options.stateDirectory)
        var unlocking = options.unlockingPolicy
        if source.runsPrograms { unlocking.likelySlot = pin.likelySlot }
        let policy = unlocking
        let store = try await offThePool {
            try location.engine.open(unlocker: try source.unlocker(), policy: policy, options: options)
        }
        try await requirePinned(store, pin, options)
        return Vault(
            path: location.description, store: try await witnessed(store, options), timeSource: options.timeSource,
            logger: options.logger, sessionEvents: options.sessionEvents, stateDirectory: options.stateDirectory)
    }

    /// Before anything in the vault is believed. A store that is refused is closed.
    private static func requirePinned(
        _ store: any VaultStore, _ pin: VaultPin, _ options: VaultOptions
    ) async throws {
        guard !options.trustsUnpinned else { return }
        do {
            try await VaultError.translating { try await pin.require(store, witness: try options.witness?.stored) }
            await pin.noteSlot(store)
        } catch {
            await store.shutDown()
            throw error
        }
    }

    /// With the witness that the options name. A store that is refused is closed.
    private static func witnessed(
        _ store: any VaultStore, _ options: VaultOptions
    ) async throws -> any VaultStore {
        guard let witness = options.witness else { return store }
        do {
            return try await VaultError.translating { try await WitnessedStore(store, try witness.terms(options)) }
        } catch {
            await store.shutDown()
            throw error
        }
    }

    /// Gives the vault's witness its first note. The audit trail records it.
    ///
    /// - Throws: ``VaultError/Code/invalidArgument`` if the witness has a note already, of whichever vault;
    ///   ``VaultError/Code/rollbackSuspected`` if it has none, and the trail records that the vault has had a witness.
    package static func beginWitness(
        in location: VaultLocation, unlockedBy source: KeySource, options: VaultOptions
    ) async throws {
        guard let witness = options.witness else {
            throw VaultError(.invalidArgument, "the options name no witness")
        }
        var unwitnessed = options.withoutWitness
        unwitnessed.trustsUnpinned = options.trustsUnpinned
        let vault = try await open(in: location, unlockedBy: source, options: unwitnessed)
        let result: Result<Void, any Error>
        do {
            result = .success(try await vault.begin(witness))
        } catch {
            result = .failure(error)
        }
        await vault.close()
        try result.get()
    }

    private func begin(_ witness: VaultWitness) async throws {
        try await VaultError.translating {
            let (keeper, context) = (try witness.stored, store.context)
            if let known = try await BlockingLane.witness.run({ try keeper.replaceableText(context) }) {
                guard WitnessNote.isNote(known.utf8) else {
                    throw StoreError(
                        .invalidValue, "the witness's answer is not a note: \(keeper.name)",
                        hint: "run it by hand, with `read`: it must print the note that it keeps, or nothing")
                }
                throw StoreError(
                    .invalidValue, "the witness has a note already: \(keeper.name)",
                    hint: "compare the vault with it: `vaultctl witness show`")
            }
            try await store.begin(keeper)
        }
    }

    /// Takes the vault for the newest that there is, against what its witness has seen: after a restore, or when one of
    /// two copies was chosen. All logins are held: good access tokens are served, and no refresh token is sent, because
    /// it may be spent already. A vault that was restored from a backup holds its logins by itself, and no others are
    /// held. The audit trail records it. A vault with which its witness agrees is refused.
    ///
    /// - Returns: Whether all logins were held by this.
    @discardableResult
    package static func acceptForWitness(
        at path: String, unlockedBy source: KeySource, options: VaultOptions
    ) async throws -> Bool {
        try await acceptForWitness(in: .sqlite(path), unlockedBy: source, options: options)
    }

    /// The same for a vault in any location.
    ///
    /// - Returns: Whether all logins were held by this.
    @discardableResult
    package static func acceptForWitness(
        in location: VaultLocation, unlockedBy source: KeySource, options: VaultOptions
    ) async throws -> Bool {
        guard let witness = options.witness else {
            throw VaultError(.invalidArgument, "the options name no witness")
        }
        var unwitnessed = options.withoutWitness
        unwitnessed.trustsUnpinned = options.trustsUnpinned
        let vault = try await open(in: location, unlockedBy: source, options: unwitnessed)
        do {
            let holdsAll = try await VaultError.translating {
                let store = vault.store
                let (keeper, context) = (try witness.stored, store.context)
                // A vault in use would stop renewing its logins for nothing.
                if let text = try await BlockingLane.witness.run({ try keeper.replaceableText(context) }),
                    (try? await store.read { reader throws(StoreError) in try reader.check(against: text) }) != nil
                {
                    throw VaultError(
                        .invalidArgument, "the witness agrees with the vault: there is nothing to accept",
                        hint: "to hold all logins nevertheless, as after a second copy was used: vaultctl restore hold")
                }
                // Before anything is held for a note that could not be given.
                try await BlockingLane.witness.run { try keeper.requireRoom(context) }
                let holdsAll = try await BlockingLane.witness.run {
                    // A witness that cannot be read knows nothing of a restore.
                    guard let seen = try? keeper.read(context) else { return true }
                    return seen.incarnation >= context.incarnation
                }
                if holdsAll {
                    try await store.holdAllLogins(AuditEvent(.witnessReplaced))
                } else {
                    try await store.record(AuditEvent(.witnessReplaced))
                }
                let note = try await store.read { reader throws(StoreError) in try reader.witnessNote() }
                try await BlockingLane.witness.run { try keeper.advance(to: note, context, isForced: true) }
                return holdsAll
            }
            await vault.close()
            return holdsAll
        } catch {
            await vault.close()
            throw error
        }
    }

    /// Opening reads files and stretches passphrases: too long for a thread that others wait for.
    static func offThePool<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await VaultError.translating { try await BlockingLane.opening.run(body) }
    }
}

extension VaultWitness {
    /// As the storage layer asks it.
    package var stored: any Witness {
        get throws(StoreError) {
            switch keeper {
            case .file(let path): return WitnessFile(path)
            case .program(let arguments):
                do throws(VaultCryptoError) { return try WitnessProgram(arguments) } catch {
                    throw StoreError(
                        .invalidValue, "the witness: \(error.message)",
                        hint: "name a program by its absolute path, then its arguments")
                }
            }
        }
    }

    fileprivate func terms(_ options: VaultOptions) throws(StoreError) -> WitnessedStore.Terms {
        let (time, logger) = (options.timeSource, options.logger)
        return WitnessedStore.Terms(
            witness: try stored, log: intentLog.map { IntentLog($0) }, everyCommit: isWrittenAtEveryCommit,
            begins: begins,
            uptime: { time.uptime() }, pause: { try? await time.sleep(for: $0) },
            alarm: { error in
                let reason: Logger.Metadata = ["reason": "\(error.message)"]
                guard error.code == .rollbackSuspected else {
                    return error.message.hasPrefix("the witness log")
                        ? logger.warning("the witness log has a gap", metadata: reason)
                        : logger.warning("the witness is behind", metadata: reason)
                }
                logger.error("the witness refuses the vault, and nothing more is written", metadata: reason)
            })
    }
}

extension VaultOptions {
    /// For a copy of the vault that is looked at, and takes no one's place.
    package var withoutWitness: VaultOptions {
        var options = self
        options.witness = nil
        options.trustsUnpinned = true
        return options
    }

    package var clock: @Sendable () -> Timestamp {
        { [timeSource] in timeSource.timestamp }
    }

    package var unlockingPolicy: UnlockingPolicy {
        UnlockingPolicy(memoryKiB: UInt32(clamping: passphraseMemoryLimit / 1024))
    }
}

/// Key files: one line of text that holds the key of one slot.
public enum KeyFiles {
    /// Makes a new random key and writes it to a new file that only its owner can read. Never overwrites.
    public static func generate(at path: String) throws {
        try VaultError.translating { _ = try KeyFile.create(at: path) }
    }
}
