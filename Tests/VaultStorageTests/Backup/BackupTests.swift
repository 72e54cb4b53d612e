import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

@Suite struct BackupTests {
    @Test func aBackupHoldsTheVaultAsItWas() async throws {
        let vault = try await BackedUpVault()
        #expect(try vault.verify()?.findings == [])
        let manifest = try BackupFile(at: vault.backup).manifest
        #expect(
            manifest.backup == vault.record.handle && manifest.counts["user"] == 4 && manifest.counts["login"] == 10)
        #expect(manifest.slots.map(\.label) == ["test", "spare"])
        let store = try vault.sample.open()
        defer { store.close() }
        let listed = try #require(try await store.backups().last?.record)
        #expect(listed == vault.record && listed.finishedAt != nil)
        let head = try await store.auditEntries(after: manifest.auditSequence, limit: 10)
        #expect(head.map(\.kind) == [.backupMade])
        var info = stat()
        unsafe #expect(lstat(vault.backup, &info) == 0)
        #expect(info.st_mode & 0o7777 == 0o600 && Int64(info.st_size) == vault.record.byteCount)
    }

    /// Every byte in `scripts/deep`; otherwise a sample of the database, and everything behind it.
    @Test func everyFlippedByteIsFound() async throws {
        let vault = try await BackedUpVault()
        let bytes = try FileBytes.read(vault.backup)
        let tail = Int(try BackupFile(at: vault.backup).manifest.byteCount)
        let step = Depth.pick(brief: 2_039, nightly: 509, deep: 1)
        let path = vault.sample.directory.file("flipped")
        var tried = 0
        for offset in Array(stride(from: 0, to: tail, by: step)) + Array(tail..<bytes.count) {
            var flipped = bytes
            flipped[offset] ^= UInt8(1 << (offset % 8))
            try? FileManager.default.removeItem(atPath: path)
            try FileBytes.write(flipped, to: path)
            tried += 1
            #expect(throws: StoreError.self, "\(offset)") { try vault.verify(path, withKey: false) }
        }
        print("backup: \(tried) flipped bytes of \(bytes.count), each found without a key")
    }

    @Test func whatWasCutShortIsNoBackup() async throws {
        let vault = try await BackedUpVault()
        let bytes = try FileBytes.read(vault.backup)
        for count in [0, 1, 55, 56, 4_096, bytes.count / 2, bytes.count - 57, bytes.count - 1] {
            let path = vault.sample.directory.file("cut-\(count)")
            try FileBytes.write(Array(bytes.prefix(count)), to: path)
            #expect(throws: StoreError.self) { try vault.verify(path, withKey: false) }
        }
        let longer = vault.sample.directory.file("longer")
        try FileBytes.write(bytes + [0], to: longer)
        #expect(throws: StoreError.self) { try vault.verify(longer, withKey: false) }
    }

    /// Someone without a key can compute every checksum anew, but not the authentication code.
    @Test func aForgedBackupIsFoundWithAKeyAlone() async throws {
        let vault = try await BackedUpVault()
        let container = try BackupFile(at: vault.backup).container
        let tail = Int(container.manifest.byteCount)
        var database = Array(try FileBytes.read(vault.backup).prefix(tail))
        // A reserved byte of the header: SQLite does not mind.
        database[75] ^= 1
        let old = container.manifest
        let forged = BackupManifest(
            vault: old.vault, backup: old.backup, madeAt: old.madeAt, schemaVersion: old.schemaVersion,
            incarnation: old.incarnation, auditSequence: old.auditSequence, auditLink: old.auditLink,
            vaultSequence: old.vaultSequence, byteCount: old.byteCount,
            digest: unsafe database.withUnsafeBytes { unsafe Checksum.digest(of: $0) },
            counts: old.counts, slots: old.slots, recipients: old.recipients, toolVersion: old.toolVersion)
        let path = vault.sample.directory.file("forged")
        try FileBytes.write(database + BackupContainer(forged, container.mac).encoded(), to: path)
        #expect(try vault.verify(path, withKey: false) == nil)
        #expect(throws: StoreError.self) { try vault.verify(path) }
        #expect(throws: StoreError.self) { try vault.restore(from: path) }
        #expect(!FileManager.default.fileExists(atPath: vault.sample.directory.file("restored.vault")))
    }

    @Test func aBackupCannotBeUsedAsAVault() async throws {
        let vault = try await BackedUpVault()
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.open(at: vault.backup, unlocker: vault.unlocker, clock: vault.clock)
        }
        #expect(error?.code == .notAVault && error?.message.contains("backup") == true)
        #expect(try vault.verify()?.isClean == true)
    }

    @Test func aPlaceWhereItMustNotLieIsRefused() async throws {
        let vault = try await BackedUpVault()
        let store = try vault.sample.open()
        defer { store.close() }
        let directory = vault.sample.directory
        func code(_ target: String, sameDevice: Bool = true) async -> StoreError.Code? {
            let plan = BackupPlan(target: target, allowsSameDevice: sameDevice, toolVersion: "test")
            do { _ = try await store.backUp(plan) { _, _ in } } catch { return (error as? StoreError)?.code }
            return nil
        }
        #expect(await code(vault.backup) == .vaultExists)
        #expect(await code(directory.file("other"), sameDevice: false) == .unsafeFile)
        #expect(await code("/nowhere/backup") == .io(ENOENT))
        let open = try directory.subdirectory("open")
        unsafe #expect(chmod(open, 0o777) == 0)
        #expect(await code(open) == .unsafeFile)
        #expect(try await store.backups().count == 3)
        #expect(try !vault.names().contains { $0.hasSuffix(".partial") })
    }

    /// In a directory it gets a name that sorts by time, also within one second, and whatever the trail has grown by.
    @Test func namesSortByTime() {
        func name(_ milliseconds: Int64, head: Int64 = 7) -> String {
            BackupPlan.name(ofVault: "app.vault", at: Timestamp(milliseconds: milliseconds), head: head)
        }
        let times: [(Int64, String)] = [
            (0, "19700101T000000.000Z"), (951_782_400_000, "20000229T000000.000Z"),
            (1_795_388_014_999, "20261122T225334.999Z"), (-1, "19691231T235959.999Z"),
            (-86_400_000, "19691231T000000.000Z"),
        ]
        for (milliseconds, text) in times {
            #expect(name(milliseconds) == "app.vault-\(text)-7.tvbackup")
        }
        #expect(name(1_795_388_014_012, head: 9) < name(1_795_388_014_013, head: 12))
        #expect(name(1_795_388_014_099, head: 99) < name(1_795_388_014_100, head: 100))
    }

    @Test func noSecretIsInABackup() async throws {
        let vault = try await BackedUpVault()
        let bytes = try FileBytes.read(vault.backup)
        let marker = Array("CANARY".utf8)
        #expect(bytes.firstRange(of: marker) == nil)
    }

    // MARK: Under writers

    /// Writers go on, the copy is of one moment, and the log begins anew afterwards.
    @Test func writersGoOnMeanwhile() async throws {
        let sample = try VaultFixture(in: PrivateDirectory(in: PrivateDirectory.fastParent))
        try sample.create().close()
        let store = try sample.open()
        defer { store.close() }
        var logins: [LoginHandle] = []
        for number in 0..<200 {
            logins.append(
                try await store.insertLogin(
                    SampleVault.draft(user: "user-\(number)", number: 0, provider: nil)
                ).handle)
        }
        let other = try sample.open()
        defer { other.close() }
        let isOver = Box(false)
        let now = sample.now
        let all = logins
        let writer = Task {
            var count = 0
            while !isOver.value {
                let round = count
                try await store.updateLogin(all[count % all.count]) { $0.renew(marker: "\(round)", at: now) }
                count += 1
            }
            return count
        }
        var records: [BackupRecord] = []
        let isAnnounced = Box(true)
        for number in 0..<8 {
            let plan = BackedUpVault.plan(sample.directory.file("\(number).tvbackup"))
            records.append(
                try await store.backUp(plan) { _, _ in
                    // Writers of all processes are not to wait for its snapshot.
                    if !other.ownerLock.hasLongSnapshot { isAnnounced.value = false }
                })
        }
        #expect(isAnnounced.value && !other.ownerLock.hasLongSnapshot && !store.ownerLock.hasLongSnapshot)
        isOver.value = true
        let written = try await writer.value
        #expect(written > 8)
        #expect(Set(records.map(\.auditSequence)).count == records.count)
        for record in records {
            let file = try BackupFile(at: record.path)
            try file.checkBytes()
            let report = try file.verify(
                by: KeyFileUnlocker(path: sample.keyFile), policy: .init(), clock: { now }
            ) { _ in }
            #expect(report.findings == [])
        }
        var info = stat()
        unsafe #expect(lstat(sample.path + "-wal", &info) == 0)
        #expect(info.st_size < 64 << 20)
        print("backup: 8 under \(written) commits, log \(info.st_size >> 10) KiB")
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
    func aFullDiskLeavesNothingBehind() async throws {
        let vault = try await BackedUpVault()
        let disk = try SmallFileSystem(byteCount: 128 << 10)
        let store = try vault.sample.open()
        defer { store.close() }
        let before = try await store.backups().count
        do {
            _ = try await store.backUp(BackedUpVault.plan(disk.path + "/b.tvbackup")) { _, _ in }
            Issue.record("there was room")
        } catch let error as StoreError {
            #expect(error.code == .full)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
        #expect(try await store.backups().count == before)
        // Restoring onto it likewise.
        let restoration = try Restoration(
            of: BackupFile(at: vault.backup), to: disk.path + "/r.vault", trustsFileSystem: true, .none,
            clock: vault.clock)
        #expect(throws: StoreError.self) {
            try restoration.run(by: vault.unlocker, policy: .init()) { _, _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    }

    /// Room that is there at the beginning, and not at the end.
    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
    func aDiskThatFillsUpMeanwhileLeavesNothingBehind() async throws {
        let vault = try await BackedUpVault()
        let store = try vault.sample.open()
        defer { store.close() }
        for step in [BackupStep.reserved, .changed] {
            let disk = try SmallFileSystem(byteCount: 4 << 20)
            var plan = BackedUpVault.plan(disk.path + "/b.tvbackup")
            plan.onStep = { if $0 == step { disk.fill() } }
            do {
                _ = try await store.backUp(plan) { _, _ in }
                // What was written already may have left room for the rest of its last page.
                #expect(step == .changed)
                continue
            } catch let error as StoreError {
                #expect(error.code == .full, "\(step): \(error)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["ballast"])
        }
    }
}
