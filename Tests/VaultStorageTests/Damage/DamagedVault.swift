import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// The sample vault with kept replies, closed, and ways to damage one value of it.
struct DamagedVault {
    static let tables = [
        "provider", "user", "login", "loginSecret", "refreshIntent", "outbox", "authorizationRequest", "unusableReply",
    ]

    /// One bit of one value.
    struct Flip: CustomStringConvertible, Sendable {
        let table: String
        let column: String
        let row: Int64
        let byte: Int

        var description: String { "\(table).\(column) of row \(row), byte \(byte)" }
    }

    static func image() async throws -> VaultImage { try await shared.value }

    private static let shared = Task {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        try await vault.fill(store)
        for login in try await store.user(SampleVault.manyLogins[0]).logins {
            try await store.keepUnusableReply(reply(to: login, at: vault.now))
        }
        store.close()
        return try VaultImage(of: vault)
    }

    private static func reply(to login: LoginHandle, at now: Timestamp) -> UnusableReplyRecord {
        UnusableReplyRecord(
            login: login, position: .first, fence: 1, receivedAt: now, status: 200, contentType: "text/html",
            cause: "CANARY-cause", isComplete: true, body: Array("CANARY-body".utf8))
    }

    /// A flip in the first and the last row of a table, in every column but the row's number: at the beginning, in the
    /// middle and at the end of its bytes.
    static func flips(in table: String, of image: VaultImage) throws -> [Flip] {
        let database = try RawDatabase(of: image.layOut())
        let numbers = ["loginSecret": "login", "refreshIntent": "fence"]
        let rows = try database.run("SELECT rowid FROM \(table) ORDER BY rowid").compactMap(\.first)
        var flips: [Flip] = []
        for row in Set([rows.first, rows.last].compactMap(\.self)) {
            guard case .integer(let id) = row else { continue }
            for case .text(let bytes) in try database.run("SELECT name FROM pragma_table_info('\(table)')").compactMap(
                \.first)
            {
                let column = String(decoding: bytes, as: UTF8.self)
                guard column != "id", column != numbers[table] else { continue }
                let value = try database.run("SELECT \(column) FROM \(table) WHERE rowid = ?", [row]).first?.first
                switch value {
                case .blob(let bytes)?:
                    // Of a cell: format, key id, nonce, commitment, ciphertext and tag.
                    let offsets = bytes.count > 100 ? [5, 10, 30, 60, 100, bytes.count - 1] : [0, bytes.count - 1]
                    flips += offsets.map { Flip(table: table, column: column, row: id, byte: $0) }
                case .integer?: flips += [0, 7].map { Flip(table: table, column: column, row: id, byte: $0) }
                default: break
                }
            }
        }
        return flips
    }

    /// Lays the vault out with one bit flipped.
    static func layOut(_ image: VaultImage, _ flip: Flip) throws -> VaultFixture {
        let vault = try image.layOut()
        let database = try RawDatabase(vault.path)
        let row: RawDatabase.Value = .integer(flip.row)
        let value = try database.run("SELECT \(flip.column) FROM \(flip.table) WHERE rowid = ?", [row]).first?.first
        let changed: RawDatabase.Value
        switch value {
        case .blob(var bytes)?:
            bytes[flip.byte] ^= 0x04
            changed = .blob(bytes)
        case .integer(let number)?: changed = .integer(number ^ (4 << (8 * flip.byte)))
        default: throw RawDatabase.Refusal(code: 0, message: "nothing to flip")
        }
        try database.run("UPDATE \(flip.table) SET \(flip.column) = ? WHERE rowid = ?", [changed, row])
        return vault
    }
}
