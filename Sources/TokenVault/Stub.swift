import VaultStorage
import VaultCrypto
struct StubStep { var version: Int; var name: String; var appliedAt: Timestamp? }
enum SQLiteVaultStore {
    static func create(at: String, firstSlot: any SlotMaker, label: String, clock: @escaping @Sendable () -> Timestamp)
        throws(StoreError) -> any VaultStore
    { throw .notFound(.user) }
    static func open(at: String, unlocker: any SlotUnlocker, migrate: Bool, clock: @escaping @Sendable () -> Timestamp)
        throws(StoreError) -> any VaultStore
    { throw .notFound(.user) }
    static func migrations(at: String) throws(StoreError) -> [StubStep] { [] }
}
