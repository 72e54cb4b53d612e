package import VaultCrypto

/// The name of a spool entry across all processes: the owner of its file, and the entry's own random name.
package struct SpoolHandle: Hashable, Sendable {
    package let owner: Int64
    package let entry: Bytes16

    package init(owner: Int64, entry: Bytes16) {
        self.owner = owner
        self.entry = entry
    }
}
