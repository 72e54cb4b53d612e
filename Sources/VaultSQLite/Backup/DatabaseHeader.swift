/// Offsets in the first page of a database file (https://sqlite.org/fileformat.html §1.3) that are written directly.
/// Through SQLite, that would mean turning a backup into a vault, or using a log, on a file that must not change.
enum DatabaseHeader {
    static let applicationIDOffset: Int64 = 68
    /// The write and the read version of the format.
    static let formatOffset: Int64 = 18
    static let usesLog: [UInt8] = [2, 2]

    static func bytes(of applicationID: Int64) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: applicationID >> $0) }
    }
}
