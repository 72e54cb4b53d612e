import Foundation
import TestSupport
import VaultSQLite
import VaultStorage

/// Somebody else who writes to the vault: another store of this process, or one of a process of its own.
///
/// Used by one task at a time. Its changes are noted in the ledger only when its store has acknowledged them.
protocol Neighbour: AnyObject, Sendable {
    /// Renews this user's tokens as often as told, or until the store refuses. Gives how often it was acknowledged.
    func renew(_ user: String, _ count: Int) async throws -> Int
    /// Inserts users of these numbers, or until the store refuses. Gives how many were acknowledged.
    func insert(_ numbers: Range<Int>) async throws -> Int
    /// Closes its store, which moves the WAL into the database, and opens it anew.
    func reopen() async throws
    func end() async
}

/// Another store of this process.
final class StoreNeighbour: Neighbour, @unchecked Sendable {
    private let sandbox: Sandbox
    private let ledger: Ledger
    private var store: SQLiteVaultStore

    init(_ sandbox: Sandbox, _ ledger: Ledger) throws {
        self.sandbox = sandbox
        self.ledger = ledger
        store = try sandbox.open()
    }

    func renew(_ user: String, _ count: Int) async -> Int {
        await repeated(0..<count) { work, _ in try await work.renew(user) }
    }

    func insert(_ numbers: Range<Int>) async -> Int {
        await repeated(numbers) { work, number in try await work.insert("user-\(number)") }
    }

    private func repeated(_ numbers: Range<Int>, _ body: (Work, Int) async throws -> Void) async -> Int {
        let work = Work(store: store, ledger: ledger)
        for (done, number) in numbers.enumerated() {
            do { try await body(work, number) } catch { return done }
        }
        return numbers.count
    }

    func reopen() throws {
        store.close()
        store = try sandbox.open()
    }

    func end() async { store.close() }
}

/// A store of another process, told line by line what to do.
final class ProcessNeighbour: Neighbour, @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let ledger: Ledger
    private var rest: [UInt8] = []

    struct Silence: Error {}

    init(_ sandbox: Sandbox, _ ledger: Ledger) throws {
        self.ledger = ledger
        process.executableURL = try BuiltProgram.current()
        process.arguments = ["neighbour", "directory=\(sandbox.directory)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func renew(_ user: String, _ count: Int) async throws -> Int { try perform("renew \(user) \(count)") }
    func insert(_ numbers: Range<Int>) async throws -> Int {
        try perform("insert \(numbers.lowerBound) \(numbers.upperBound)")
    }
    func reopen() async throws { _ = try perform("reopen") }
    func end() async {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Notes what it says to have done until it says that it is through. Gives how much that was.
    private func perform(_ command: String) throws -> Int {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        var count = 0
        while true {
            let words = try line().split(separator: " ")
            switch words.first {
            case "stored":
                guard words.count == 3, let generation = Int64(words[2]) else { throw Silence() }
                ledger.acknowledge(String(words[1]), generation)
                count += 1
            case "done": return count
            default: throw Silence()
            }
        }
    }

    private func line() throws -> String {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                defer { rest.removeFirst(end + 1) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Silence() }
            rest += data
        }
    }
}

extension ProcessNeighbour {
    /// The other end, in its process.
    static func serve(_ options: Options) async throws {
        guard let directory = options.text("directory") else { exit(64) }
        let sandbox = Sandbox(existing: directory)
        let ledger = Ledger()
        var store = try sandbox.open()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let work = Work(store: store, ledger: ledger)
            do {
                switch words.first {
                case "renew":
                    for _ in 0..<(Int(words[2]) ?? 0) {
                        try await work.renew(words[1])
                        say("stored \(words[1]) \(ledger.users[words[1]]?.acknowledged ?? 0)")
                    }
                case "insert":
                    for number in (Int(words[1]) ?? 0)..<(Int(words[2]) ?? 0) {
                        try await work.insert("user-\(number)")
                        say("stored user-\(number) 1")
                    }
                case "reopen":
                    store.close()
                    store = try sandbox.open()
                default: exit(64)
                }
            } catch {}
            say("done")
        }
        store.close()
    }
}
