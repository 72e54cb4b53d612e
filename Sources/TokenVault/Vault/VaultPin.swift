import Logging
import Platform
import VaultCrypto
import VaultStorage

/// Where the pin of a vault is, by where the vault is: one that is put in its place is compared with it, whatever it calls
/// itself.
struct VaultPin: Sendable {
    /// Nil: there is no directory for it.
    private let file: KeyringPin?

    init(of location: String, in directory: String?) {
        guard let base = directory ?? Self.defaultDirectory, base.hasPrefix("/") else {
            file = nil
            return
        }
        var hash = ContentHash()
        hash.add(Self.absolute(location))
        file = KeyringPin("\(base)/pins/\(Base32.encode(hash.value))")
    }

    private static var defaultDirectory: String? {
        if let state = variable("STATE_DIRECTORY")?.split(separator: ":").first { return "\(state)/tokenvault" }
        if let state = variable("XDG_STATE_HOME") { return "\(state)/tokenvault" }
        return variable("HOME").map { "\($0)/.local/state/tokenvault" }
    }

    private static func variable(_ name: String) -> String? {
        ProcessEnvironment.nonEmptyValue(of: name)
    }

    /// A vault on a server is known by its address, without what is secret in it.
    private static func absolute(_ location: String) -> String {
        guard !location.contains("://") else { return location }
        guard let directory = NamedFile(PathName.directory(of: location)).resolved else { return location }
        return directory + "/" + PathName.lastPart(of: location)
    }

    var path: String? { file?.path }

    private var slotFile: KeyringPin? { file.map { KeyringPin($0.path + ".slot") } }

    /// The slot that a program opened last: so that a slot that someone has planted does not come first.
    var likelySlot: Bytes16? {
        guard let text = try? slotFile?.text() else { return nil }
        return Base32.decode(text)
    }

    func noteSlot(_ store: any VaultStore) async {
        guard store.context.isOpenedByForgeableSlot else { return }
        let (slot, slotFile) = (store.openingKeySlot.bytes, slotFile)
        try? await BlockingLane.opening.run {
            guard try slotFile?.text() != Base32.encode(slot) else { return }
            try slotFile?.write(Base32.encode(slot))
        }
    }

    /// Refuses a vault that was opened by a key that anyone can make a vault for, unless this pin or the witness knows it.
    ///
    /// - Throws: ``StoreError``. Nothing of the vault has been used.
    func require(_ store: any VaultStore, witness: (any Witness)?) async throws {
        guard store.context.isOpenedByForgeableSlot else { return }
        let file = file
        if let text = try await BlockingLane.opening.run({ try file?.text() }) {
            let isOutdated = try await store.read { reader throws(StoreError) in try reader.check(pin: text) }
            if isOutdated { try? await write(store) }
            return
        }
        let context = store.context
        if let witness, let text = try await BlockingLane.witness.run({ try witness.text(context) }) {
            try await store.read { reader throws(StoreError) in _ = try reader.check(against: text) }
            return
        }
        guard let file else {
            throw StoreError.unpinned("there is no directory for its pin", hint: PrivateFile.adviceForStateDirectory)
        }
        throw StoreError.unpinned("there is no pin at \(PathName.shown(file.path))")
    }

    func write(_ store: any VaultStore) async throws {
        guard let file else {
            throw StoreError(
                .unsafeFile, "there is no directory for the vault's pin", hint: PrivateFile.adviceForStateDirectory)
        }
        let text = try await store.read { reader throws(StoreError) in try reader.pin() }
        try await BlockingLane.opening.run { try file.write(text) }
    }
}

extension Vault {
    /// Remembers on this machine which vault is at this place, for openings by a recipient's identity or a wrapping program.
    /// Call it only when it is certain that this is the intended vault.
    ///
    /// - Returns: The path of the file.
    @discardableResult
    package func writePin() async throws -> String {
        try await VaultError.translating { try await pin.write(store) }
        return pin.path ?? ""
    }

    /// The same if a key slot needs it. If the pin cannot be written now, the vault asks for it when such a slot opens
    /// it.
    package func writePinIfNeeded() async {
        do {
            guard try await store.keySlots().contains(where: \.description.kind.isForgeable) else { return }
            try await writePin()
        } catch {
            logger.warning(
                "the vault's pin is not written", metadata: ["reason": "\((error as? VaultError)?.message ?? "")"])
        }
    }
}
