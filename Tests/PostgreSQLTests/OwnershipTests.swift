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
}
