import CProcess
import Glibc

/// Protects the memory of this process.
package enum ProcessHardening {
    /// The signals that the Swift runtime handles if its backtracer is available. Its handlers would print registers
    /// and nearby memory, offer a debugger on the terminal, and let the process continue.
    private static let crashSignals = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// Prevents core dumps and crash reports, and keeps other processes of the same user from tracing this one or
    /// reading its memory and environment.
    ///
    /// A failure is not an error: the process is then as exposed as any other.
    package static func apply() {
        _ = process_set_dumpable(0)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        for number in crashSignals { signal(number, SIG_DFL) }
    }
}
