import Glibc
import TestSupport

/// A process that holds a snapshot of a vault until its input ends.
enum Reader {
    static func hold(_ options: Options) throws {
        guard let path = options.text("vault") else { exit(64) }
        let connection = try RawConnection(path)
        try connection.execute("BEGIN; SELECT count(*) FROM login")
        say("ready")
        while readLine() != nil {}
        try connection.execute("COMMIT")
    }
}
