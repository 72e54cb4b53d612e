import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// The files of a vault that are damaged and repaired again and again.
final class DamagedVault {
    static let files = ["vault.db", "vault.db-wal"]

    /// What must not be.
    struct Wrong: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    let history: History
    private let sandbox: Sandbox
    /// Users whom a read did not find, as if they had never been there.
    private var absent = 0

    init(_ history: History) throws {
        self.history = history
        sandbox = try Sandbox(history.image)
    }

    private func bytes(_ file: String) -> [UInt8] { history.image.files[file] ?? [] }

    func size(of file: String) -> Int { bytes(file).count }

    // MARK: Damage

    func flip(_ offset: Int, of file: String, by mask: UInt8) throws {
        var bytes = bytes(file)
        bytes[offset] ^= mask
        try sandbox.write(bytes, to: file)
    }

    func cut(_ file: String, at end: Int) throws { try sandbox.write(Array(bytes(file)[..<end]), to: file) }

    func zero(_ range: Range<Int>, of file: String) throws {
        var bytes = bytes(file)
        for index in range { bytes[index] = 0 }
        try sandbox.write(bytes, to: file)
    }

    /// Nothing has the files open now.
    func repair() throws {
        for file in Self.files { try sandbox.write(bytes(file), to: file) }
        _ = unsafe unlink(sandbox.file("vault.db-shm"))
    }

    // MARK: Judging

    /// Says in some words what became of it.
    func judge(writes: Bool) async throws -> String {
        let store: SQLiteVaultStore
        do throws(StoreError) { store = try sandbox.open() } catch {
            try expectName(error)
            return "refused at opening"
        }
        defer { store.close() }
        var generations: [String: Int64] = [:]
        absent = 0
        for user in History.users {
            if let generation = try await read(user, store) { generations[user] = generation }
        }
        let isClean = try await isClean(store)
        if writes { try await write("bob", store) }
        let latest = history.states.last ?? [:]
        let isLatest = generations.allSatisfy { $0.value == latest[$0.key] }
        if generations.count == latest.count, isLatest, isClean { return "unaffected" }
        if !isClean, generations.count == latest.count { return "named by verify" }
        let served = "\(generations.count) of \(latest.count) users served"
        if !isClean, generations.count + absent == latest.count { return "named by verify alone, \(served)" }
        if !isClean { return "named by a read, \(served)" }
        guard generations.count == latest.count else { throw Wrong("verify is content with what a read refuses") }
        guard history.states.contains(generations) else { throw Wrong("a mixture of two states: \(generations)") }
        return "whole, as it was some commits ago"
    }

    /// The generation at which a user is; `nil` if that cannot be told any more.
    private func read(_ user: String, _ store: SQLiteVaultStore) async throws -> Int64? {
        do throws(StoreError) {
            let session = try await store.session(.user(user))
            let generation = session.position.generation
            let isSessionWhole = session.session.accessToken == Ledger.token("access", user, generation)
            let login = try await store.login(session.login)
            let isWhole =
                isSessionWhole && login.position.generation == generation
                && login.refresh?.refreshToken == Ledger.token("refresh", user, generation)
            guard isWhole, history.states.contains(where: { $0[user] == generation }) else {
                return try wrong("\(user) has tokens that are not of generation \(generation)")
            }
            return generation
        } catch {
            try expectName(error)
            if case .notFound = error.code { absent += 1 }
            return nil
        }
    }

    private func wrong(_ text: String) throws(StoreError) -> Int64? {
        throw StoreError(.closed, text)
    }

    private func isClean(_ store: SQLiteVaultStore) async throws -> Bool {
        do { return try await store.verify().isClean } catch let error as StoreError {
            try expectName(error)
            return false
        }
    }

    /// It may be refused, but not with the token of somebody else or half of it.
    private func write(_ user: String, _ store: SQLiteVaultStore) async throws {
        do {
            let login = try await store.session(.user(user)).login
            try await store.updateLogin(login) { $0.session.label = "still works" }
            let stored = try await store.login(login)
            let generation = stored.position.generation
            guard stored.refresh?.refreshToken == Ledger.token("refresh", user, generation) else {
                throw Wrong("after writing, \(user) has another refresh token")
            }
        } catch let error as StoreError {
            try expectName(error)
        }
    }

    /// An error must tell an operator what is the matter.
    private func expectName(_ error: StoreError) throws {
        switch error.code {
        case .busy, .full, .outOfMemory, .closed, .vaultMissing, .vaultExists, .vaultUnfinished, .unsafeFile:
            throw Wrong("\(error.code): \(error)")
        default:
            if error.message.isEmpty { throw Wrong("an error without a reason: \(error.code)") }
        }
    }
}
