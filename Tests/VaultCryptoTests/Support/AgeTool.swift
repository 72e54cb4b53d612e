import CSodium
import Foundation
import TestSupport
import Testing

@testable import VaultCrypto

/// age, where it is installed: `scripts/bootstrap test` does that.
enum AgeTool {
    private static let folder = ["/usr/bin", "/usr/local/bin"].first {
        FileManager.default.isExecutableFile(atPath: $0 + "/age-keygen")
    }

    static var isThere: Bool { folder != nil }

    private static func run(_ name: String, _ arguments: [String] = []) throws -> String {
        let (status, output) = try outcome(name, arguments)
        try #require(status == 0)
        return output
    }

    private static func outcome(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(folder) + "/" + name)
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    static func keygen() throws -> String { try run("age-keygen") }

    static func encrypt(_ text: String, to recipient: String, in directory: PrivateDirectory) throws -> [UInt8] {
        try Data(text.utf8).write(to: URL(filePath: directory.file("plain")))
        _ = try run("age", ["-r", recipient, "-o", directory.file("sealed"), directory.file("plain")])
        return [UInt8](try Data(contentsOf: URL(filePath: directory.file("sealed"))))
    }

    /// What a file of age holds; nil if age does not open it to its end.
    static func decrypt(_ sealed: [UInt8], identity: String, in directory: PrivateDirectory) throws -> [UInt8]? {
        try Data(sealed).write(to: URL(filePath: directory.file("file.age")))
        try Data(identity.utf8).write(to: URL(filePath: directory.file("identity")))
        let target = directory.file("opened")
        try? FileManager.default.removeItem(atPath: target)
        let arguments = ["-d", "-i", directory.file("identity"), "-o", target, directory.file("file.age")]
        guard try outcome("age", arguments).status == 0 else { return nil }
        // For nothing, it makes no file.
        return [UInt8]((try? Data(contentsOf: URL(filePath: target))) ?? Data())
    }

    /// ChaCha20-Poly1305 with a nonce of zeros: how age seals the 16 bytes of a file key.
    static func opensFileKey(_ body: [UInt8], with key: SealingKey) -> Bool {
        var plaintext = [UInt8](repeating: 0, count: 16)
        let nonce = [UInt8](repeating: 0, count: 12)
        guard body.count == 32 else { return false }
        return unsafe key.withUnsafeBytes { key in
            guard let key = key.baseAddress else { return false }
            return unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                &plaintext, nil, nil, body, UInt64(body.count), nil, 0, nonce, key.u8) == 0
        }
    }
}
