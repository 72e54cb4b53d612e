import Foundation
import Glibc

/// A directory that only one test uses, removed with it.
package final class PrivateDirectory: Sendable {
    package let path: String

    /// In memory where the machine offers it, for tests that write much.
    package static var fastParent: String { unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory() }

    /// - Parameter parent: an existing directory.
    package init(in parent: String = NSTemporaryDirectory()) throws {
        var template = Array("\(parent)/vault-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = URL(fileURLWithPath: made).resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func subdirectory(_ name: String) throws -> String {
        let path = file(name)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }
}

/// A file's bytes. Never to be used on a file that this process has open through SQLite: closing any descriptor of
/// it drops the process's locks.
package enum FileBytes {
    package static func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// A new file with mode 0600.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        let isMade = FileManager.default.createFile(
            atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        guard isMade, unsafe chmod(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    }
}
