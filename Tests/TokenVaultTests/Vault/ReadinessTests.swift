import EngineSupport
import FoundationEssentials
import Testing
import TokenVault
import TokenVaultTesting

@Suite(.tags(.everyEngine))
struct ReadinessTests {
    @Test func aVaultIsReadyAsLongAsItIsOpen() async throws {
        let world = try await World()
        try await world.addChain()
        try await world.vault.checkReadiness()
        await world.vault.close()
        #expect(await code { try await world.vault.checkReadiness() } == .closed)
    }

    @Test(.aboutFiles("the vault's file is moved away")) func itIsReadyAsLongAsItsFileLiesThere() async throws {
        let world = try await World()
        let (path, aside) = (world.temporary.address, world.temporary.address + ".aside")
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        #expect(await code { try await world.vault.checkReadiness() } == .storageFailed)
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        try await world.vault.checkReadiness()

        // A copy in its place is another file.
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        try FileManager.default.copyItem(atPath: aside, toPath: path)
        #expect(await code { try await world.vault.checkReadiness() } == .rollbackSuspected)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        try await world.vault.checkReadiness()

        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        #expect(await code { try await world.vault.checkReadiness() } == .unsafeFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try await world.vault.checkReadiness()
    }
}
