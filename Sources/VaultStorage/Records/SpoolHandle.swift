package import VaultCrypto

/// Names one entry of the spool, in whatever process: its file's owner, and the entry's own random name.
package struct SpoolHandle: Hashable, Sendable {
    package let owner: Int64
    package let entry: Bytes16

    package init(owner: Int64, entry: Bytes16) {
        self.owner = owner
        self.entry = entry
    }
}
