import Foundation
import TestSupport
import Testing
import VaultCrypto

struct KeyFileTests {
    private let directory: PrivateDirectory
    private let path: String
    private let key: SealingKey
    private let line: [UInt8]

    init() throws {
        directory = try PrivateDirectory()
        path = directory.file("vault.key")
        key = try KeyFile.create(at: path)
        line = try [UInt8](Data(contentsOf: URL(filePath: path)))
    }

    private func error(at path: String? = nil) -> VaultCryptoError? {
        do throws(VaultCryptoError) {
            _ = try KeyFile.read(at: path ?? self.path)
            return nil
        } catch {
            return error
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o600) == 0)
    }

    @Test func aNewFileHoldsTheKeyAndNobodyElseCanReadIt() throws {
        let read = try KeyFile.read(at: path)
        #expect(read.id == key.id)
        let isSame = unsafe read.withUnsafeBytes { first in
            unsafe key.withUnsafeBytes { second in unsafe first.elementsEqual(second) }
        }
        #expect(isSame)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["vault.key"])
        #expect(line.count == 111)
    }

    @Test func anExistingFileIsNeverOverwritten() throws {
        #expect {
            try KeyFile.create(at: path)
        } throws: {
            ($0 as? VaultCryptoError)?.code == .keyFileExists
        }
        try write([])
        #expect(throws: VaultCryptoError.self) { try KeyFile.create(at: path) }
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }

    @Test func aNewFileThatWouldBeRefusedIsNotLeft() throws {
        #expect(unsafe chmod(directory.path, 0o777) == 0)
        let other = directory.file("other.key")
        #expect {
            try KeyFile.create(at: other)
        } throws: {
            ($0 as? VaultCryptoError)?.code == .keyFileUnsafe
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["vault.key"])
    }

    @Test func aFileCutAnywhereIsTruncatedAndStaysAsItIs() throws {
        for count in 0..<line.count - 1 {
            try write(Array(line.prefix(count)))
            #expect(error()?.code == .keyFileTruncated, "\(count) bytes")
            #expect(try Data(contentsOf: URL(filePath: path)).count == count)
        }
    }

    /// Secret managers, and `$(…)` of a shell, take the final newline away.
    @Test func aKeyFileThatLacksItsFinalNewlineIsRead() throws {
        try write(Array(line.dropLast()))
        #expect(try KeyFile.read(at: path).id == key.id)
        var changed = Array(line.dropLast())
        changed[60] ^= 1
        try write(changed)
        #expect(error()?.code == .keyFileMalformed)
        try write(Array(line.dropLast(2)) + [UInt8(ascii: "\n")])
        #expect(error()?.code == .keyFileMalformed)
    }

    @Test func everyChangedBitMakesTheFileMalformed() throws {
        for bit in 0..<(line.count * 8) {
            var changed = line
            changed[bit / 8] ^= 1 << (bit % 8)
            try write(changed)
            #expect(error()?.code == .keyFileMalformed, "bit \(bit)")
        }
    }

    @Test func otherTextsAreMalformed() throws {
        let text = String(decoding: line, as: UTF8.self)
        let others = [
            text.replacing("\n", with: "\r\n"), text + "\n", text + text, " " + text, text.uppercased(), "hello\n",
            text.replacing("key-1", with: "key-2"), String(text.dropLast(3)) + "\n",
            String(repeating: "x", count: 4_097), String(repeating: "x", count: 70_000),
        ]
        for other in others {
            try write(Array(other.utf8))
            #expect(error()?.code == .keyFileMalformed, "\(other.prefix(20))")
        }
        try write(Array(text.replacing("\n", with: "\r\n").utf8))
        #expect(error()?.message.contains("carriage return") == true)
    }

    @Test func twoKeysPartsDoNotMix() throws {
        let other = try KeyFile.create(at: directory.file("other.key"))
        let otherLine = try [UInt8](Data(contentsOf: URL(filePath: directory.file("other.key"))))
        #expect(other.id != key.id)
        for range in [17..<43, 44..<96, 97..<110] {
            var mixed = line
            mixed.replaceSubrange(range, with: otherLine[range])
            try write(mixed)
            #expect(error()?.code == .keyFileMalformed)
        }
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o620, 0o601, 0o777])
    func aFileThatOthersReachIsRefusedWithTheRemedy(mode: Int) throws {
        #expect(unsafe chmod(path, mode_t(mode)) == 0)
        let error = try #require(self.error())
        #expect(error.code == .keyFileUnsafe)
        #expect(error.hint == "run: chmod 600 \(path)")
    }

    @Test func aSymbolicLinkIsFollowedAndAHardLinkRefused() throws {
        let symbolic = directory.file("symbolic")
        try FileManager.default.createSymbolicLink(atPath: symbolic, withDestinationPath: path)
        #expect(error(at: symbolic) == nil)
        try FileManager.default.linkItem(atPath: path, toPath: directory.file("hard"))
        #expect(error()?.code == .keyFileUnsafe)
        #expect(error()?.message.contains("hard link") == true)
    }

    @Test func whatIsNoRegularFileIsRefused() throws {
        #expect(error(at: directory.path)?.code == .keyFileUnsafe)
        #expect(unsafe mkfifo(directory.file("fifo"), 0o600) == 0)
        #expect(error(at: directory.file("fifo"))?.code == .keyFileUnsafe)
        #expect(error(at: "/dev/null")?.code == .keyFileUnsafe)
    }

    @Test func aMissingFileIsMissingAndNotMade() {
        for missing in [directory.file("none"), directory.file("none/key"), path + "/key", ""] {
            #expect(error(at: missing)?.code == .keyFileMissing, "\(missing)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.file("none")))
    }

    @Test func worldWritableDirectoryIsRefusedUnlessSticky() throws {
        #expect(unsafe chmod(directory.path, 0o777) == 0)
        #expect(error()?.code == .keyFileUnsafe)
        #expect(error()?.hint == "run: chmod go-w \(directory.path)")
        #expect(unsafe chmod(directory.path, 0o1777) == 0)
        #expect(error() == nil)
    }

    @Test(.enabled(if: geteuid() == 0)) func anotherUsersFileIsRefused() throws {
        #expect(unsafe chown(path, 12_345, 12_345) == 0)
        #expect(error()?.code == .keyFileUnsafe)
        #expect(error()?.message.contains("another user") == true)
    }

    @Test func aPathThatNamesNoFileIsNotWritten() {
        for path in ["", directory.path + "/", directory.file("none/key"), "a\0b"] {
            #expect {
                try KeyFile.create(at: path)
            } throws: {
                ($0 as? VaultCryptoError)?.code == .keyFileNotWritten
            }
        }
    }

    @Test func anErrorShowsNoControlCharacterOfAPath() {
        #expect(error(at: directory.file("a\u{1B}[2Jb\n"))?.message.contains("\u{1B}") == false)
    }

    @Test(arguments: [(nil, "is not set"), ("", "is not set"), ("keys", "is a relative path")] as [(String?, String)])
    func aCredentialIsInAnAbsoluteDirectory(_ directory: String?, _ words: String) throws {
        #expect(try Credential.path(named: "key", in: "/run/a.service") == "/run/a.service/key")
        let error = #expect(throws: VaultCryptoError.self) { try Credential.path(named: "key", in: directory) }
        #expect(error?.message.contains("CREDENTIALS_DIRECTORY \(words)") == true, "\(error?.message ?? "")")
    }
}
