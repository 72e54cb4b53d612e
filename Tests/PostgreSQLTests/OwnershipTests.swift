import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultStorage

@testable import VaultPostgreSQL

/// Which processes count as alive, as others see them.
struct OwnershipTests {
    @Test func aProcessThatHasTheVaultOpenIsAlive() async throws {
        let vault = try ServerVault()
        let other = try vault.open()
        #expect(try vault.isAlive(other.owner))
        #expect(other.ownsItsLock)
        await other.shutDown()
        // It has closed the vault in good order, and left nothing: nobody waits.
        #expect(try !vault.isAlive(other.owner))
        #expect(!other.ownsItsLock)
    }

    /// The network to the server may be cut while the way to the provider is open.
    @Test func aFreeLockIsNotEnough() async throws {
        let vault = try ServerVault()
        let other = try vault.open()
        try vault.cutOff(other)
        try await eventually { try !vault.holdsLock(other.owner) }
        #expect(try vault.isAlive(other.owner))
        // Its last proof is old enough now, whatever its clock says.
        try vault.sql(
            #"UPDATE "process" SET "lastSeenAt" = clock_timestamp() - interval '61 seconds' WHERE "owner" = \#(other.owner)"#
        )
        #expect(try !vault.isAlive(other.owner) || vault.holdsLock(other.owner))
    }

    @Test func aProcessThatWasCutOffTakesTheSameLockAgain() async throws {
        let vault = try ServerVault()
        let other = try vault.open()
        try vault.cutOff(other)
        try await eventually { try vault.holdsLock(other.owner) }
        #expect(try vault.isAlive(other.owner))
        try await eventually { other.ownsItsLock }
    }

    /// Without the server's answer nothing is sent: the lock may be free there.
    @Test func withoutProofTheLockDoesNotCount() async throws {
        let vault = try ServerVault()
        let proxy = try CuttingProxy(to: vault.server.directory)
        let other = try vault.open(through: proxy)
        #expect(other.ownsItsLock)
        proxy.refuse()
        try await eventually { !other.ownsItsLock }
        #expect(try vault.isAlive(other.owner))
    }

    /// Of its own machine's processes the kernel knows exactly who has ended: nobody waits for them.
    @Test func whatEndsOnTheSameMachineIsKnownAtOnce() async throws {
        let vault = try ServerVault()
        let other = try vault.open(machine: "state")
        let login = try await other.insertLogin(vault.draft("alice")).handle
        let owner = other.owner
        try await other.updateLogin(login) { _ = $0.openIntent(owner: owner, at: ServerVault.now) }
        #expect(try await vault.store.login(login).intent?.ownerLives == true)
        await other.shutDown()
        #expect(try await vault.store.login(login).intent?.ownerLives == false)
        // Those of another machine cannot know it.
        #expect(try vault.isAlive(owner))
    }

    @Test func anIntentOfALivingProcessStaysItsOwn() async throws {
        let vault = try ServerVault()
        let other = try vault.open()
        let login = try await other.insertLogin(vault.draft("alice")).handle
        let owner = other.owner
        try await other.updateLogin(login) { _ = $0.openIntent(owner: owner, at: ServerVault.now) }
        #expect(try await vault.store.login(login).intent?.ownerLives == true)
        // With something under way its row stays when it closes, and so does the wait.
        await other.shutDown()
        #expect(try await vault.store.login(login).intent?.ownerLives == true)
        try vault.sql(
            #"UPDATE "process" SET "lastSeenAt" = clock_timestamp() - interval '61 seconds' WHERE "owner" = \#(owner)"#)
        #expect(try await vault.store.login(login).intent?.ownerLives == false)
    }

    /// For a second it holds no lock, while another process opens the vault.
    @Test func aProcessThatHasRunForDaysIsNotForgotten() async throws {
        let vault = try ServerVault()
        let old = try vault.open()
        let row = #"FROM "process" WHERE "owner" = \#(old.owner)"#
        try vault.sql(
            #"UPDATE "process" SET "startedAt" = clock_timestamp() - interval '2 days' WHERE "owner" = \#(old.owner)"#)
        for _ in 0..<5 {
            try vault.cutOff(old)
            await (try vault.open(machine: "visitor")).shutDown()
            #expect(try vault.sql("SELECT count(*) \(row)").integer(0, 0) == 1)
            #expect(try vault.isAlive(old.owner))
            try await eventually { old.ownsItsLock }
        }
        // However it has lost its row, it has one again.
        try vault.sql("DELETE \(row)")
        try await eventually { try vault.sql("SELECT count(*) \(row)").integer(0, 0) == 1 }
    }

    /// An image of a machine whose service runs, a file system that several machines share, a machine that was started anew.
    @Test(arguments: ["copy", "other boot", "older version"])
    func whatProvesNothingIsNoEnd(_ kind: String) async throws {
        let vault = try ServerVault()
        let original = try vault.open(machine: "original")
        let login = try await original.insertLogin(vault.draft("alice")).handle
        let owner = original.owner
        try await original.updateLogin(login) { _ = $0.openIntent(owner: owner, at: ServerVault.now) }
        let directory = vault.stateFile("original")
        let copy = vault.stateFile("clone")
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        if kind != "copy" {
            let file = try #require(
                FileManager.default.subpathsOfDirectory(atPath: copy).first { $0.hasSuffix("\(owner).process") })
            let inode = try #require(
                FileManager.default.attributesOfItem(atPath: "\(copy)/\(file)")[.systemFileNumber] as? UInt64)
            let device = try #require(
                FileManager.default.attributesOfItem(atPath: "\(copy)/\(file)")[.systemNumber] as? Int)
            let boot = "00000000-0000-4000-8000-000000000000\n"
            try Data((kind == "other boot" ? "\(device) \(inode) \(boot)" : "").utf8)
                .write(to: URL(filePath: "\(copy)/\(file)"))
        }
        let clone = try vault.open(machine: "clone")
        #expect(try await clone.login(login).intent?.ownerLives == true)
        // Where it really was, its end is still known at once.
        let neighbour = try vault.open(machine: "original")
        await original.shutDown()
        #expect(try await neighbour.login(login).intent?.ownerLives == false)
        #expect(try await clone.login(login).intent?.ownerLives == true)
    }

    /// A proxy keeps the way to the server open whose other half is gone.
    @Test func aLockThatItsOwnLostSessionHoldsIsTakenBack() async throws {
        // One of its own: a word of other vaults' processes would end the session, since its client does not take it.
        let vault = try ServerVault(PostgreSQLServer())
        let proxy = try CuttingProxy(to: vault.server.directory)
        let process = try vault.open(through: proxy)
        let former = try #require(try vault.lockHolder(process.owner))
        proxy.abandon()
        try await eventually {
            let holder = try vault.lockHolder(process.owner)
            return holder != nil && holder != former && process.ownsItsLock
        }
    }
}
