import Synchronization
import TestSupport
import Testing
import VaultCrypto

struct KeySlotTests {
    private let vault = SecureRandom.bytes16()
    private let directory: PrivateDirectory
    private let vaultKey: SealingKey

    init() throws {
        directory = try PrivateDirectory()
        vaultKey = try .generate()
    }

    private func passphrase(_ text: String) throws -> PassphraseUnlocker {
        try PassphraseUnlocker(SecretBytes(utf8: text), cost: .minimum)
    }

    private func keyFile(_ name: String) throws -> KeyFileUnlocker {
        _ = try KeyFile.create(at: directory.file(name))
        return KeyFileUnlocker(path: directory.file(name))
    }

    private func slot(_ maker: any SlotMaker, label: String = "") throws -> KeySlot {
        try KeySlot.wrap(
            vaultKey, for: maker, id: SecureRandom.bytes16(), label: label, createdAt: 1, vault: vault)
    }

    private func code(_ slots: [KeySlot], _ unlocker: any SlotUnlocker, vault: Bytes16? = nil) -> VaultCryptoError.Code?
    {
        do throws(VaultCryptoError) {
            return try KeySlot.unlock(slots, with: unlocker, vault: vault ?? self.vault).vaultKey.id == vaultKey.id
                ? nil : .unknownKey
        } catch {
            return error.code
        }
    }

    @Test func eachSlotGivesTheSameVaultKey() throws {
        let file = try keyFile("a")
        let word = try passphrase("secret")
        let slots = try [slot(file), slot(word, label: "für den Notfall")]
        #expect(code(slots, file) == nil)
        #expect(code(slots, word) == nil)
        #expect(code(slots.reversed(), file) == nil)
    }

    @Test func aWrongKeyIsAWrongKey() throws {
        let slots = try [slot(keyFile("a")), slot(passphrase("secret"))]
        #expect(try code(slots, keyFile("b")) == .wrongKey)
        #expect(try code(slots, passphrase("Secret")) == .wrongKey)
        #expect(try code([], passphrase("secret")) == .wrongKey)
    }

    @Test func aMissingKeyFileIsNotAWrongKey() throws {
        let slots = try [slot(passphrase("secret"))]
        #expect(code(slots, KeyFileUnlocker(path: directory.file("none"))) == .keyFileMissing)
    }

    @Test func aDamagedSlotIsNotAWrongKeyAndHidesNoOther() throws {
        let file = try keyFile("a")
        let good = try slot(file)
        for offset in good.wrappedVaultKey.indices {
            var cell = good.wrappedVaultKey
            cell[offset] ^= 1
            let damaged = KeySlot(description: good.description, wrappedVaultKey: cell)
            #expect(![nil, .wrongKey].contains(code([damaged], file)), "byte \(offset)")
            #expect(code([damaged, good], file) == nil)
        }
    }

    @Test func aSlotIsBoundToEveryColumnOfItsRow() throws {
        let file = try keyFile("a")
        let good = try slot(file, label: "one")
        let old = good.description
        let changes = [
            try KeySlotDescription(
                id: SecureRandom.bytes16(), keyID: old.keyID, kind: old.kind, label: "one", createdAt: 1),
            try KeySlotDescription(id: old.id, keyID: old.keyID, kind: old.kind, label: "two", createdAt: 1),
            try KeySlotDescription(id: old.id, keyID: old.keyID, kind: old.kind, label: "one", createdAt: 2),
        ]
        for description in changes {
            let changed = KeySlot(description: description, wrappedVaultKey: good.wrappedVaultKey)
            #expect(code([changed], file) == .authenticationFailed(.commitment))
        }
        #expect(code([good], file, vault: SecureRandom.bytes16()) == .authenticationFailed(.commitment))
    }

    @Test func passphraseCostOutOfBoundsIsRefused() {
        let bounds: [(UInt32, UInt32)] = [(0, 262_144), (11, 262_144), (3, 47_103), (3, 2_097_153), (.max, .max)]
        for (operations, memory) in bounds {
            #expect {
                try Argon2Cost(operations: operations, memoryKiB: memory)
            } throws: {
                ($0 as? VaultCryptoError)?.code == .passphraseParametersOutOfBounds
            }
        }
        #expect(throws: Never.self) { try Argon2Cost(operations: 10, memoryKiB: 2_097_152) }
    }

    @Test func passphrasesMayHoldAnyBytesButNotNone() throws {
        let strange = try PassphraseUnlocker(SecretBytes(copying: [0, 1, 0xFF, 10]), cost: .minimum)
        let cut = try PassphraseUnlocker(SecretBytes(copying: [0]), cost: .minimum)
        let slots = try [slot(strange)]
        #expect(code(slots, strange) == nil)
        #expect(code(slots, cut) == .wrongKey)
        #expect(throws: VaultCryptoError.self) { try PassphraseUnlocker(SecretBytes(utf8: "")) }
        #expect(throws: VaultCryptoError.self) {
            try PassphraseUnlocker(SecretBytes(copying: [UInt8](repeating: 1, count: 65_537)))
        }
    }

    @Test func aLabelHasALimit() throws {
        #expect(throws: VaultCryptoError.self) {
            try slot(keyFile("a"), label: String(repeating: "é", count: 101))
        }
        let file = try keyFile("b")
        #expect(try code([slot(file, label: String(repeating: "é", count: 100))], file) == nil)
    }

    /// Tells which slots it was asked for, and takes as much as they say.
    private final class Expensive: SlotUnlocker {
        let asked = Mutex<[UInt64]>([])

        func cost(of slot: KeySlotDescription) -> Argon2Cost? {
            if case .passphrase(_, let cost) = slot.kind { cost } else { nil }
        }

        func slotKey(for slot: KeySlotDescription) -> SealingKey? {
            asked.withLock { $0.append(cost(of: slot)?.work ?? 0) }
            return nil
        }
    }

    private func planted(_ operations: UInt32, _ memoryMiB: UInt32) throws -> KeySlot {
        let cost = try Argon2Cost(operations: operations, memoryKiB: memoryMiB * 1024)
        let description = try KeySlotDescription(
            id: SecureRandom.bytes16(), keyID: .random(), kind: .passphrase(salt: SecureRandom.bytes16(), cost: cost),
            label: "", createdAt: 1)
        return KeySlot(description: description, wrappedVaultKey: [])
    }

    @Test func cheapSlotsAreTriedFirstAndEachTryIsBounded() throws {
        let slots = try [planted(10, 1024), planted(3, 256), planted(1, 1025), planted(10, 2048), slot(keyFile("a"))]
        let unlocker = Expensive()
        #expect(code(slots, unlocker) == .unlockingTooDear)
        let asked: [UInt64] = [0, 786_432, 10_485_760]
        #expect(unlocker.asked.withLock { $0 } == asked)
    }

    @Test func allTriesTogetherAreBounded() throws {
        let slots = try (0..<32).map { _ in try planted(10, 1024) }
        let unlocker = Expensive()
        #expect(code(slots, unlocker) == .unlockingTooDear)
        // 32 slots of the standard cost, and not as many as are there.
        let asked = unlocker.asked.withLock { $0 }
        #expect(asked.reduce(0, +) <= UInt64(KeySlot.maximumCount) * Argon2Cost.standard.work)
        #expect(asked.count == 2)
        let usual = Expensive()
        #expect(try code((0..<32).map { _ in try planted(3, 256) }, usual) == .wrongKey)
        #expect(usual.asked.withLock { $0.count } == 32)
    }
}
