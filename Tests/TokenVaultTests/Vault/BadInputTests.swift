import EngineSupport
import Foundation
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

/// Files that are not as they were written: each a clear error, and nobody else's login is in the way.
struct BadInputTests {
    private func makeTwo() async throws -> (World, TableIntruder) {
        let world = try await World()
        try await world.addChain(user: "alice", name: "a")
        try await world.addChain(user: "bob", name: "b")
        return (world, try world.temporary.intruder())
    }

    enum Tampering: CaseIterable {
        case cellOfAnother, expiry, generation, provider, user, blankCell, userCellOfAnother, userRevision

        func change(_ intruder: TableIntruder) throws {
            switch self {
            case .cellOfAnother:
                try intruder.execute(
                    "UPDATE login SET cell = (SELECT cell FROM login ORDER BY id DESC LIMIT 1) WHERE id = 1")
            case .expiry: try intruder.execute(#"UPDATE login SET "expiresAt" = 9999999999999 WHERE id = 1"#)
            case .generation: try intruder.execute("UPDATE login SET generation = generation + 1 WHERE id = 1")
            case .provider: try intruder.execute("UPDATE login SET provider = NULL WHERE id = 1")
            case .user: try intruder.execute(#"UPDATE login SET "user" = 2 WHERE id = 1"#)
            case .blankCell: try intruder.blank("login", "cell", where: "id = 1")
            case .userCellOfAnother:
                try intruder.execute(
                    #"UPDATE "user" SET cell = (SELECT cell FROM "user" WHERE id = 2) WHERE id = 1"#)
            case .userRevision: try intruder.execute(#"UPDATE "user" SET revision = revision - 1 WHERE id = 1"#)
            }
        }
    }

    @Test(arguments: Tampering.allCases)
    func aRowThatWasChangedIsFoundAndHurtsNobodyElse(_ tampering: Tampering) async throws {
        let (world, intruder) = try await makeTwo()
        let alice = try #require(try await world.vault.user("alice").logins.first)
        try tampering.change(intruder)
        let found = await code { try await world.users.accessToken(for: .login(alice)) }
        #expect(found == .quarantined || found == .rollbackSuspected, "\(String(describing: found))")
        #expect(await code { try await world.users.accessToken(for: .login(alice), .renewed) } != nil)
        #expect(world.transport.requestCount == 0)
        if tampering != .user {
            #expect(try await world.users.accessToken(userId: "bob").name == "b")
        }
        #expect(try await !world.vault.verify().isClean)
        #expect(try await world.vault.logins().count == 2)
    }

    @Test func aLoginThatWasDeletedIsMissed() async throws {
        let (world, intruder) = try await makeTwo()
        try intruder.execute(#"DELETE FROM "loginSecret" WHERE login = 1"#, "DELETE FROM login WHERE id = 1")
        #expect(await code { try await world.users.accessToken(userId: "alice") } != .notLoggedIn)
        #expect(try await world.users.accessToken(userId: "bob").name == "b")
        #expect(try await !world.vault.verify().isClean)
    }

    @Test func theRowOfAnOlderTimeIsNotTaken() async throws {
        let (world, intruder) = try await makeTwo()
        let alice = try #require(try await world.vault.user("alice").logins.first)
        try intruder.keepRows(of: ["login"])
        world.transport.enqueue(.generation("a2"))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(alice)).name == "a2")
        try intruder.restoreRows(of: ["login"])
        #expect(await code { try await world.users.accessToken(for: .login(alice)) } != nil)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aNewerSchemaIsRefused() async throws {
        let (world, intruder) = try await makeTwo()
        await world.vault.close()
        try intruder.setSchemaVersion(4711)
        #expect(await code { try await world.temporary.openAgain() } == .newerSchema)
    }

    @Test func aForeignTriggerIsRefused() async throws {
        let (world, intruder) = try await makeTwo()
        await world.vault.close()
        try intruder.addTrigger(on: "login")
        #expect(await code { try await world.temporary.openAgain() } == .damaged)
    }

    @Test(.aboutFiles("a text lies where the vault's file should"))
    func aFileThatIsNoVaultIsRefused() async throws {
        let temporary = try await TestVault()
        await temporary.vault.close()
        let path = temporary.directory + "/text"
        #expect(
            FileManager.default.createFile(
                atPath: path, contents: Data(String(repeating: "no vault ", count: 1_000).utf8),
                attributes: [.posixPermissions: 0o600]))
        #expect(await code { try await Vault.open(at: path, unlockedBy: .keyFile(temporary.keyFile)) } == .notAVault)
    }

    @Test func aFileThatOthersCanReadIsRefused() async throws {
        let temporary = try await TestVault()
        await temporary.vault.close()
        var files = [(temporary.keyFile, VaultError.Code.keyUnsafe)]
        if !TestEngine.isServer { files.append((temporary.address, .unsafeFile)) }
        for (path, expected) in files {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            do {
                _ = try await temporary.openAgain()
                Issue.record("\(path) was opened")
            } catch let error as VaultError {
                #expect(error.code == expected)
                #expect(error.hint != nil)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        await (try temporary.openAgain()).close()
    }

    @Test func everyErrorIsASentenceThatNamesNobody() async throws {
        let world = try await World()
        try await world.addChain(user: "CANARY-user", name: "1")
        try await world.addChain(user: "CANARY-user", name: "2")
        var errors: [any Error] = []
        let calls: [@Sendable () async throws -> Any] = [
            { try await world.users.accessToken(userId: "CANARY-nobody") },
            { try await world.users.accessToken(userId: "CANARY-user") },
            { try await world.users.beginLogIn(LogInRequest(userId: "CANARY-user", provider: "CANARY-provider")) },
            { try await world.users.completeLogIn(.url("CANARY-url"), boundTo: .random()) },
            { try await world.users.completeUnboundLogIn(.url("CANARY-url")) },
            { try await world.vault.user("CANARY-nobody") },
        ]
        for call in calls {
            do { _ = try await call() } catch { errors.append(error) }
        }
        #expect(errors.count == calls.count)
        for error in errors {
            let error = try #require(error as? VaultError)
            #expect(!"\(error) \(error.hint ?? "")".contains("CANARY"))
            #expect(error.message.first?.isUppercase == false)
            #expect(error.message.last != ".")
        }
    }
}
