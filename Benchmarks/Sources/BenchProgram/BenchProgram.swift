import Glibc

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
                stop(name, "\(error)", status: 1)
            }
        }
        while true { sleep(1_000) }
    }

    /// Says why to standard error, and ends the process; 64 is a wrong use.
    public static func stop(_ name: String, _ reason: String, status: Int32 = 64) -> Never {
        write("\(name): \(reason)\n", to: STDERR_FILENO)
        exit(status)
    }

    /// A line to standard output, by one call of the system, so that a kill never leaves half of one.
    public static func say(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    /// A number of `/proc/self/status` or `io`, such as `VmHWM`.
    public static func number(_ name: String, of file: String) -> Int {
        guard let stream = fopen("/proc/self/" + file, "r") else { return 0 }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), stream) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            guard text.hasPrefix(name + ":") else { continue }
            return text.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) } ?? 0
        }
        return 0
    }

    /// The id of a user, as the C programs know it.
    public static func user(_ number: Int) -> String {
        let digits = String(number)
        return "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}
