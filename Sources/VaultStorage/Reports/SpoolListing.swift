/// One entry of the spool. A damaged one is listed with its error and hides no later one.
package struct SpoolListing: Equatable, Sendable {
    package enum Damage: Equatable, Sendable {
        /// Its process ended while writing it, so it was never acknowledged; or the disk has lost a part of it.
        case torn
        /// It is complete but cannot be opened: another vault wrote it, or it was changed since.
        case unopenable(StoreError)
        /// The file itself cannot be read or must not be trusted; its content is unknown.
        case unreadableFile(StoreError)
    }

    /// The owner of the file: this process, or a process that has died.
    package let owner: Int64
    /// Nil if there is nothing to remove by name.
    package let handle: SpoolHandle?
    /// Nil if the entry is damaged.
    package let reply: SpooledReply?
    package let damage: Damage?

    package init(owner: Int64, handle: SpoolHandle?, reply: SpooledReply?, damage: Damage?) {
        self.owner = owner
        self.handle = handle
        self.reply = reply
        self.damage = damage
    }
}
