/// One entry of the spool. A damaged one is listed with what is wrong, and hides nothing after it.
package struct SpoolListing: Equatable, Sendable {
    package enum Damage: Equatable, Sendable {
        /// Its process ended while it was written, so it was never acknowledged; or the disk has lost a part of it.
        case torn
        /// It is whole and cannot be opened: written by another vault, or changed since.
        case unopenable(StoreError)
        /// The file itself cannot be read or may not be trusted; what it holds is unknown.
        case unreadableFile(StoreError)
    }

    /// Whose file it is: this process's own, or one of a process that has died.
    package let owner: Int64
    /// Nil if there is nothing that could be removed by name.
    package let handle: SpoolHandle?
    /// Nil if it is damaged.
    package let reply: SpooledReply?
    package let damage: Damage?

    package init(owner: Int64, handle: SpoolHandle?, reply: SpooledReply?, damage: Damage?) {
        self.owner = owner
        self.handle = handle
        self.reply = reply
        self.damage = damage
    }
}
