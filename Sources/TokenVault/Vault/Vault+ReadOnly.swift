import VaultStorage

extension Vault {
    /// Why nothing can be written to the vault, as a sentence; nil if it can be.
    ///
    /// A vault on a file system that is mounted read-only, such as a snapshot or a mounted backup, can be read and verified.
    /// Good tokens are served; a renewal is refused with ``VaultError/Code/readOnly`` before anything is sent. The same holds
    /// for a vault whose content is moved to another one, or was; the code is ``VaultError/Code/moved``.
    public var readOnlyReason: String? { (store.readOnlyRefusal ?? store.context.moveRefusal)?.message }

    /// A hint if the reason is a disk that has failed; nil: the reason is another one.
    package var failedDiskHint: String? {
        let failed = StoreError.turnedReadOnly
        return store.readOnlyRefusal?.message == failed.message ? failed.hint : nil
    }

    /// A hint if the reason is that its content is moved to another vault or from one, or was; nil: the reason is another
    /// one.
    package var moveHint: String? { store.readOnlyRefusal == nil ? store.context.moveRefusal?.hint : nil }
}
