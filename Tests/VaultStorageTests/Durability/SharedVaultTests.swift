import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Several processes and threads at one vault.
@Suite struct SharedVaultTests {
    @Test func threeProcessesWriteAtOnceAndNoneSeesTheVaultBusy() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        let probes = try ["first", "second"].map { try Probe(fixture, user: $0, logins: 4, rounds: 40) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<150 {
                group.addTask { _ = try await store.insertLogin(fixture.draft("third-\(number)")) }
            }
            try await group.waitForAll()
        }
        for probe in probes {
            #expect(probe.lines().last == "done")
            #expect(probe.wait() == 0)
        }
        for name in ["first", "second"] {
            for number in 0..<4 {
                #expect(try await store.session(.user("\(name)-\(number)")).position.generation == 41)
            }
        }
        for number in 0..<150 { _ = try await store.session(.user("third-\(number)")) }
        let report = try await store.verify()
        #expect(report.isClean)
        print("sharing: 3 processes at once, 0 busy, \(report.auditRows) audit rows in one chain")
    }

    /// Readers must see whole generations, whatever the writer and its checkpoints are doing.
    @Test func readersGoOnDuringWritesAndCheckpoints() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        let login = try await store.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil)).handle
        try await store.updateLogin(login) { Self.mark(&$0) }
        let stop = Flag()
        async let reads = Self.read(login, from: store, until: stop)
        async let otherReads = Self.read(login, from: store, until: stop)
        var largest: Int64 = 0
        for _ in 0..<600 {
            try await store.updateLogin(login) { Self.mark(&$0) }
            largest = max(largest, Self.fileSize(vault.path + "-wal"))
        }
        stop.set()
        let (first, second) = try await (reads, otherReads)
        let written = try await store.login(login).position.generation
        #expect(try await store.verify().isClean)
        store.close()
        #expect(first > 0 && second > 0)
        // 250 pages are the threshold, and from 500 on writers wait for a reader that gets no processor time; without
        // checkpoints it would be more than 12 MiB.
        #expect(largest < 4 << 20)
        #expect(Self.fileSize(vault.path) > 0)
        print(
            "checkpoints: \(first + second) consistent reads during \(written) generations, "
                + "WAL at most \(largest >> 10) KiB")
    }

    // MARK: Helpers

    private static func mark(_ state: inout LoginState) {
        state.position = state.position.successor
        state.session.accessToken = SecretBytes(utf8: "access-\(state.position.generation)")
        state.refresh?.refreshToken = SecretBytes(utf8: "refresh-\(state.position.generation)")
    }

    /// Reads until told to stop. Gives the number of reads; each must be of one generation, and none may go back.
    private static func read(_ login: LoginHandle, from store: SQLiteVaultStore, until stop: Flag) async throws -> Int {
        var count = 0
        var latest: Int64 = 0
        while !stop.isSet || count == 0 {
            let session = try await store.session(.login(login))
            #expect(session.session.accessToken == SecretBytes(utf8: "access-\(session.position.generation)"))
            let whole = try await store.login(login)
            #expect(whole.refresh?.refreshToken == SecretBytes(utf8: "refresh-\(whole.position.generation)"))
            #expect(session.position.generation >= latest && whole.position.generation >= session.position.generation)
            latest = whole.position.generation
            count += 2
            await Task.yield()
        }
        return count
    }

    private static func fileSize(_ path: String) -> Int64 {
        var info = stat()
        return unsafe lstat(path, &info) == 0 ? Int64(info.st_size) : 0
    }
}
