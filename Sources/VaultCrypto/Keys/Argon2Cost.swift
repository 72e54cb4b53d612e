/// The cost of one guess at a passphrase. It is stored with the slot, so it is checked when it is read: a value below
/// the bounds is a downgrade, a value above them is a denial of service.
package struct Argon2Cost: Hashable, Sendable {
    /// Passes over the memory.
    package let operations: UInt32
    /// Memory in KiB.
    package let memoryKiB: UInt32

    /// Passes times KiB, proportional to the time it takes.
    package var work: UInt64 { UInt64(operations) * UInt64(memoryKiB) }

    package static let operationBounds: ClosedRange<UInt32> = 1...10
    package static let memoryKiBBounds: ClosedRange<UInt32> = (46 * 1024)...(2 * 1024 * 1024)

    /// 3 passes over 256 MiB: most of a second.
    package static let standard = Argon2Cost(uncheckedOperations: 3, memoryKiB: 256 * 1024)
    /// The least cost that is accepted.
    package static let minimum = Argon2Cost(
        uncheckedOperations: operationBounds.lowerBound, memoryKiB: memoryKiBBounds.lowerBound)

    package init(operations: UInt32, memoryKiB: UInt32) throws(VaultCryptoError) {
        guard Self.operationBounds.contains(operations), Self.memoryKiBBounds.contains(memoryKiB) else {
            throw VaultCryptoError(
                .passphraseParametersOutOfBounds,
                "the passphrase slot asks for \(operations) passes over \(memoryKiB) KiB, which is out of bounds",
                hint: "1 to 10 passes over 46 MiB to 2 GiB are accepted"
            )
        }
        self.init(uncheckedOperations: operations, memoryKiB: memoryKiB)
    }

    private init(uncheckedOperations operations: UInt32, memoryKiB: UInt32) {
        self.operations = operations
        self.memoryKiB = memoryKiB
    }
}
