import EngineSupport
import FoundationEssentials
import Glibc
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultSQLite
import VaultStorage

import TokenVault

/// Vaults that programs of former versions have left behind, in `Tests/Vaults`: each is brought up to date and used.
@Suite(.aboutFiles("the kept vaults are files"))
struct UpgradeTests {
    /// The kept vaults' folder, beside the targets.
    private static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Vaults"

    private static let kept: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix("v") }.sorted()
    }()

    /// A directory that goes with the test.
    private final class Place: Sendable {
        let path = FileManager.default.temporaryDirectory.path() + "upgraded-" + UUID().uuidString

        init() throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// A copy of a kept vault, brought up to date.
    private struct Upgraded {
        let directory: Place
        let time = ManualTimeSource()
        let transport = ScriptedTransport()
        let vault: Vault

        var path: String { directory.path + "/vault.db" }

        init(_ name: String) async throws {
            directory = try Place()
            let source = UpgradeTests.folder + "/" + name
            for file in ["vault.db", "vault.db.lock", "vault.key", "vault.db.spool"] {
                try FileManager.default.copyItem(atPath: "\(source)/\(file)", toPath: "\(directory.path)/\(file)")
            }
            // A checkout knows nothing of modes.
            try Self.restrict(directory.path)
            vault = try await Vault.open(
                at: directory.path + "/vault.db", unlockedBy: .keyFile(directory.path + "/vault.key"),
                options: VaultOptions(migrate: true, timeSource: time))
        }

        private static func restrict(_ directory: String) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                let path = directory + "/" + name
                var info = stat()
                try #require(unsafe lstat(path, &info) == 0)
                let isDirectory = info.st_mode & S_IFMT == S_IFDIR
                try #require(unsafe chmod(path, isDirectory ? 0o700 : 0o600) == 0)
                if isDirectory { try restrict(path) }
            }
        }

        func manager() async throws -> UserManager {
            try await UserManager(vault: vault, transport: transport, options: World.options)
        }

        func login(of user: String) async throws -> Login {
            try await vault.login(LoginID(try #require(try await vault.store.user(user).logins.first)))
        }
    }

    @Test func theNewestSchemaVersionHasLeftAVaultBehind() {
        let newest = "v" + String(1_000 + SQLiteVaultStore.schemaVersion).dropFirst()
        #expect(Self.kept.contains(newest), "run once, before this schema version is released: scripts/sample-vault")
        #expect(Self.kept.contains("v005"))
    }

    @Test(arguments: kept) func everythingInItIsWholeAfterTheUpgrade(_ name: String) async throws {
        let upgraded = try await Upgraded(name)
        let vault = upgraded.vault
        #expect(try Vault.migrationStatus(at: upgraded.path).isUpToDate)
        #expect(try await vault.verify().isClean)
        for user in ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "ivan", "mallory"] {
            #expect(try await vault.user(user).isEnabled == (user != "dave"))
            #expect(try await vault.user(user).logins.count == (user == "ivan" ? 2 : 1))
        }
        let hasRobot = name >= "v008"
        #expect(try await vault.userPage().entries.count == (hasRobot ? 10 : 9))
        if hasRobot {
            let robot = try await vault.user("robot").logins
            #expect(robot.count == 66)
            #expect(try await vault.login(robot[65]).label == "label of robot-65")
        }
        for name in ["acme", "globex"] { #expect(try await vault.provider(named: name).name == name) }
        #expect(try await vault.pendingRevocations().entries.count == 1)
        #expect(try await vault.keySlots().map(\.label) == ["key file", "passphrase"])
        let erin = try await upgraded.login(of: "erin")
        #expect(erin.failure?.reason == .deadGrant)
        #expect(erin.label == "label of erin")
        let frank = try await upgraded.login(of: "frank")
        #expect(frank.isInDoubt)
        #expect(try await vault.store.unusableReplies(of: frank.id.handle).compactMap(\.record?.cause) == ["cut short"])
        await vault.close()
        let byPassphrase = try await Vault.open(
            at: upgraded.path, unlockedBy: .passphrase(Passphrase("CANARY-passphrase"), cost: .minimal),
            options: VaultOptions(timeSource: upgraded.time))
        #expect(try await byPassphrase.verify().isClean)
        await byPassphrase.close()
    }

    /// Good tokens are served without a request, spooled ones first of all.
    @Test(arguments: kept) func itsTokensAreServed(_ name: String) async throws {
        let upgraded = try await Upgraded(name)
        let users = try await upgraded.manager()
        for user in ["alice", "carol", "mallory"] {
            let login = try await upgraded.login(of: user)
            await #expect(try users.validAccessToken(for: .login(login.id))?.name == user)
        }
        let bob = try await upgraded.login(of: "bob")
        await #expect(try users.validAccessToken(for: .login(bob.id))?.name == "bob-2", "the spool was read")
        #expect(bob.generation == 2)
        // What was spooled for a login that is gone is to be revoked.
        #expect(try await upgraded.vault.pendingRevocations().entries.count == 2)
        #expect(await code { try await users.accessToken(userId: "dave") } == .userDisabled)
        // A new manager asks about the two revocations in the background, and about them alone.
        await upgraded.time.waitForRest()
        upgraded.time.advance(by: .seconds(3_601))
        #expect(await code { try await users.accessToken(userId: "erin") } == .refreshFailed)
        #expect(upgraded.transport.requestCount == 2)
        #expect(upgraded.transport.requests.allSatisfy { $0.form["grant_type"] == nil && $0.form["token"] != nil })
        await upgraded.vault.close()
    }

    @Test(arguments: kept) func itsLoginsAreRenewedAndItsRevocationsSent(_ name: String) async throws {
        let upgraded = try await Upgraded(name)
        upgraded.transport.fallback = .freshTokens()
        let users = try await upgraded.manager()
        upgraded.time.advance(by: .seconds(3_601))
        // The intent of a process that has ended keeps nobody from renewing.
        for user in ["alice", "bob", "grace", "frank"] {
            let login = try await upgraded.login(of: user)
            let token = try await users.accessToken(for: .login(login.id))
            #expect(token.name.hasPrefix("fresh-"), "\(user)")
        }
        let sent = upgraded.transport.requests.compactMap { $0.form["refresh_token"] }
        #expect(
            Set(sent) == Set(["alice", "bob-2", "grace", "frank"].map { "CANARY-refresh-" + $0 }), "\(sent)")
        #expect(sent.count == 4)
        upgraded.transport.fallback = .status(.ok)
        let report = try await users.retryRevocations()
        #expect(report.isComplete)
        let revoked = upgraded.transport.requests.filter { $0.path == "/revoke" }.compactMap { $0.form["token"] }
        #expect(revoked.contains("CANARY-refresh-orphan"))
        #expect(revoked.contains("CANARY-refresh-judy-2"))
        #expect(try await upgraded.vault.verify().isClean)
        await upgraded.vault.close()
    }
}
