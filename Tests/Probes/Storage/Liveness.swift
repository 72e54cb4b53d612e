import Foundation
import Synchronization
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe fork VAULT KEY` and `storage-probe closefrom VAULT KEY`: hosts that do what no host should.
struct Liveness {
    private let path: String
    private let key: String
    private let store: SQLiteVaultStore

    init(_ path: String, _ key: String) throws {
        self.path = path
        self.key = key
        store = try Self.open(path, key)
        say("owner \(store.owner)")
    }

    private static func open(_ path: String, _ key: String) throws(StoreError) -> SQLiteVaultStore {
        try SQLiteVaultStore.open(
            at: path, unlocker: KeyFileUnlocker(path: key), clock: { Timestamp(milliseconds: 1_800_000_000_000) })
    }

    private func insertLogin() async throws -> LoginHandle {
        try await store.insertLogin(
            LoginDraft(
                userId: "liveness-\(store.owner)", provider: nil,
                session: SessionRecord(
                    state: .established, createdAt: Timestamp(milliseconds: 0), obtainedAt: Timestamp(milliseconds: 0)),
                refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "1")))
        ).handle
    }

    private func reply(_ login: LoginHandle) -> SpooledReply {
        SpooledReply(
            login: login, user: .random(), provider: nil, position: .first, fence: 1,
            accessToken: SecretBytes(utf8: "access"), tokenType: "Bearer", obtainedAt: Timestamp(milliseconds: 0),
            refreshToken: SecretBytes(utf8: "2"))
    }

    /// Of a call that must end without waiting: in a fork no other thread lives.
    private func outcome(_ body: @escaping @Sendable () async throws -> Void) -> String {
        let outcome = Outcome()
        _ = Task.immediate {
            do {
                try await body()
                outcome.set("fine")
            } catch {
                outcome.set((error as? StoreError).map { "\($0.code)" } ?? "\(error)")
            }
        }
        return outcome.text
    }

    private final class Outcome: Sendable {
        private let state = Mutex("waiting")

        var text: String { state.withLock { $0 } }
        func set(_ text: String) { state.withLock { $0 = text } }
    }

    // MARK: Fork without exec

    func fork() async throws {
        let login = try await insertLogin()
        try store.spool.prepare()
        let handle = try store.spool.add(reply(login))
        // Swift does not import fork, for good reasons.
        guard let symbol = unsafe dlsym(nil, "fork") else { exit(70) }
        let fork = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            beChild(login, handle)
            while true { pause() }
        }
        say("child-process \(child)")
        for _ in 0..<20 { try await store.updateLogin(login) { $0.session.attempts += 1 } }
        _ = try await store.login(login)
        say("parent owns \(store.ownsItsLock)")
        while true { pause() }
    }

    /// More vaults than a process has at first room to remember: a fork keeps none of their locks.
    func forkWithMany(_ count: Int) throws {
        var others: [SQLiteVaultStore] = []
        for _ in 1..<count { others.append(try Self.open(path, key)) }
        guard let symbol = unsafe dlsym(nil, "fork") else { exit(70) }
        let fork = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        say("parent holds \(heldLocks())")
        if fork() == 0 {
            say("child holds \(heldLocks())")
            _exit(0)
        }
        var status: Int32 = 0
        unsafe _ = wait(&status)
        say("parent owns \(others.count { $0.ownsItsLock })")
    }

    /// Descriptors of the lock file.
    private func heldLocks() -> Int {
        var lock = stat()
        guard unsafe lstat(path + ".lock", &lock) == 0 else { return 0 }
        return (Int32(3)..<4_096).count { number in
            var info = stat()
            return unsafe fstat(number, &info) == 0 && info.st_ino == lock.st_ino && info.st_dev == lock.st_dev
        }
    }

    /// Every call must be refused, and none may hang or touch a file.
    private func beChild(_ login: LoginHandle, _ handle: SpoolHandle) {
        let calls: [(String, @Sendable () async throws -> Void)] = [
            ("session", { _ = try await store.session(.login(login)) }),
            ("login", { _ = try await store.login(login) }),
            ("users", { _ = try await store.users(after: nil, limit: 1) }),
            ("statistics", { _ = try await store.statistics() }),
            ("verify", { _ = try await store.verify() }), ("openIntents", { _ = try await store.hasOpenIntents() }),
            ("prepareSpool", { try store.spool.prepare() }), ("spool", { _ = try store.spool.add(reply(login)) }),
            ("unspool", { try store.spool.remove(handle) }), ("spooledReplies", { _ = try store.spool.listings() }),
            ("open", { _ = try Self.open(path, key) }),
            ("migrate", { try SQLiteVaultStore.migrate(at: path, clock: { Timestamp(milliseconds: 0) }) }),
        ]
        for (name, call) in calls { say("child \(name) \(outcome(call))") }
        say("child owns \(store.ownsItsLock)")
        say("child frees \(!store.isOwnerAlive(12345))")
        store.close()
        say("child closed")
    }

    // MARK: Descriptors closed by somebody else

    func closeFrom(readsFirst: Bool) async throws {
        let login = try await insertLogin()
        try store.spool.prepare()
        _ = try await store.session(.login(login))
        closeFiles()
        // Whatever the vault had open is now this file, many times.
        let bystander = path + "-bystander"
        try Data("untouched".utf8).write(to: URL(filePath: bystander))
        let descriptors = (0..<100).map { _ in unsafe Glibc.open(bystander, O_RDWR) }
        if readsFirst {
            _ = outcome { _ = try await store.login(login) }
            say("first read over")
        } else {
            say("owns \(store.ownsItsLock)")
        }
        do {
            try await store.updateLogin(login) { $0.session.attempts += 1 }
            say("write fine")
        } catch {
            say("write \((error as? StoreError).map { "\($0.code)" } ?? "\(error)")")
        }
        say("read \(outcome { _ = try await store.session(.login(login)) })")
        say("owns \(store.ownsItsLock)")
        say("spool \(outcome { _ = try store.spool.add(reply(login)) })")
        store.close()
        let intact = descriptors.count { fcntl($0, F_GETFD) >= 0 }
        say("bystander \(intact) \(try String(contentsOfFile: bystander, encoding: .utf8))")
        say("done")
    }

    /// As `closefrom(3)`, but for the runtime's own descriptors of events: without them libdispatch ends the process
    /// whenever it next looks at them.
    private func closeFiles() {
        for descriptor in Int32(3)..<256 {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            guard let target, !target.hasPrefix("anon_inode:") else { continue }
            close(descriptor)
        }
    }
}
