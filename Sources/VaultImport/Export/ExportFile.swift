import Platform

/// A new file for an export, complete and durable after ``finish()``, with the mode 0600. It never replaces another
/// file. Used by one thread at a time.
package final class ExportFile {
    private let file: NewFileStream

    package init(_ path: String) throws(ExportError) {
        file = try Self.translating { () throws(SystemError) in try NewFileStream(path) }
    }

    package func write(_ bytes: [UInt8]) throws(ExportError) {
        try Self.translating { () throws(SystemError) in try file.write(bytes) }
    }

    package func finish() throws(ExportError) {
        try Self.translating { () throws(SystemError) in try file.finish() }
    }

    private static func translating<R>(_ body: () throws(SystemError) -> R) throws(ExportError) -> R {
        do throws(SystemError) {
            return try body()
        } catch {
            guard error != .exists else {
                throw ExportError(
                    .fileExists, "there is a file already", hint: "choose another one; nothing is overwritten")
            }
            throw ExportError(
                .notWritten, "the export cannot be written: \(error.text)", hint: hint(error))
        }
    }

    private static func hint(_ error: SystemError) -> String? {
        switch error {
        case .notFound: "make its directory first, or choose another path"
        case .accessDenied, .notPermitted, .readOnlyFileSystem: "choose a directory that you can write to"
        case .noSpace, .overQuota: "make room, or choose another file system"
        default: nil
        }
    }
}
