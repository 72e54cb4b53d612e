import Foundation
import Platform
import TestSupport
import Testing
import VaultCrypto

struct NewFileTests {
    private let directory: PrivateDirectory
    private let path: String
    private let content = Data("CANARY-content".utf8)

    init() throws {
        directory = try PrivateDirectory()
        path = directory.file("new")
    }

    private func write(_ namings: [NewFile.Naming] = NewFile.Naming.allCases) throws {
        try unsafe content.withUnsafeBytes { try unsafe NewFile(path, namings: namings).write($0) }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    /// What a process leaves that is killed before the file has its name.
    private func leave(_ id: Bytes16 = SecureRandom.bytes16()) throws -> String {
        let leftover = "\(path).\(Base32.encode(id)).tmp"
        try content.write(to: URL(filePath: leftover))
        return leftover
    }

    @Test(arguments: NewFile.Naming.allCases) func aFileIsWholeByEachNaming(_ naming: NewFile.Naming) throws {
        // The umask of a careless host must neither widen the mode nor narrow it.
        try write([naming])
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try names == ["new"])
    }

    @Test(arguments: NewFile.Naming.allCases) func nothingIsOverwritten(_ naming: NewFile.Naming) throws {
        try Data("other".utf8).write(to: URL(filePath: path))
        let error = #expect(throws: SystemError.self) { try write([naming]) }
        #expect(error == .exists)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("other".utf8))
        #expect(try names == ["new"])
    }

    @Test(arguments: NewFile.Naming.allCases) func aStreamIsAFileOnceItIsWhole(_ naming: NewFile.Naming) throws {
        let stream = try NewFileStream(path, namings: [naming])
        for byte in content { try stream.write([byte]) }
        #expect(!FileManager.default.fileExists(atPath: path))
        try stream.finish()
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try names == ["new"])
        let error = #expect(throws: SystemError.self) { try NewFileStream(path, namings: [naming]) }
        #expect(error == .exists)
    }

    @Test(arguments: NewFile.Naming.allCases) func ofAStreamThatIsGivenUpNothingIsLeft(_ naming: NewFile.Naming) throws
    {
        do {
            let stream = try NewFileStream(path, namings: [naming])
            try stream.write([UInt8](content))
        }
        #expect(try names.isEmpty)
        // Who comes first has the name.
        let late = try NewFileStream(path, namings: [naming])
        try Data("other".utf8).write(to: URL(filePath: path))
        #expect(throws: SystemError.self) { try late.finish() }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("other".utf8))
    }

    @Test func whatAKilledProcessLeftIsRemoved() throws {
        _ = try leave()
        _ = try leave()
        try write()
        #expect(try names == ["new"])
    }

    @Test func whatIsBeingWrittenAndWhatIsOfOthersStays() throws {
        let leftover = try leave()
        let others = ["new.tmp", "new.x.tmp", "newer.\(Base32.encode(SecureRandom.bytes16())).tmp"]
        for other in others { try content.write(to: URL(filePath: directory.file(other))) }
        let descriptor = unsafe open(leftover, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try write()
        #expect(try Set(names) == Set(others + ["new", String(leftover.split(separator: "/").last ?? "")]))
    }

    /// Where hard links give the name, a process may be killed before the other name is gone.
    @Test func aKeyFileWithTheNameThatItWasWrittenUnderIsRead() throws {
        let key = try KeyFile.create(at: path)
        let second = "\(path).\(Base32.encode(SecureRandom.bytes16())).tmp"
        try FileManager.default.linkItem(atPath: path, toPath: second)
        #expect(try KeyFile.read(at: path).id == key.id)
        #expect(try names == ["new"])
    }
}
