import Glibc
import VaultCrypto

/// A new file for an export, complete and durable after ``finish()``, with the mode 0600. It never replaces another
/// file. Used by one thread at a time.
package final class ExportFile {
    private let file: NewFileStream

    package init(_ path: String) throws(ExportError) {
        file = try Self.translating { () throws(NewFile.Failure) in try NewFileStream(path) }
    }

    package func write(_ bytes: [UInt8]) throws(ExportError) {
        try Self.translating { () throws(NewFile.Failure) in try file.write(bytes) }
    }

    package func finish() throws(ExportError) {
        try Self.translating { () throws(NewFile.Failure) in try file.finish() }
    }

    private static func translating<R>(_ body: () throws(NewFile.Failure) -> R) throws(ExportError) -> R {
        do throws(NewFile.Failure) {
            return try body()
        } catch {
            guard error.error != EEXIST else {
                throw ExportError(
                    .fileExists, "there is a file already", hint: "choose another one; nothing is overwritten")
            }
            throw ExportError(
                .notWritten, "the export cannot be written: \(SystemError.text(error.error))", hint: hint(error.error))
        }
    }

    private static func hint(_ error: Int32) -> String? {
        switch error {
        case ENOENT: "make its directory first, or choose another path"
        case EACCES, EPERM, EROFS: "choose a directory that you can write to"
        case ENOSPC, EDQUOT: "make room, or choose another file system"
        default: nil
        }
    }
}
