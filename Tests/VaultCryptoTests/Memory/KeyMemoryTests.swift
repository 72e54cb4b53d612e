import Synchronization
import Testing

@testable import VaultCrypto

struct KeyMemoryTests {
    @Test func aSlotIsWipedBeforeItIsUsedAgain() throws {
        let memory = KeyMemory()
        var key: SealingKey? = try SealingKey.generate(in: memory)
        let address = try unsafe UInt(bitPattern: #require(key).pointer)
        #expect(try unsafe #require(key).withUnsafeBytes { unsafe $0.contains { $0 != 0 } })
        key = nil
        let slot = try memory.takeSlot()
        #expect(unsafe UInt(bitPattern: slot.pointer) == address)
        let bytes = unsafe UnsafeRawBufferPointer(start: slot.pointer, count: memory.slotByteCount)
        #expect(unsafe bytes.allSatisfy { $0 == 0 })
    }

    @Test func thousandsOfKeysLiveAtOnceAndApart() throws {
        let memory = KeyMemory()
        let keys = try (0..<5_000).map { _ in try SealingKey.generate(in: memory) }
        #expect(Set(keys.map { unsafe UInt(bitPattern: $0.pointer) }).count == keys.count)
        let contents = keys.map { key in unsafe key.withUnsafeBytes { unsafe [UInt8]($0) } }
        #expect(Set(contents).count == keys.count)
        print("key memory: \(keys.count) keys at once, locked: \(memory.lockedState.rawValue)")
    }

    @Test func keysComeAndGoOnManyThreads() async throws {
        let memory = KeyMemory()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 { _ = try SealingKey.generate(in: memory) }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func memoryThatCannotBeLockedIsTold() throws {
        #expect(KeyMemory().lockedState == .full)
        let unlocked = KeyMemory { _, _ in false }
        _ = try unlocked.takeSlot()
        #expect(unlocked.lockedState == .none)
        let calls = Mutex(0)
        let first = KeyMemory { _, _ in
            calls.withLock { calls in
                calls += 1
                return calls == 1
            }
        }
        let slots = try (0..<1_100).map { _ in try first.takeSlot() }
        #expect(slots.count == 1_100)
        #expect(first.lockedState == .partial)
    }

    @Test func aCopyIsWipedWhenItGoes() throws {
        let memory = KeyMemory(slotByteCount: 256, mustLock: true)
        let plaintext = (0..<200).map { UInt8($0) }
        var copy = unsafe plaintext.withUnsafeBytes { unsafe GuardedCopy($0, in: memory) }
        let address = try unsafe #require(copy?.bytes.baseAddress)
        #expect(try unsafe [UInt8](#require(copy).bytes) == plaintext)
        copy = nil
        #expect(unsafe UnsafeRawBufferPointer(start: address, count: 256).allSatisfy { $0 == 0 })
        #expect(try unsafe memory.takeSlot().pointer == UnsafeMutableRawPointer(mutating: address))
    }

    @Test func whatIsTooLongOrCannotBeLockedIsNotCopied() {
        let bytes = [UInt8](repeating: 7, count: GuardedCopy.maximumByteCount + 1)
        unsafe bytes.withUnsafeBytes { bytes in
            #expect(unsafe GuardedCopy(bytes) == nil)
            #expect(unsafe GuardedCopy(UnsafeRawBufferPointer(rebasing: bytes.dropLast())) != nil)
        }
        let calls = Mutex(0)
        let unlocked = KeyMemory(slotByteCount: 256, mustLock: true) { _, _ in
            calls.withLock { $0 += 1 }
            return false
        }
        for _ in 0..<3 {
            unsafe bytes.prefix(9).withUnsafeBytes { #expect(unsafe GuardedCopy($0, in: unlocked) == nil) }
        }
        // The kernel is not asked again for each.
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func aKeyHasExactlyThirtyTwoBytes() {
        for count in [0, 31, 33] {
            #expect(throws: VaultCryptoError.self) {
                try unsafe [UInt8](repeating: 1, count: count).withUnsafeBytes {
                    try unsafe SealingKey(id: .random(), copying: $0)
                }
            }
        }
    }

    @Test func scratchIsWipedAndUsedAgain() throws {
        let scratch = try CellScratch(byteCount: 256)
        let first = unsafe scratch.reserve(128)
        let second = unsafe scratch.reserve(128)
        let tooMuch = unsafe scratch.reserve(128)
        unsafe first.copyBytes(from: [UInt8](repeating: 7, count: 128))
        unsafe scratch.wipeAndRelease(tooMuch)
        unsafe scratch.wipeAndRelease(second)
        unsafe scratch.wipeAndRelease(first)
        let again = unsafe scratch.reserve(256)
        #expect(unsafe again.baseAddress == first.baseAddress)
        #expect(unsafe again.allSatisfy { $0 == 0 })
        unsafe scratch.wipeAndRelease(again)
    }

    @Test func secretsCompareByContent() {
        #expect(SecretBytes(utf8: "one") == SecretBytes(copying: Array("one".utf8)))
        #expect(SecretBytes(utf8: "one") != SecretBytes(utf8: "two"))
        #expect(SecretBytes(utf8: "one") != SecretBytes(utf8: "ones"))
        #expect(SecretBytes(utf8: "") == SecretBytes(copying: []))
        #expect(SecretBytes(utf8: "zoë").string() == "zoë")
        #expect(SecretBytes(copying: [0xC3, 0x28]).string() == nil)
        #expect(SecretBytes(utf8: "").isEmpty && SecretBytes(utf8: "zoë").count == 4)
    }
}
