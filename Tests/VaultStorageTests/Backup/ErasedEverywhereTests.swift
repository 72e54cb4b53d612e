import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A user who was erased, and of whom all backups were made for an identity that is destroyed: nothing on the disk leads to
/// anything of theirs, whatever key is still there.
@Suite struct ErasedEverywhereTests {
    private static let identity = "AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6"

    /// A vault with a backup from before the erasure and one from after it. All files lie in one directory.
    private final class Scene {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let erased = "erased-canary-user"
        private let unlocker: IdentityUnlocker

        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            unlocker = try IdentityUnlocker(SecretBytes(utf8: ErasedEverywhereTests.identity))
            let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil).handle
            for user in [erased, "stays"] {
                for number in 1...2 {
                    let draft = fixture.draft(user, "\(user)-\(number)", provider: provider, isBound: true)
                    let login = try await store.insertLogin(draft)
                    try await store.keepUnusableReply(
                        UnusableReplyRecord(
                            login: login.handle, position: login.position, fence: 1, receivedAt: fixture.now,
                            status: 200, contentType: nil, cause: "test", isComplete: true,
                            body: Array("CANARY-reply-\(user)".utf8)))
                }
            }
        }

        func backUp(_ name: String, isolated: Bool) async throws {
            var plan = BackedUpVault.plan(fixture.directory.file(name))
            let identities = try Identity.parse(SecretBytes(utf8: ErasedEverywhereTests.identity))
            if isolated { plan.recipients = identities.map(\.recipient) }
            _ = try await store.backUp(plan) { _, _ in }
        }

        func erase() async throws {
            try await store.updateUser(erased) { $0.isErased = true }
            #expect(await store.removeRemnants() == .gone)
        }

        /// All cells of the user, as they lie in the vault.
        func cells() throws -> [Data] {
            let queries = [
                "SELECT cell FROM user WHERE id = 1", "SELECT cell FROM login WHERE user = 1",
                "SELECT refreshCell FROM loginSecret, login WHERE loginSecret.login = login.id AND user = 1",
                "SELECT keyCell FROM loginSecret, login WHERE loginSecret.login = login.id AND user = 1",
                "SELECT unusableReply.cell FROM unusableReply, login WHERE unusableReply.login = login.id AND user = 1",
            ]
            return try queries.flatMap { query in
                try RawDatabase(fixture.path).run(query).joined().map { value in
                    guard case .blob(let bytes) = value else { throw CocoaError(.coderInvalidValue) }
                    return Data(bytes)
                }
            }
        }

        /// Every file there is, by its path.
        func files() throws -> [String: Data] {
            let paths = try #require(FileManager.default.enumerator(atPath: fixture.directory.path))
            var files: [String: Data] = [:]
            for case let name as String in paths {
                let path = fixture.directory.file(name)
                let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
                guard type == .typeRegular else { continue }
                files[name] = try Data(contentsOf: URL(filePath: path))
            }
            return files
        }

        /// What the keys that are there open of the user: tokens, and the user id itself.
        func found(_ backups: [String], withIdentity: Bool) throws -> Set<String> {
            var found: Set<String> = []
            var keys: [any SlotUnlocker] = [fixture.unlocker]
            if withIdentity { keys.append(unlocker) }
            for (name, key) in backups.flatMap({ name in keys.map { (name, $0) } }) {
                let file = try BackupFile(at: fixture.directory.file(name))
                let copy = try file.connect()
                defer { copy.close() }
                guard let context = try? file.unlock(copy, key, .init(), fixture.clock) else { continue }
                let reader = try Reader(copy, context)
                for user in try reader.users(after: nil, limit: 10) where user.user?.id == erased {
                    found.insert("\(name): user")
                    for handle in user.user?.logins ?? [] {
                        let token = try reader.login(handle).session.accessToken
                        let canaries = (1...2).map { SecretBytes.canary("access-\(erased)-\($0)") }
                        if canaries.contains(where: { $0 == token }) { found.insert("\(name): token") }
                    }
                }
            }
            return found
        }
    }

    @Test func nothingOnTheDiskLeadsToThem() async throws {
        let scene = try await Scene()
        try await scene.backUp("before.tvbackup", isolated: true)
        let cells = try scene.cells()
        #expect(cells.count == 9 && cells.allSatisfy { $0.count > 100 })
        try await scene.erase()
        try await scene.backUp("after.tvbackup", isolated: true)
        scene.store.close()
        let backups = ["before.tvbackup", "after.tvbackup"]
        // The identity opens the backup from before: so what follows can fail.
        #expect(
            try scene.found(backups, withIdentity: true) == ["before.tvbackup: user", "before.tvbackup: token"])
        #expect(try scene.found(backups, withIdentity: false).isEmpty)
        let files = try scene.files()
        #expect(files.count >= 4 && Set(backups).isSubset(of: files.keys))
        for (name, bytes) in files {
            for canary in ["CANARY", scene.erased] {
                #expect(bytes.range(of: Data(canary.utf8)) == nil, "\(name): \(canary)")
            }
            // Their cells are in the backup from before alone, but for the one with their data key: it was sealed anew for
            // the identity.
            let left = cells.count { bytes.range(of: $0[32..<64]) != nil }
            #expect(left == (name == "before.tvbackup" ? cells.count - 1 : 0), "\(name)")
        }
    }

    /// A backup with the vault's own slots keeps them, as the documents say.
    @Test func aBackupWithTheVaultsSlotsStillOpensThem() async throws {
        let scene = try await Scene()
        try await scene.backUp("before.tvbackup", isolated: false)
        try await scene.erase()
        scene.store.close()
        #expect(
            try scene.found(["before.tvbackup"], withIdentity: false)
                == ["before.tvbackup: user", "before.tvbackup: token"])
    }
}
