import Foundation
import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

/// Processes that have a vault open while another one changes what it is.
struct NewerVaultTests {
    private let event = AuditEvent(AuditKind(rawValue: 6))

    private func migrate(_ fixture: VaultFixture) throws {
        let next = Migration(
            version: Migrations.all.count + 1, name: "v999_add_note", sql: "ALTER TABLE provider ADD COLUMN note TEXT;")
        try Migrator(try VaultFile(fixture.path), migrations: Migrations.all + [next], clock: fixture.clock).migrate()
    }

    @Test func aProcessOfAnOlderVersionGivesUpBesideANewerSchema() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let head = try await store.auditHead()
        try store.spool.prepare()
        try migrate(fixture)
        let known = Migrations.all.count
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) {
                try await store.updateLogin(login.handle) { $0.session.label = "late" }
            }
            #expect(error?.code == .newerSchema(found: known + 1, known: known))
        }
        #expect(try fixture.integer("SELECT max(sequence) FROM audit") == head)
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(error?.code == .newerSchema(found: known + 1, known: known))
        // What a server has given is kept all the same.
        let reply = SpooledReply(
            login: login.handle, user: login.user, provider: nil, position: .first, fence: 1,
            accessToken: .canary("access"), tokenType: "Bearer", obtainedAt: fixture.now,
            refreshToken: .canary("next"))
        let handle = try store.spool.add(reply)
        store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path + ".spool").count == 1)
        #expect(handle.owner == store.owner)
    }

    @Test func aNewReaderDoesNotReadANewerSchema() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        try migrate(fixture)
        let error = #expect(throws: StoreError.self) {
            // The first reader is taken, so that another one is made.
            try store.readers.read { _ throws(StoreError) in
                try store.readers.read { reader throws(StoreError) in _ = try reader.auditHead() }
            }
        }
        #expect(error?.code == .newerSchema(found: Migrations.all.count + 1, known: Migrations.all.count))
    }

    @Test func aNewIncarnationHoldsTheLoginsOfRunningProcessesToo() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let other = try fixture.open()
        await #expect(try !other.login(login).isHeld)
        let event = event
        try await store.write { try $0.changeVault(event) { $0.incarnation += 1 } }
        #expect(try await store.session(.login(login)).isHeld)
        #expect(try await other.login(login).isHeld)
        #expect(try await other.session(.login(login)).isHeld)
        let fresh = try fixture.open()
        await #expect(try fresh.login(login).isHeld)
        fresh.close()
        #expect(try await other.verify().findings == [])
        other.close()
    }

    @Test func aWriterSeesANewIncarnationBeforeItActs() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let other = try fixture.open()
        let event = event
        try await store.write { try $0.changeVault(event) { $0.incarnation += 1 } }
        #expect(try await other.updateLogin(login) { $0.isHeld })
        other.close()
    }

    @Test func aNewKeyringIsLoadedByReadersAndWriters() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let (reader, writer) = (try fixture.open(), try fixture.open())
        let event = event
        for round in 1...3 {
            try await store.write { transaction in
                let next = try transaction.rows.current.keyring.addingPrimaryRoot(madeAt: 1_800_000_000_000)
                try transaction.changeVault(event) { $0.keyring = next }
            }
            let newest = store.context.keyring.primaryRoot.id
            try await store.updateLogin(login) { $0.session.attempts += 1 }
            await #expect(try reader.session(.user("alice")).session.attempts == 2 * round - 1)
            #expect(reader.context.keyring.primaryRoot.id == newest)
            try await writer.updateLogin(login) { $0.session.attempts += 1 }
            #expect(writer.context.keyring.primaryRoot.id == newest)
            #expect(try await store.session(.user("alice")).session.attempts == 2 * round)
        }
        #expect(store.context.keyring.retiredRoots.count == 3)
        #expect(try await reader.verify().findings == [])
        reader.close()
        writer.close()
    }

    /// What a batch has not committed is known to nobody.
    @Test func aKeyringThatIsNotCommittedIsNotUsed() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let before = store.context.keyring.primaryRoot.id
        let event = event
        await #expect(throws: StoreError.self) {
            try await store.write { transaction in
                let next = try transaction.rows.current.keyring.addingPrimaryRoot(madeAt: 1_800_000_000_000)
                try transaction.changeVault(event) { $0.keyring = next }
                throw StoreError(.conflict, "changed its mind")
            }
        }
        #expect(store.context.keyring.primaryRoot.id == before)
        _ = try await store.insertLogin(fixture.draft("alice"))
        #expect(store.context.keyring.primaryRoot.id == before)
        await #expect(try fixture.open().verify { _ in }.findings == [])
    }
}
