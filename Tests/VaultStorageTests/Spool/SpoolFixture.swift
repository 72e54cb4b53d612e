import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

extension SpooledReply {
    /// With every field, and a marker in each secret that must never be seen in a file.
    static func sample(_ name: String = "a", generation: Int64 = 7) -> SpooledReply {
        SpooledReply(
            login: .random(), user: .random(), provider: .random(),
            position: ChainPosition(chain: 2, generation: generation), fence: 41,
            accessToken: .canary("access-\(name)"),
            tokenType: "DPoP", scope: "a b", obtainedAt: Timestamp(milliseconds: 1_800_000_000_000),
            expiresAt: Timestamp(milliseconds: 1_800_000_900_000), refreshToken: .canary("refresh-\(name)"),
            refreshExpiresAt: Timestamp(milliseconds: 1_900_000_000_000), idToken: .canary("id-\(name)"),
            dpopPrivateKey: .canary("key-\(name)"), nonces: ["https://as.example": "n1", "https://rs.example": "n2"],
            resource: "https://rs.example", requestedScope: "a")
    }
}

extension VaultFixture {
    var spoolPath: String { path + ".spool" }

    func spoolFiles() throws -> [String] {
        guard FileManager.default.fileExists(atPath: spoolPath) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: spoolPath).sorted()
    }

    func spoolPath(of owner: Int64) -> String { "\(spoolPath)/\(owner).spool" }

    func spoolBytes(of owner: Int64) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: spoolPath(of: owner))))
    }

    /// In place, as somebody with access to the disk could.
    func overwriteSpool(of owner: Int64, with bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: spoolPath(of: owner)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: spoolPath(of: owner))
    }

    /// Leaves replies behind in the file of a process that is gone.
    func spoolAndDie(_ replies: [SpooledReply]) throws -> (owner: Int64, handles: [SpoolHandle]) {
        let store = try open()
        defer { store.close() }
        let handles = try replies.map { try store.spool.add($0) }
        return (store.owner, handles)
    }
}
