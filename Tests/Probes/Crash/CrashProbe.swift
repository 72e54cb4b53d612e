import Foundation

/// `crash-probe`: reads one job from each line of its input, `JOB name=value …`, and does it in a process of its own, on a
/// real vault and at a real server, until that ends, stops or dies. Tests let it.
///
/// Prints `+pid PID`, what the process says, `+stopped`, and at last `+exit STATUS` or `+signal NUMBER`. Processes are made by
/// fork, before this one has a second thread or has touched a vault: a start takes a millisecond.
@main
struct CrashProbe {
    static func main() {
        // Whoever started this may have kept signals from his threads.
        var none = sigset_t()
        unsafe _ = sigemptyset(&none)
        unsafe _ = sigprocmask(SIG_SETMASK, &none, nil)
        while let line = readLine() {
            var words = line.split(separator: " ").map(String.init)
            guard !words.isEmpty else { continue }
            let job = words.removeFirst()
            let child = fork()
            if child == 0 {
                // The parent might come to it only after the job has said something.
                say("+pid \(getpid())")
                perform(job, Options(words))
            }
            waitForEnd(of: child)
        }
    }

    private static func waitForEnd(of child: pid_t) {
        while true {
            var status: Int32 = 0
            guard unsafe waitpid(child, &status, WUNTRACED) == child else {
                if errno == EINTR { continue }
                return say("+lost")
            }
            let low = status & 0x7F
            if status & 0xFF == 0x7F {
                say("+stopped")
            } else if low == 0 {
                return say("+exit \((status >> 8) & 0xFF)")
            } else {
                return say("+signal \(low)")
            }
        }
    }

    private static func perform(_ job: String, _ options: Options) -> Never {
        // A run that hangs ends by a signal, which the test sees.
        alarm(UInt32(options.integer("seconds", or: 120)))
        Task.detached {
            do {
                try await Jobs.perform(job, options)
                _exit(0)
            } catch {
                say("error \(name(of: error))")
                _exit(3)
            }
        }
        while true { pause() }
    }
}

/// `name=value` arguments.
struct Options: Sendable {
    struct Missing: Error { let name: String }

    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
    }

    func text(_ name: String) -> String? { values[name] }
    func required(_ name: String) throws -> String {
        guard let value = values[name] else { throw Missing(name: name) }
        return value
    }
    func integer(_ name: String, or fallback: Int) -> Int { values[name].flatMap { Int($0) } ?? fallback }
}

/// One write call for each line, so that a kill never leaves half of one.
func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}
