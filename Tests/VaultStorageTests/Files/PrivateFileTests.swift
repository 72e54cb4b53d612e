import Glibc
import Platform
import TestSupport
import Testing

@testable import VaultStorage

struct PrivateFileTests {
    private let directory = try? PrivateDirectory()

    private func makeFile(_ name: String) throws -> (path: String, descriptor: Int32) {
        let path = try #require(directory).file(name)
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return (path, descriptor)
    }

    @Test func aFileWithTwoNamesIsRefused() throws {
        let file = try makeFile("one")
        defer { close(file.descriptor) }
        try PrivateFile.check(BorrowedDescriptor(file.descriptor), file.path)
        #expect(unsafe link(file.path, file.path + ".other") == 0)
        #expect(throws: StoreError.self) { try PrivateFile.check(BorrowedDescriptor(file.descriptor), file.path) }
    }

    /// Another process writes a witness while this one reads it.
    @Test func aFileThatIsReplacedWhileItIsOpenIsWhatItWas() throws {
        let (file, next) = (try makeFile("witness"), try makeFile("witness.next"))
        defer {
            close(file.descriptor)
            close(next.descriptor)
        }
        #expect(unsafe rename(next.path, file.path) == 0)
        try PrivateFile.check(BorrowedDescriptor(file.descriptor), file.path, of: "the witness")
    }
}
