import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Backups that only their recipients can open.
@Suite struct IsolatedBackupTests {
    /// Made by age-keygen for this test.
    private static let identity = "AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6"

    private struct Scene {
        let vault: BackedUpVault
        let unlocker: IdentityUnlocker
        let path: String

        init(beginsRotation: Bool = false) async throws {
            vault = try await BackedUpVault()
            unlocker = try IdentityUnlocker(SecretBytes(utf8: IsolatedBackupTests.identity))
            let recipient = try #require(
                try Identity.parse(SecretBytes(utf8: IsolatedBackupTests.identity)).first
            ).recipient
            path = vault.sample.directory.file("isolated.tvbackup")
            let store = try vault.sample.open()
            defer { store.close() }
            if beginsRotation { _ = try await store.write { try $0.beginRootRotation() } }
            var plan = BackedUpVault.plan(path)
            plan.recipients = [recipient]
            _ = try await store.backUp(plan) { _, _ in }
        }

        var backup: BackupFile { get throws { try BackupFile(at: path) } }

        func restore(to name: String = "restored.vault") throws {
            _ = try Restoration(
                of: backup, to: vault.sample.directory.file(name), trustsFileSystem: true, .none, clock: vault.clock
            ).run(by: unlocker, policy: .init()) { _, _ in }
        }
    }

    @Test(arguments: [false, true]) func itsIdentityOpensItAndNoKeyOfTheVault(_ isRotating: Bool) async throws {
        let scene = try await Scene(beginsRotation: isRotating)
        let file = try scene.backup
        try file.checkBytes()
        try file.checkDatabase()
        let report = try file.verify(by: scene.unlocker, policy: .init(), clock: scene.vault.clock) { _ in }
        #expect(report.findings == [])
        #expect(file.manifest.recipients.count == 1 && file.manifest.slots.map(\.kind) == [4])
        // The vault has not got the rows that sealing it anew has left.
        #expect(file.manifest.vaultSequence < file.manifest.auditSequence)
        let sample = scene.vault.sample
        for key in [sample.keyFile, sample.spareKeyFile] {
            let error = #expect(throws: StoreError.self) {
                try file.verify(by: KeyFileUnlocker(path: key), policy: .init(), clock: scene.vault.clock) { _ in }
            }
            #expect(error?.code == .wrongKey)
        }
        try scene.restore()
        let restored = try SQLiteVaultStore.open(
            at: sample.directory.file("restored.vault"), unlocker: scene.unlocker, clock: scene.vault.clock)
        defer { restored.close() }
        #expect(try await restored.verify().findings == [])
        #expect(try await restored.logins(ofUser: nil, after: nil, limit: 100).count == 10)
        #expect(try await restored.keySlots().count == 1)
    }

    /// With all keys that the vault has, and has had, nothing in the backup can be opened: no cell of it is as it was, and
    /// none is sealed with a key that the vault knows.
    @Test func whatTheVaultKnowsOpensNothingInIt() async throws {
        let scene = try await Scene()
        let bytes = try FileBytes.read(scene.path)
        let connection = try Connection(path: scene.vault.sample.path)
        try connection.prepareForInspection()
        defer { connection.close() }
        var compared = 0
        for (table, column) in Self.cells {
            let rows = try Statement(connection, "SELECT \(column) FROM \(table)")
            while try rows.step() {
                let cell = unsafe Array(rows.blob(0))
                // Its nonce and the beginning of what is sealed, wherever in the file a part of it might have stayed.
                #expect(bytes.firstRange(of: cell[32..<64]) == nil, "\(table).\(column)")
                compared += 1
            }
        }
        #expect(compared > 10)
        let store = try scene.vault.sample.open()
        defer { store.close() }
        let roots = [store.context.keyring.primaryRoot] + store.context.keyring.retiredRoots
        let copy = try scene.backup.connect()
        defer { copy.close() }
        // Nor does it hold a key that opens something in the vault.
        let context = try scene.backup.unlock(copy, scene.unlocker, .init(), scene.vault.clock)
        #expect(context.keyring.retiredRoots.isEmpty)
        #expect(!roots.contains { $0.isSame(as: context.keyring.primaryRoot) })
        let users = try Statement(copy, "SELECT rootKey FROM user")
        var count = 0
        while try users.step() {
            let key = unsafe Array(users.blob(0))
            #expect(!roots.contains { $0.id.bytes.array == key })
            count += 1
        }
        #expect(count == 4)
    }

    private static let cells = [
        ("vault", "keyringCell"), ("vault", "manifestCell"), ("keySlot", "cell"), ("user", "cell"),
        ("provider", "cell"),
        ("authorizationRequest", "cell"), ("outbox", "cell"),
    ]

    /// To the vault it is a backup like any other.
    @Test func theVaultGoesOnAsBefore() async throws {
        let scene = try await Scene()
        let store = try scene.vault.sample.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        let listed = try #require(try await store.backups().last?.record)
        #expect(listed.recipients == (try scene.backup.manifest.recipients) && listed.finishedAt != nil)
        let rows = try await store.auditEntries(after: try scene.backup.manifest.vaultSequence, limit: 10)
        #expect(rows.map(\.kind) == [.backupMade])
        #expect(try await store.keySlots().count == 2)
    }

    /// Rows that do not open stay, and are told when the backup is verified.
    @Test func aDamagedUserStopsNoBackup() async throws {
        let scene = try await Scene()
        let sample = scene.vault.sample
        try RawDatabase(sample.path).execute(
            "UPDATE user SET cell = zeroblob(length(cell)) WHERE id = (SELECT min(id) FROM user)")
        let store = try sample.open()
        defer { store.close() }
        var plan = BackedUpVault.plan(sample.directory.file("other.tvbackup"))
        plan.recipients = [try #require(try Identity.parse(SecretBytes(utf8: Self.identity)).first).recipient]
        plan.sampledUsers = 0
        _ = try await store.backUp(plan) { _, _ in }
        let file = try BackupFile(at: sample.directory.file("other.tvbackup"))
        let report = try file.verify(by: scene.unlocker, policy: .init(), clock: scene.vault.clock) { _ in }
        #expect(report.findings.count > 0)
    }
}
