import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// What does not fit is refused before anything of it is stored; nothing is left out in silence.
@Suite struct BindingTests {
    private static let tooLong = [UInt8](repeating: 7, count: 1_100_000)

    private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func aRefreshTokenThatDoesNotFitIsNotAcknowledged() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        var draft = fixture.draft("alice")
        draft.refresh?.refreshToken = SecretBytes(copying: Self.tooLong)
        #expect(await code { _ = try await store.insertLogin(draft) } == .invalidValue)
        #expect(try await store.statistics().logins == 0)
        // Just short of the limit it fits, and comes back.
        draft.refresh?.refreshToken = SecretBytes(copying: Array(Self.tooLong.prefix(890_000)))
        let login = try await store.insertLogin(draft)
        #expect(try await store.login(login.handle).refresh?.refreshToken?.count == 890_000)
        let update = await code {
            try await store.updateLogin(login.handle) { state in
                state.refresh?.refreshToken = SecretBytes(copying: Self.tooLong)
            }
        }
        #expect(update == .invalidValue)
        #expect(try await store.login(login.handle).refresh?.refreshToken?.count == 890_000)
        #expect(try await store.verify().findings == [])
    }

    @Test func aDetailThatDoesNotFitBreaksNoChain() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        for count in [65_537, 1_100_000] {
            let refused = await code {
                try await store.updateLogin(login.handle) { state in
                    state.session.attempts += 1
                    let text = String(repeating: "x", count: count)
                    state.auditEvents = [AuditEvent(.renewalFailed, [.init("cause", text)])]
                }
            }
            #expect(refused == .invalidValue, "\(count) bytes")
        }
        #expect(try await store.login(login.handle).session.attempts == 0)
        #expect(try await store.verify().findings == [])
    }

    @Test func aStatementNeverRunsWithAnythingButWhatItWasGiven() throws {
        let connection = try Connection(path: ":memory:", access: .memory)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB, b TEXT)")
        try connection.configureLimits()
        let insert = try Statement(connection, "INSERT INTO t (a, b) VALUES (?1, ?2)")
        insert.bind(1, Self.tooLong)
        insert.bind(2, "short")
        #expect(throws: StoreError.self) { try insert.run() }
        // Another parameter that is right changes nothing about it.
        insert.bind(2, "other")
        #expect(throws: StoreError.self) { try insert.run() }
        insert.bind(1, [1, 2, 3] as [UInt8])
        insert.bind(2, String(repeating: "x", count: 1_100_000))
        #expect(throws: StoreError.self) { try insert.run() }
        // There is no such parameter.
        insert.bind(2, "right")
        insert.bind(3, 1 as Int64)
        #expect(throws: StoreError.self) { try insert.run() }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        let select = try Statement(connection, "SELECT ?1")
        select.bind(1, [9] as [UInt8])
        #expect(try select.step() && select.bytes(0) == [9])
        // A parameter cannot be bound while the statement stands on a row.
        select.bind(1, [8] as [UInt8])
        #expect(throws: StoreError.self) { try select.step() }
    }

    @Test func everyCellFitsIntoARow() {
        #expect(SealedCell.maximumByteCount < Int(Connection.rowLimit))
        #expect(
            SealedCell.byteCount(forPlaintext: SealedCell.maximumPlaintextByteCount) <= SealedCell.maximumByteCount)
    }
}
