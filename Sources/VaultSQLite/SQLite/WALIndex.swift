import CSQLite

/// The header of the WAL index, which all processes that use a vault share as memory
/// (https://sqlite.org/walformat.html#the_wal_index_header).
@safe struct WALIndex {
    private let start: UnsafeRawPointer

    /// Which commit is the newest. Another commit, a WAL begun anew and an index made anew after a crash each have another
    /// one: its sums and salts cover everything in the log up to that commit.
    struct Header: Equatable {
        fileprivate var words = vault_wal_header()

        static func == (one: Header, other: Header) -> Bool { one.words.words == other.words.words }
    }

    /// Nil if the connection has not read yet. It must stay open as long as this is used.
    init?(_ connection: Connection) {
        var start: UnsafeRawPointer?
        guard unsafe vault_wal_index(connection.handle, &start) == SQLITE_OK, let start = unsafe start else {
            return nil
        }
        unsafe self.start = start
    }

    /// Nil while somebody is writing it.
    var header: Header? {
        var header = Header()
        return unsafe vault_wal_header_read(start, &header.words) != 0 ? header : nil
    }

    /// Whether there has been no other commit since. Takes a few nanoseconds.
    @inline(__always)
    func isStill(_ header: inout Header) -> Bool { unsafe vault_wal_header_is(start, &header.words) != 0 }
}
