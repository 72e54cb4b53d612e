import Foundation

/// What the programs of the benchmarks share.
public enum BenchProgram {
    /// Does the work, and ends the process.
    ///
    /// Detached, since the main thread sleeps meanwhile; and not `await` at top level: that parks the main thread in a way that
    /// valgrind 3.19 does not survive.
    public static func run(_ name: String, _ work: @escaping @Sendable () async throws -> Void) -> Never {
        Task.detached {
            do {
                try await work()
                exit(0)
            } catch {
                FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
                exit(1)
            }
        }
        while true { sleep(1_000) }
    }

    /// The id of a user, as the C programs know it.
    public static func user(_ number: Int) -> String {
        let digits = String(number)
        return "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}
