import EngineSupport
import Foundation
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@Suite(.tags(.everyEngine))
struct VaultTests {
    @Test func aVaultIsMadeOnceAndOpenedByItsKey() async throws {
        let world = try await World()
        let login = try await world.addChain()
        await world.vault.close()
        #expect(
            await code {
                try await Vault.create(in: world.temporary.location, unlockedBy: .keyFile(world.temporary.keyFile))
            } == .vaultExists)
        let again = try await world.temporary.openAgain()
        await #expect(try again.login(login.id).userId == "alice")
        await again.close()
    }

    @Test func aWrongAMissingAndACutKeyAreThreeErrors() async throws {
        let temporary = try await TestVault()
        await temporary.vault.close()
        let other = temporary.directory + "/other.key"
        try KeyFiles.generate(at: other)
        #expect(await code { try await Vault.open(in: temporary.location, unlockedBy: .keyFile(other)) } == .wrongKey)
        #expect(
            await code { try await Vault.open(in: temporary.location, unlockedBy: .keyFile(other + "-no")) }
                == .keyMissing)
        let text = try String(contentsOfFile: other, encoding: .utf8)
        try String(text.prefix(30)).write(toFile: other, atomically: false, encoding: .utf8)
        #expect(
            await code { try await Vault.open(in: temporary.location, unlockedBy: .keyFile(other)) } == .keyTruncated)
        #expect(await code { try KeyFiles.generate(at: other) } == .keyExists)
    }

    @Test func anAbsentVaultIsNotMade() async throws {
        let temporary = try await TestVault()
        let absent = try temporary.newLocation()
        let files = try FileManager.default.contentsOfDirectory(atPath: temporary.directory).sorted()
        for _ in 0..<2 {
            #expect(
                await code { try await Vault.open(in: absent, unlockedBy: .keyFile(temporary.keyFile)) }
                    == .vaultMissing)
        }
        try #expect(FileManager.default.contentsOfDirectory(atPath: temporary.directory).sorted() == files)
    }

    @Test func anyKeySlotOpensTheVaultAndTheLastCannotBeRemoved() async throws {
        let temporary = try await TestVault()
        let first = try #require(try await temporary.vault.keySlots().first)
        #expect(first.kind == .keyFile)
        let source = KeySource.passphrase(Passphrase("CANARY-horse"), cost: .minimal)
        let second = try await temporary.vault.addKeySlot(source, label: "spare")
        #expect(second.label == "spare")
        #expect(await code { try await temporary.vault.removeKeySlot(first.id) } == .inUse)
        let wrongProof = KeySource.passphrase(Passphrase("CANARY-battery"), cost: .minimal)
        #expect(await code { try await temporary.vault.removeKeySlot(first.id, provenBy: wrongProof) } == .wrongKey)
        try await temporary.vault.removeKeySlot(first.id, provenBy: source)
        #expect(await code { try await temporary.vault.removeKeySlot(second.id) } == .inUse)
        #expect(await code { try await temporary.vault.removeKeySlot(first.id, provenBy: source) } == .unknownKeySlot)
        #expect(KeySlotHandle("nonsense") == nil)
        await temporary.vault.close()
        #expect(await code { try await temporary.openAgain() } == .wrongKey)
        let opened = try await Vault.open(in: temporary.location, unlockedBy: source)
        await #expect(try opened.keySlots().map(\.id) == [second.id])
        await opened.close()
        let wrong = KeySource.passphrase(Passphrase("CANARY-battery"))
        #expect(await code { try await Vault.open(in: temporary.location, unlockedBy: wrong) } == .wrongKey)
    }

    @Test func statusAndVerificationTellWhatIsThere() async throws {
        let world = try await World()
        try await world.addChain(user: "alice")
        try await world.addChain(user: "bob")
        let status = try await world.vault.status()
        #expect((status.users, status.logins, status.providers, status.keySlots) == (2, 2, 1, 1))
        let report = try await world.vault.verify()
        #expect(report.isClean, "\(report.findings)")
        #expect((report.users, report.logins) == (2, 2))
    }

    @Test func aProviderInUseStays() async throws {
        let world = try await World()
        try await world.addChain()
        #expect(await code { try await world.vault.removeProvider(named: "acme") } == .inUse)
        #expect(await code { try await world.vault.addProvider(Sample.provider()) } == .conflict)
        try await world.vault.addProvider(Sample.provider(name: "other"))
        #expect(Set(try await world.vault.providerEntries().compactMap(\.provider?.name)) == ["acme", "other"])
        try await world.vault.removeProvider(named: "other")
        #expect(await code { try await world.vault.provider(named: "other") } == .unknownProvider)
    }

    @Test func anEndpointOnThisMachineStaysAllowed() async throws {
        let world = try await World()
        var registration = Sample.provider(name: "plain")
        #expect(throws: OAuthValueError.self) { try EndpointURL("http://127.0.0.1:8080/token") }
        registration.tokenEndpoint = try EndpointURL("http://127.0.0.1:8080/token", allowsInsecureLoopback: true)
        let added = try await world.vault.addProvider(registration)
        #expect(added.tokenEndpoint == registration.tokenEndpoint)
        await #expect(try world.vault.provider(named: "plain") == added)
    }

    @Test func listingsComeInPages() async throws {
        let world = try await World()
        for index in 0..<7 { try await world.addChain(user: "user\(index)") }
        var ids: Set<String> = []
        var cursor: String?
        repeat {
            let page = try await world.vault.userPage(after: cursor, limit: 3)
            for case .user(let user) in page.entries { ids.insert(user.id) }
            cursor = page.next
        } while cursor != nil
        #expect(ids.count == 7)
        var logins: [Login] = []
        while true {
            let page = try await world.vault.logins(after: logins.last?.id, limit: 2)
            for case .login(let login) in page { logins.append(login) }
            if page.count < 2 { break }
        }
        #expect(Set(logins.map(\.userId)).count == 7)
        await #expect(try world.vault.logins(ofUser: "user3").count == 1)
    }

    @Test func migrationsAreListedAndUpToDate() async throws {
        let temporary = try await TestVault()
        await temporary.vault.close()
        let status = try Vault.migrationStatus(in: temporary.location)
        #expect(status.isUpToDate)
        #expect(status.schemaVersion >= 1)
        let migrated = try await Vault.migrate(in: temporary.location, unlockedBy: .keyFile(temporary.keyFile))
        #expect(migrated == status)
    }
}
