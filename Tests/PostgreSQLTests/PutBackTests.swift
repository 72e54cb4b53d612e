import TestSupport
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A database is put back to an earlier state, in each of the ways in which people do that: all logins are held, because
/// their refresh tokens may have been spent since.
struct PutBackTests {
    /// The cluster is the same, and so is its history. The machine has been there before.
    @Test func aStartedBaseBackupIsNoticedWhereTheVaultWasUsed() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        try await vault.putBackBehindAChange(login)
        let opened = try vault.open(machine: "state")
        let found = try await opened.login(login)
        #expect(found.isHeld && found.session.label != "since then")
        #expect(try await opened.acceptRestored([login]) { _ in }.living == [login])
        #expect(try await opened.verify().findings == [])
        await opened.shutDown()
        // It is said once.
        let next = try vault.open(machine: "state")
        #expect(try await !next.login(login).isHeld)
        await next.shutDown()
    }

    /// Others have gone on with the older state, further than the newer one had come.
    @Test func theMachineNoticesItLater() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        try await vault.putBackBehindAChange(login)
        let stranger = try vault.open(machine: "stranger")
        for number in 0..<5 { try await stranger.updateLogin(login) { $0.session.label = "\(number)" } }
        #expect(try await !stranger.login(login).isHeld)
        let opened = try vault.open(machine: "state")
        #expect(try await opened.login(login).isHeld)
        #expect(try await stranger.login(login).isHeld)
        await opened.shutDown()
        await stranger.shutDown()
    }

    @Test(arguments: [true, false]) func aStartedBaseBackupIsNoticedByAProcessThatLives(_ hasWritten: Bool) async throws
    {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        let other = try vault.open()
        try vault.server.snapshot()
        try await vault.store.updateLogin(login) { $0.session.label = "since then" }
        let changes = try #require(vault.store.watch.knownChanges)
        try await eventually { other.watch.knownChanges == changes }
        let living = hasWritten ? vault.store : other
        await (hasWritten ? other : vault.store).shutDown()
        try vault.server.putBack()
        // Until it is found out, what it has seen itself is refused in an older state.
        try await eventually {
            do throws(StoreError) { return try await living.login(login).isHeld } catch {
                #expect(error.code == .busy || error.code == .rollbackSuspected, "\(error)")
                return false
            }
        }
        #expect(try await living.login(login).isHeld)
        await living.shutDown()
    }

    /// As `pg_restore` does it in the same cluster: the tables are others.
    @Test func tablesThatWereMadeAnewAreNoticed() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        await vault.store.shutDown()
        try vault.makeTableAnew()
        let opened = try vault.open(machine: "another")
        #expect(try await opened.login(login).isHeld)
        let start = SuspendingClock.now
        let next = try vault.open(machine: "next", timeouts: ServerVault.longTimeouts)
        #expect(start.duration(to: .now) < ServerVault.longTimeouts.withWriters)
        #expect(try await next.login(login).isHeld)
    }

    /// Nothing is missing that the process knows of which has it open.
    @Test func tablesThatAreWholeAreGoneOnWith() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        try vault.makeTableAnew()
        try await vault.store.updateLogin(login) { $0.session.label = "after" }
        #expect(try await !vault.store.login(login).isHeld)
        let found = try await ServerVault.outcome(vault.store)
        #expect(found["cluster"] == "copied" && found["outcome"] == "whole")
    }

    @Test func aCopyOfTheDatabaseHoldsAllLoginsAndTheOriginalNone() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        await vault.store.shutDown()
        let schema = vault.address.schema
        func address(_ database: String) throws -> ServerAddress {
            try ServerAddress("postgresql://vault@/\(database)?host=\(vault.server.directory)&schema=\(schema)")
        }
        let connection = try ServerConnection(address("template1"))
        try connection.send(Statement("CREATE DATABASE clone TEMPLATE postgres", isKept: false))
        try connection.sync()
        connection.close()
        let original = try vault.open(machine: "state")
        try await original.updateLogin(login) { $0.session.label = "in the original" }
        let clone = try vault.open(at: address("clone"), machine: "state")
        #expect(try await clone.login(login).isHeld)
        await clone.shutDown()
        await original.shutDown()
        // What this machine knows of the one says nothing about the other.
        let again = try vault.open(machine: "state")
        #expect(try await !again.login(login).isHeld)
        await again.shutDown()
    }

    /// The server, and all that use it, were only started anew.
    @Test func aServerThatStartsAnewHoldsNothing() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        await vault.store.shutDown()
        try vault.server.restart()
        for machine in ["state", "another", "state"] {
            let opened = try vault.open(machine: machine)
            try await opened.updateLogin(login) { $0.session.label = machine }
            #expect(try await !opened.login(login).isHeld)
            await opened.shutDown()
        }
    }

    @Test func whatAMachineKnowsIsReadAsItWasWritten() throws {
        let directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
        let path = directory.file("known")
        #expect(MachineNote(at: path) == nil)
        let head = try #require(
            unsafe Array(UInt8(0)..<32).withUnsafeBytes { unsafe AuditMAC($0) }.map {
                WriteTransaction.AuditHead(sequence: 7, mac: $0)
            })
        for head in [head, nil] {
            let note = MachineNote(
                history: ServerTimeline(system: -5, timeline: 3), changes: 12, incarnation: 2, head: head)
            note.write(to: path, by: 1)
            let found = try #require(MachineNote(at: path))
            #expect(found.history == note.history && found.changes == 12 && found.incarnation == 2)
            #expect(found.head == head)
        }
    }
}
