import CSQLite
import VaultStorage

/// The loaded SQLite library.
package enum SQLiteLibrary {
    package static var version: String { unsafe String(cString: sqlite3_libversion()) }
    static var sourceID: String { unsafe String(cString: sqlite3_sourceid()) }

    /// From 3.7.0 to 3.51.2 a checkpoint that meets a restart of the WAL can lose commits; 3.50.7 and 3.44.6 have the
    /// fix too.
    package static var isAffectedByWALReset: Bool {
        let number = sqlite3_libversion_number()
        if (3_050_007..<3_051_000).contains(number) || (3_044_006..<3_045_000).contains(number) { return false }
        return (3_007_000...3_051_002).contains(number)
    }
}
