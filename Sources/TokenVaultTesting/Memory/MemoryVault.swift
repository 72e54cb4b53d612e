import Synchronization
package import VaultCrypto
package import VaultStorage

/// A vault in memory, sealed like one in a file. Several stores share it as processes share a file.
package final class MemoryVault: Sendable {
    package let database = MemoryDatabase()
    package let spools = MemorySpools()
    package let clock: @Sendable () -> Timestamp

    /// Makes a vault with one key slot.
    package init(
        firstSlot: any SlotMaker, label: String = "memory", clock: @escaping @Sendable () -> Timestamp
    ) throws {
        self.clock = clock
        let draft = try VaultDraft(firstSlot: firstSlot, label: label, now: clock())
        let context = draft.context(clock)
        try database.write { try draft.fillWhole($0, context) }
    }

    /// Opens it as a separate process.
    ///
    /// - Parameter clock: The clock of the process's machine; nil for the clock that the vault was made with.
    package func open(
        _ unlocker: any SlotUnlocker, clock: (@Sendable () -> Timestamp)? = nil
    ) throws -> MemoryVaultStore {
        let opened = try VaultContext.open(database.reader(), unlocker: unlocker, clock: clock ?? self.clock)
        guard let context = opened else {
            throw StoreError(.damaged, "the vault's own row is missing")
        }
        return MemoryVaultStore(self, context)
    }
}

/// A key that never leaves this process.
package struct MemoryKey: SlotMaker, SlotUnlocker {
    private let key: SealingKey

    package init() throws { key = try SealingKey.generate() }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        (try KeySlotDescription(id: id, keyID: key.id, kind: .keyFile, label: label, createdAt: createdAt), key)
    }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        slot.keyID == key.id ? key : nil
    }
}

/// The spools of all processes that have the same vault open.
package final class MemorySpools: Sendable {
    private struct Entry {
        var listing: SpoolListing
        let root: KeyID
    }

    private let state = Mutex<[Entry]>([])

    package init() {}

    package var entries: [SpoolListing] { state.withLock { $0.map(\.listing) } }

    /// - Parameter root: The root key that would seal a file.
    package func add(_ reply: SpooledReply, owner: Int64, root: KeyID) -> SpoolHandle {
        let handle = SpoolHandle(owner: owner, entry: SecureRandom.bytes16())
        let listing = SpoolListing(owner: owner, handle: handle, reply: reply, damage: nil)
        state.withLock { $0.append(Entry(listing: listing, root: root)) }
        return handle
    }

    package func remove(_ handle: SpoolHandle) {
        state.withLock { $0.removeAll { $0.listing.handle == handle } }
    }

    package var roots: [SpooledRoot] {
        state.withLock { $0.map { SpooledRoot(owner: $0.listing.owner, root: $0.root) } }
    }

    /// The owners of all entries have died: no process has their names any more.
    package func orphanAll() {
        state.withLock { entries in
            for index in entries.indices {
                let old = entries[index].listing
                entries[index].listing = SpoolListing(
                    owner: 0, handle: old.handle, reply: old.reply, damage: old.damage)
            }
        }
    }
}

/// One process's view of the spools.
struct MemorySpool: ReplySpool {
    let spools: MemorySpools
    let owner: Int64
    let owners: MemoryOwners
    /// The newest root key.
    let root: @Sendable () -> KeyID

    func prepare(for count: Int) throws(StoreError) {}
    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        spools.add(reply, owner: owner, root: root())
    }
    func remove(_ handle: SpoolHandle) throws(StoreError) { spools.remove(handle) }

    func listings() throws(StoreError) -> [SpoolListing] {
        spools.entries.filter { $0.owner == owner || !owners.isAlive($0.owner) }
    }

    func depth() throws(StoreError) -> SpoolDepth {
        let entries = spools.entries
        var depth = SpoolDepth()
        depth.entries = entries.count
        depth.files = Set(entries.map(\.owner)).count
        return depth
    }

    func roots() throws(StoreError) -> [SpooledRoot] { spools.roots }
}
