import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Rows as they once were, put back by somebody who kept a copy.
struct RollbackTests {
    private struct Copies {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        /// As another process that has not read since the copy was made.
        let latecomer: SQLiteVaultStore
        let login: StoredLogin

        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            login = try await store.insertLogin(fixture.draft("alice"))
            latecomer = try fixture.open()
            _ = try await latecomer.session(.user("alice"))
            for table in ["user", "login", "loginSecret", "audit", "vault"] {
                try keep(table)
            }
            try await store.updateLogin(login.handle) { state in
                state.position = state.position.successor
                state.refresh?.refreshToken = .canary("refresh-new")
                state.session.accessToken = .canary("access-new")
            }
        }

        private var path: String { fixture.directory.file("copy.db") }

        /// A copy of a table in a file of its own, as it now is.
        private func keep(_ table: String) throws {
            let connection = try Connection(path: fixture.path)
            if !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(fileURLWithPath: path))
            }
            try connection.execute(
                "ATTACH '\(path)' AS copy; CREATE TABLE copy.\(table) AS SELECT * FROM main.\(table)")
        }

        func putBack(_ tables: String...) throws {
            let connection = try Connection(path: fixture.path)
            try connection.execute("PRAGMA foreign_keys = 0; ATTACH '\(path)' AS copy; BEGIN IMMEDIATE")
            for table in tables {
                try connection.execute(
                    "DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM copy.\(table)")
            }
            try connection.execute("COMMIT")
        }
    }

    @Test(arguments: [["login"], ["login", "loginSecret"], ["user"]])
    func anOlderRowIsNoticedAtTheNextRead(tables: [String]) async throws {
        let copies = try await Copies()
        for table in tables { try copies.putBack(table) }
        let error = await #expect(throws: StoreError.self) { try await copies.store.session(.user("alice")) }
        let isUser = tables == ["user"]
        #expect(
            error?.code
                == (isUser ? .rollbackSuspected : .quarantined(table: "login", handle: copies.login.handle.text)))
        let other = try copies.fixture.open()
        let stranger = await #expect(throws: StoreError.self) { try await other.session(.user("alice")) }
        #expect(stranger?.code == error?.code)
        #expect(!(try await copies.store.verify().isClean))
    }

    @Test func anOlderRefreshCellIsNoticedBeforeItIsSpent() async throws {
        let copies = try await Copies()
        try copies.putBack("loginSecret")
        let error = await #expect(throws: StoreError.self) { try await copies.store.login(copies.login.handle) }
        #expect(error?.code == .quarantined(table: "loginSecret", handle: copies.login.handle.text))
        _ = try await copies.store.session(.user("alice"))
    }

    @Test func aWholeOlderUserIsRefusedByWhoHasSeenTheNewerOne() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret")
        let (store, login) = (copies.store, copies.login.handle)
        let reads: [@Sendable () async throws -> Void] = [
            { _ = try await store.session(.user("alice")) }, { _ = try await store.session(.login(login)) },
            { _ = try await store.session(.login(login, ofUsers: "alice")) }, { _ = try await store.login(login) },
            { _ = try await store.user("alice") },
        ]
        for read in reads {
            let error = await #expect(throws: StoreError.self) { try await read() }
            #expect(error?.code == .rollbackSuspected)
        }
        let error = await #expect(throws: StoreError.self) {
            try await store.updateLogin(login) { $0.session.label = "x" }
        }
        #expect(error?.code == .rollbackSuspected)
        let findings = try await store.verify().findings
        #expect(findings.contains { $0.place == "user" && $0.subject == copies.login.user.text })
    }

    /// Also if the trail was put back, so that only the memory of this process knows better.
    @Test func olderUserAndTrailAreRefusedByProcessAhead() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret", "audit")
        let error = await #expect(throws: StoreError.self) { try await copies.store.session(.user("alice")) }
        #expect(error?.code == .rollbackSuspected)
    }

    /// A process that has not seen the newer one asks the trail when it meets the user.
    @Test func aWholeOlderUserIsRefusedByWhoHasSeenNothing() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret")
        let login = copies.login.handle
        let reads: [@Sendable (SQLiteVaultStore) async throws -> Void] = [
            { _ = try await $0.session(.user("alice")) }, { _ = try await $0.session(.login(login)) },
            { _ = try await $0.session(.login(login, ofUsers: "alice")) }, { _ = try await $0.login(login) },
            { _ = try await $0.user("alice") }, { _ = try await $0.userId(of: copies.login.user) },
            { _ = try await $0.logins(ofUser: "alice", after: nil, limit: 9) },
            { try await $0.updateLogin(login) { $0.session.label = "x" } },
            { try await $0.updateUser("alice") { $0.status = .disabled } },
            { _ = try await $0.insertLogin(copies.fixture.draft("alice")) },
        ]
        for read in reads {
            let other = try copies.fixture.open()
            let error = await #expect(throws: StoreError.self) { try await read(other) }
            #expect(error?.code == .rollbackSuspected)
            other.close()
        }
        let other = try copies.fixture.open()
        #expect(try await other.users(after: nil, limit: 9).first?.damage?.code == .rollbackSuspected)
        #expect(try await other.logins(ofUser: nil, after: nil, limit: 9).first?.damage?.code == .rollbackSuspected)
        // The way out.
        try await other.updateUser("alice") { $0.isErased = true }
        let anew = try await other.insertLogin(copies.fixture.draft("alice"))
        let (owner, now) = (other.owner, copies.fixture.now)
        try await other.updateLogin(anew.handle) { _ = $0.openIntent(owner: owner, at: now) }
        #expect(try await other.verify().findings == [])
    }

    /// A process that knows the user in just that state asks the trail before it spends anything.
    @Test func olderUserIsRefusedARenewalByProcessBehind() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret")
        let (other, now) = (copies.latecomer, copies.fixture.now)
        let owner = other.owner
        let error = await #expect(throws: StoreError.self) {
            try await other.updateLogin(copies.login.handle) { _ = $0.openIntent(owner: owner, at: now) }
        }
        #expect(error?.code == .rollbackSuspected)
        #expect(try await other.login(copies.login.handle).intent == nil)
    }

    /// A row in the trail that does not continue the chain must not make somebody refused.
    @Test func aPlantedAuditRowRefusesNobody() async throws {
        let copies = try await Copies()
        try copies.fixture.edit(
            """
            INSERT INTO audit SELECT sequence + 1, time, kind, user, login, provider, 99, detailCell, mac, NULL
            FROM audit
            ORDER BY sequence DESC LIMIT 1
            """)
        let other = try copies.fixture.open()
        let (owner, now) = (other.owner, copies.fixture.now)
        try await other.updateLogin(copies.login.handle) { _ = $0.openIntent(owner: owner, at: now) }
        #expect(!(try await other.verify().isClean))
    }

    /// Somebody else's later commits must not hide that this process's are gone.
    @Test func aRollBackIsNotHiddenByLaterCommitsOfOthers() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret", "audit")
        let other = try copies.fixture.open()
        for number in 0..<3 { _ = try await other.insertLogin(copies.fixture.draft("other-\(number)")) }
        let error = await #expect(throws: StoreError.self) {
            _ = try await copies.store.insertLogin(copies.fixture.draft("bob"))
        }
        #expect(error?.code == .rollbackSuspected)
        other.close()
    }

    @Test func aTrailThatEndsBeforeWhatWasSeenOfItIsNotRead() async throws {
        let copies = try await Copies()
        let head = try await copies.store.auditHead()
        try copies.putBack("audit")
        #expect(try copies.fixture.integer("SELECT max(sequence) FROM audit") < head)
        let error = await #expect(throws: StoreError.self) { try await copies.store.auditHead() }
        #expect(error?.code == .rollbackSuspected)
    }

    /// Nor is a snapshot older than it should be because others commit while it is read.
    @Test func whatIsCommittedDuringAReadIsNotMissed() async throws {
        let copies = try await Copies()
        let context = copies.store.context
        let head = try await copies.store.auditHead()
        let open = try OpenReader(copies.store.database, context)
        let reader = open.reader
        let read = try reader.withSnapshot { () throws(StoreError) in
            _ = try reader.tables.count(.user)
            context.seen.noteAuditHead(head + 1)
            return try reader.auditHead()
        }
        #expect(read == head)
        // Afterwards it is known, and must be there.
        let error = await #expect(throws: StoreError.self) { try await copies.store.auditHead() }
        #expect(error?.code == .rollbackSuspected)
    }

    @Test func anOlderVaultIsNotWrittenByAProcessThatKnowsBetter() async throws {
        let copies = try await Copies()
        try copies.putBack("user", "login", "loginSecret", "audit")
        let error = await #expect(throws: StoreError.self) {
            try await copies.store.updateLogin(copies.login.handle) { $0.session.label = "x" }
        }
        #expect(error?.code == .rollbackSuspected)
    }

    @Test func anAddedLoginIsNoticed() async throws {
        let copies = try await Copies()
        try copies.fixture.edit(
            """
            INSERT INTO login SELECT 99, randomblob(16), user, provider, chain, generation, revision, incarnation,
                dueAt, expiresAt, refreshTag, keyTag, cell FROM login
            """)
        // It does not stand in the way of the login that the vault has written.
        #expect(try await copies.store.session(.user("alice")).login == copies.login.handle)
        let listings = try await copies.store.logins(ofUser: "alice", after: nil, limit: 10)
        let planted = try #require(listings.first { $0.handle != copies.login.handle })
        #expect(listings.count == 2)
        #expect(planted.damage != nil)
        let error = await #expect(throws: StoreError.self) { try await copies.store.session(.login(planted.handle)) }
        #expect(error?.code == .quarantined(table: "login", handle: planted.handle.text))
        #expect(!(try await copies.store.verify().isClean))
    }

    @Test func aDeletedLoginIsNoticed() async throws {
        let copies = try await Copies()
        let second = try await copies.store.insertLogin(copies.fixture.draft("alice", "second"))
        try copies.fixture.edit("DELETE FROM loginSecret WHERE login = 1; DELETE FROM login WHERE id = 1")
        // It does not hide the one that is left.
        #expect(try await copies.store.session(.user("alice")).login == second.handle)
        let listings = try await copies.store.logins(ofUser: "alice", after: nil, limit: 10)
        #expect(listings.contains { $0.handle == copies.login.handle && $0.damage != nil })
    }
}
